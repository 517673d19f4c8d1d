"""An HBM slice: pseudo-channels as FIFO servers behind one controller (hardware.md; ADR-0034)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kernbench.components.memory import Memory
from kernbench.pgraph import Node
from kernbench.sim.server import Server
from kernbench.sim.transaction import Packet

if TYPE_CHECKING:
    from kernbench.components.machine import Machine


class HbmSlice(Memory):
    """One slice. A flit's address picks the channel: ``(addr >> log2 burst) & (n_channels - 1)``.

    A request of one channel (mapping ``one_to_one``) names it.

    A channel serves a burst in ``burst_bytes / channel_gbs`` ns, whole even where the flit is shorter;
    a change between reading and writing costs ``switch_penalty_ns`` first.
    """

    def __init__(self, node: Node, machine: Machine) -> None:
        super().__init__(node, machine)
        self.channels = [Server(f"{node.id}#{i}") for i in range(self.integer("n_channels"))]
        self._writing: list[bool | None] = [None] * len(self.channels)
        self._burst_bytes = self.integer("burst_bytes")
        self._shift = self._burst_bytes.bit_length() - 1
        self._mask = len(self.channels) - 1
        self._burst_ns = self._burst_bytes / self.number("channel_gbs")
        self._penalty_ns = self.number("switch_penalty_ns")
        self._busy_share = self._burst_ns / len(self.channels)

    def commit(self, packet: Packet, flit: int, time: float) -> tuple[float, Server]:
        """See :meth:`Memory.commit`."""
        return self._burst(packet, flit, time, True)

    def fetch(self, packet: Packet, flit: int, time: float) -> tuple[float, Server]:
        """See :meth:`Memory.fetch`."""
        return self._burst(packet, flit, time, False)

    def _burst(self, packet: Packet, flit: int, time: float, writing: bool) -> tuple[float, Server]:
        transaction = packet.transaction
        index = transaction.channel
        if index < 0:
            address = transaction.address + flit * self.machine.fabric.flit_bytes
            index = (address >> self._shift) & self._mask
        channel = self.channels[index]
        duration = self._burst_ns
        if self._writing[index] is not writing:
            if self._writing[index] is not None:
                duration += self._penalty_ns
            self._writing[index] = writing
        self.busy_ns += self._busy_share
        return channel.occupy(time, duration, transaction) + duration, channel
