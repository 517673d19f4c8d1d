"""Submits the host's requests to the machine, and remembers which are unanswered.

The driver is the only part of the runtime that talks to the machine. It knows no route: the machine
fans out what it is given.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from kernbench.engine.program.operations import Op, Operand, Order, Region
from kernbench.errors import KernBenchError
from kernbench.host.messages import MapEntry, ShardRef, check_tags
from kernbench.host.placement import TensorShard
from kernbench.support.user_code import line_of

if TYPE_CHECKING:
    from kernbench.engine.machine.machine import Machine
    from kernbench.engine.program.commands import BoundKernel
    from kernbench.engine.program.launches import Request
    from kernbench.engine.program.queues import RingEntry
    from kernbench.host.scheduler import Scheduler

Array = np.ndarray[Any, Any]
Place = tuple[int, int, int]


def shard_ref(shard: TensorShard) -> ShardRef:
    """The tagged reference to an allocated shard."""
    assert shard.pa is not None
    return ShardRef(shard.sip, shard.cube, shard.pe, shard.pa, shard.nbytes, shard.offset_bytes)


class Driver:
    """Submits requests of one run, for the program that is running; each waits for its own.

    ``on_wait`` is called whenever a program has waited.
    """

    def __init__(
        self,
        machine: Machine,
        scheduler: Scheduler,
        correlation_id: str,
        on_wait: Callable[[], None] | None = None,
    ) -> None:
        self.machine = machine
        self.scheduler = scheduler
        self.submitted = 0
        """Requests submitted so far."""
        self._correlation_id = correlation_id
        self._on_wait = on_wait

    @property
    def now(self) -> float:
        """Simulated time, ns."""
        return float(self.machine.clock.now)

    @property
    def _ids(self) -> tuple[str, str]:
        """Correlation id and request id of the next request."""
        return self._correlation_id, f"r{self.submitted}"

    def write(self, shard: TensorShard, block: Array, dtype: str, order: Order | None = None) -> Request:
        """Write ``block`` (the shard's local shape) to the shard's memory.

        ``order`` is the write's among the accesses of kernels that are under way, None where there are none.
        """
        target = shard_ref(shard)
        self._check([target], "memory write")
        region = Region(target.pa, target.nbytes)
        op = Op(
            self.machine.next_op_id(),
            "memory",
            "host_write",
            output=Operand(shard.shape, dtype, regions=(region,)),
            params={"data": block},
            nbytes=region.nbytes,
        )
        if order is not None:
            op.order, op.source = order, line_of(sys._getframe())
        return self._sent(self.machine.host_write(target.sip, [region], op, ids=self._ids))

    def deploy(self, name: str, code: ShardRef) -> Request:
        """Write the code of kernel ``name`` to device memory."""
        self._check([code], f"code of kernel '{name}'")
        return self._sent(self.machine.host_write(code.sip, [Region(code.pa, code.nbytes)], ids=self._ids))

    def read(self, sources: Sequence[ShardRef]) -> Request:
        """Move the bytes of ``sources``, all of one SIP, to the host."""
        self._check(sources, "memory read")
        regions = [Region(source.pa, source.nbytes) for source in sources]
        return self._sent(self.machine.host_read(sources[0].sip, regions, ids=self._ids))

    def map(self, sip: int, pes: Sequence[tuple[int, int]], entries: Sequence[MapEntry]) -> Request:
        """Install ``entries`` in the MMUs (BAAWs) of ``pes``, each ``(cube, pe)``, of one SIP."""
        return self._sent(self.machine.map(sip, pes, entries, ids=self._ids))

    def unmap(self, sip: int, pes: Sequence[tuple[int, int]], va: int, nbytes: int) -> Request:
        """Remove what is mapped in the ``nbytes`` from virtual address ``va``."""
        entries = [(va, 0, nbytes)]
        return self._sent(self.machine.map(sip, pes, entries, install=False, ids=self._ids))

    def set_up_queues(
        self, sip: int, rings: Mapping[tuple[int, int], tuple[RingEntry, ...]], *, install: bool
    ) -> Request:
        """Install directions of queues in PEs (cube, pe) of one SIP, or remove them."""
        return self._sent(self.machine.set_up_queues(sip, rings, install=install, ids=self._ids))

    def launch(
        self, call: BoundKernel, targets: Sequence[Place], code: Sequence[ShardRef], *, fail_fast: bool
    ) -> Request:
        """Start ``call`` on the PEs ``targets``; ``code`` is where a deployed kernel lies."""
        self._check(code, "the kernel's code")
        return self._sent(self.machine.launch(call, targets, fail_fast=fail_fast, ids=self._ids))

    def follow(self, led: Request, sip: int) -> Request:
        """A launch on package ``sip`` that is over when ``led`` is: see :meth:`Machine.follow`."""
        return self._sent(self.machine.follow(led, sip, ids=self._ids))

    def wait(self, requests: Sequence[Request]) -> None:
        """Let time run until all of ``requests`` are answered; the first error is raised."""
        program = self.scheduler.current
        failed = True
        program.awaits = requests
        try:
            for request in requests:
                self.scheduler.wait(request)
                if request.error is not None:
                    raise request.error
        except KernBenchError as error:
            first = program.failure()
            if first is None or first is error:
                raise
            raise first from error  # an earlier launch has failed, and this may be what came of it
        else:
            failed = False
            if not self.scheduler.alive:
                self.machine.check_at_rest()
        finally:
            program.awaits = ()
            # Where an error is raised, it is that of all that are over; else a later wait raises theirs.
            program.open = [r for r in program.open if not r.done or (not failed and r.error is not None)]
            if self._on_wait is not None:
                self._on_wait()

    def wait_all(self) -> None:
        """Wait for every request of the current program that is unanswered, in the order of submission."""
        self.wait(list(self.scheduler.current.open))

    def _check(self, shards: Sequence[ShardRef], what: str) -> None:
        check_tags(shards, self.machine.addresses, f"{what} of request {self._ids[1]}")

    def _sent(self, request: Request) -> Request:
        self.submitted += 1
        self.scheduler.asking.open.append(request)
        return request
