"""The interface of the fabric, and the key that identifies a flit on the event queue.

:class:`Fabric` is the interface. :class:`~kernbench.sim.flit_fabric.FlitFabric` stands behind it. An engine
that moves a packet's flits as one train can stand beside that; flit order at equal times (see ``clock``) is
defined without reference to an implementation, so that the two can be compared bit for bit.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from kernbench.sim.transaction import FLIT_BITS, HOP_BITS, Packet

HOP = 1 << FLIT_BITS
"""In a flit's key on the event queue, one hop of its path; above are transactions, below flit numbers."""
HOP_MASK = (1 << HOP_BITS) - 1
FLIT_MASK = HOP - 1


class Fabric(Protocol):
    """Carries packets over links. Packets start at their path's first node."""

    @property
    def flit_bytes(self) -> int:
        """Bytes of a flit."""

    @property
    def flit_crossings(self) -> int:
        """How many flits have been put onto a link so far."""

    def send(self, packet: Packet) -> None:
        """Put the whole packet onto its first link now."""

    def send_together(self, packets: Sequence[Packet]) -> None:
        """Put packets onto their first link now, flit by flit in turn: one of each, then the next of each."""

    def stream(self, packet: Packet, times: Sequence[float]) -> None:
        """Put flit ``i`` onto the first link at ``times[i]`` (never falling, not before now)."""
