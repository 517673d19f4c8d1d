"""Submits the host's messages to the machine, and remembers which are unanswered.

The driver is the only part of the runtime that talks to the machine. It knows no route: the machine
fans out what it is given (ADR-0007).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from kernbench.errors import KernBenchError, LaunchError
from kernbench.program.operations import Op, Operand, Region
from kernbench.runtime.messages import (
    Completion,
    Envelope,
    KernelLaunch,
    MapRequest,
    MemoryRead,
    MemoryWrite,
    Pattern,
    Response,
    ShardRef,
    check_tags,
)
from kernbench.runtime.placement import TensorShard

if TYPE_CHECKING:
    from kernbench.machine.machine import Machine
    from kernbench.program.commands import BoundKernel
    from kernbench.program.launches import Request
    from kernbench.program.queues import RingEntry
    from kernbench.runtime.scheduler import Scheduler

Array = np.ndarray[Any, Any]


def shard_ref(shard: TensorShard) -> ShardRef:
    """The tagged reference to an allocated shard."""
    assert shard.pa is not None
    return ShardRef(shard.sip, shard.cube, shard.pe, shard.pa, shard.nbytes, shard.offset_bytes)


def response(request: Request) -> Response | None:
    """The answer to a request, None while there is none."""
    if not request.done:
        return None
    error = request.error
    if error is None:
        return Response(*request.ids, Completion(ok=True))
    code = "LAUNCH_FAILED" if isinstance(error, LaunchError) else "FAILED"
    return Response(*request.ids, Completion(False, code, str(error)))


def _ids(envelope: Envelope) -> tuple[str, str]:
    return envelope.correlation_id, envelope.request_id


class Driver:
    """Submits messages of one run, for the program that is running; each waits for its own.

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

    def envelope(self, device: str) -> Envelope:
        """The envelope of the next request."""
        return Envelope(self._correlation_id, f"r{self.submitted}", device)

    def write(self, shard: TensorShard, block: Array, dtype: str) -> Request:
        """Write ``block`` (the shard's local shape) to the shard's memory."""
        message = MemoryWrite(self.envelope(f"sip:{shard.sip}"), shard_ref(shard))
        self._check([message.target], "memory write", message.envelope)
        region = Region(message.target.pa, message.target.nbytes)
        op = Op(
            self.machine.next_op_id(),
            "memory",
            "host_write",
            output=Operand(shard.shape, dtype, regions=(region,)),
            params={"data": block},
            nbytes=region.nbytes,
        )
        ids = _ids(message.envelope)
        return self._sent(self.machine.host_write(message.target.sip, [region], op, ids=ids))

    def deploy(self, name: str, code: ShardRef) -> Request:
        """Write the code of kernel ``name`` to device memory."""
        pattern = Pattern("zero")
        message = MemoryWrite(
            self.envelope(f"sip:{code.sip}"), code, "pattern", pattern, debug_label=f"code of '{name}'"
        )
        self._check([message.target], f"code of kernel '{name}'", message.envelope)
        ids = _ids(message.envelope)
        return self._sent(self.machine.host_write(code.sip, [Region(code.pa, code.nbytes)], ids=ids))

    def read(self, sources: Sequence[ShardRef]) -> Request:
        """Move the bytes of ``sources``, all of one SIP, to the host."""
        message = MemoryRead(self.envelope(f"sip:{sources[0].sip}"), tuple(sources))
        self._check(message.sources, "memory read", message.envelope)
        regions = [Region(source.pa, source.nbytes) for source in message.sources]
        ids = _ids(message.envelope)
        return self._sent(self.machine.host_read(message.sources[0].sip, regions, ids=ids))

    def map(self, message: MapRequest) -> Request:
        """Install or remove the entries of ``message``."""
        if message.install:
            entries = [(e.va, e.pa, e.nbytes) for e in message.entries]
            return self._sent(self.machine.map(message.sip, message.pes, entries, ids=_ids(message.envelope)))
        ranges = [(e.va, e.nbytes) for e in message.entries]
        return self._sent(self.machine.unmap(message.sip, message.pes, ranges, ids=_ids(message.envelope)))

    def set_up_queues(
        self, sip: int, rings: Mapping[tuple[int, int], tuple[RingEntry, ...]], *, install: bool
    ) -> Request:
        """Install directions of queues in PEs (cube, pe) of one SIP, or remove them."""
        ids = _ids(self.envelope(f"sip:{sip}"))
        return self._sent(self.machine.set_up_queues(sip, rings, install=install, ids=ids))

    def launch(self, message: KernelLaunch, call: BoundKernel) -> Request:
        """Start ``call`` on the PEs that ``message`` names by its shards."""
        for tensor in message.tensors:
            self._check(tensor.shards, f"argument '{tensor.name}'", message.envelope)
        self._check(message.kernel.deployments, "the kernel's code", message.envelope)
        return self._sent(
            self.machine.launch(
                call,
                message.targets,
                fail_fast=message.failure_policy == "fail_fast",
                ids=_ids(message.envelope),
            )
        )

    def wait(self, requests: Sequence[Request]) -> None:
        """Let time run until all of ``requests`` are answered; the first error is raised."""
        program = self.scheduler.current
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
            if not self.scheduler.alive:
                self.machine.check_at_rest()
        finally:
            # One that has failed is over as well: its error is raised here and not once more later.
            program.open = [r for r in program.open if not r.done]
            if self._on_wait is not None:
                self._on_wait()

    def wait_all(self) -> None:
        """Wait for every request of the current program that is unanswered, in the order of submission."""
        self.wait(list(self.scheduler.current.open))

    def _check(self, shards: Sequence[ShardRef], what: str, envelope: Envelope) -> None:
        check_tags(shards, self.machine.addresses, f"{what} of request {envelope.request_id}")

    def _sent(self, request: Request) -> Request:
        self.submitted += 1
        self.scheduler.current.open.append(request)
        return request
