"""Hands the host's messages to the machine, and remembers which are unanswered.

The driver is the only part of the runtime that talks to the machine. It knows no route: the machine
fans out what it is given (ADR-0007).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from kernbench.runtime.messages import Envelope, KernelLaunch, MapRequest, MemoryRead, MemoryWrite, ShardRef
from kernbench.runtime.placement import TensorShard
from kernbench.sim.ops import Op, Operand, Region

if TYPE_CHECKING:
    from kernbench.components.machine import Machine
    from kernbench.components.request import Request
    from kernbench.pe.commands import KernelCall

Array = np.ndarray[Any, Any]


def shard_ref(shard: TensorShard) -> ShardRef:
    """The tagged reference to an allocated shard."""
    assert shard.pa is not None
    return ShardRef(shard.sip, shard.cube, shard.pe, shard.pa, shard.nbytes, shard.offset_bytes)


class Driver:
    """Submits messages of one run. ``on_wait`` is called whenever the host has waited."""

    def __init__(
        self, machine: Machine, correlation_id: str, on_wait: Callable[[], None] | None = None
    ) -> None:
        self.machine = machine
        self.submitted = 0
        """Requests submitted so far."""
        self._correlation_id = correlation_id
        self._on_wait = on_wait
        self._open: list[Request] = []

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
        region = Region(message.target.pa, message.target.nbytes)
        op = Op(
            self.machine.next_op_id(),
            "memory",
            "host_write",
            output=Operand(shard.shape, dtype, regions=(region,)),
            params={"data": block},
            nbytes=region.nbytes,
        )
        return self._sent(self.machine.host_write(message.target.sip, [region], op))

    def read(self, sources: Sequence[ShardRef]) -> Request:
        """Move the bytes of ``sources``, all of one SIP, to the host."""
        message = MemoryRead(self.envelope(f"sip:{sources[0].sip}"), tuple(sources))
        regions = [Region(source.pa, source.nbytes) for source in message.sources]
        return self._sent(self.machine.host_read(message.sources[0].sip, regions))

    def map(self, message: MapRequest) -> Request:
        """Install or remove the entries of ``message``."""
        if message.install:
            entries = [(e.va, e.pa, e.nbytes) for e in message.entries]
            return self._sent(self.machine.map(message.sip, message.pes, entries))
        ranges = [(e.va, e.nbytes) for e in message.entries]
        return self._sent(self.machine.unmap(message.sip, message.pes, ranges))

    def launch(self, message: KernelLaunch, call: KernelCall) -> Request:
        """Start ``call`` on the PEs that ``message`` names by its shards."""
        return self._sent(self.machine.launch(call, message.targets))

    def wait(self, requests: Sequence[Request]) -> None:
        """Let time run until all of ``requests`` are answered; the first error is raised."""
        try:
            self.machine.wait(*requests)
        finally:
            # One that has failed is over as well: its error is raised here and not once more later.
            self._open = [r for r in self._open if not r.done]
            if self._on_wait is not None:
                self._on_wait()

    def wait_all(self) -> None:
        """Wait for every request that is unanswered, in the order of submission."""
        self.wait(list(self._open))

    def _sent(self, request: Request) -> Request:
        self.submitted += 1
        self._open.append(request)
        return request
