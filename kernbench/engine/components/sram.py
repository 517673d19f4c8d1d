"""A cube's shared SRAM: a memory as fast as its link, with an access overhead once a transaction."""

from __future__ import annotations

from kernbench.engine.components.memory import Memory
from kernbench.engine.core.node import COMMITS
from kernbench.engine.core.server import Server
from kernbench.engine.core.transaction import Packet

_COMMITS = COMMITS


class Sram(Memory):
    """``overhead_ns`` once a transaction; bandwidth is that of the link to its router."""

    def served(self, packet: Packet, flit: int, time: float, writing: bool) -> float:
        """See :meth:`Memory.served`."""
        if self.hooks & _COMMITS:
            return Memory.served(self, packet, flit, time, writing)
        self.by = self
        return time

    def commit(self, packet: Packet, flit: int, time: float) -> tuple[float, Server]:
        """See :meth:`Memory.commit`."""
        return time, self

    def fetch(self, packet: Packet, flit: int, time: float) -> tuple[float, Server]:
        """See :meth:`Memory.fetch`."""
        return time, self
