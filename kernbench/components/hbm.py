"""An HBM slice: pseudo-channels as FIFO servers behind one controller (hardware.md; ADR-0034)."""

from __future__ import annotations

from math import fsum

from kernbench.components.memory import Memory
from kernbench.components.system import System
from kernbench.pgraph import Node
from kernbench.sim.server import Server
from kernbench.sim.transaction import Packet
from kernbench.topology import names


class Channel(Server):
    """One pseudo-channel: a part of its slice, in the graph as ``node``, with its use counted by itself."""

    def __init__(self, node: Node) -> None:
        super().__init__(node.id)
        self.node = node
        self.writing: bool | None = None
        """Direction of its last burst; None before the first."""


class HbmSlice(Memory):
    """One slice. A flit's address picks the channel: ``(addr >> log2 burst) & (n_channels - 1)``.

    A request of one channel (mapping ``one_to_one``) names it.

    A channel serves a burst in ``burst_bytes / channel_gbs`` ns, whole even where the flit is shorter;
    a change between reading and writing costs ``switch_penalty_ns`` first. The slice is as busy as its
    channels are on average or, where that is more, as its entry with its overhead.
    """

    def __init__(self, node: Node, system: System) -> None:
        super().__init__(node, system)
        sip, cube, _ = self.location
        self.channels = [
            Channel(system.graph.node(names.pseudo_channel(sip, cube, self.integer("slice"), number)))
            for number in range(self.integer("n_channels"))
        ]
        self._shift = self.integer("burst_bytes").bit_length() - 1
        self._mask = len(self.channels) - 1
        self._flit_bytes = system.flit_bytes
        self._burst_ns = self.integer("burst_bytes") / self.number("channel_gbs")
        self._penalty_ns = self.number("switch_penalty_ns")
        self._entry_busy_ns = 0.0

    def wired(self) -> None:
        """Put the channels into the machine's table of resources."""
        for channel in self.channels:
            self.system.register(channel)

    def commit(self, packet: Packet, flit: int, time: float) -> tuple[float, Server]:
        """See :meth:`Memory.commit`."""
        return self._burst(packet, flit, time, True)

    def fetch(self, packet: Packet, flit: int, time: float) -> tuple[float, Server]:
        """See :meth:`Memory.fetch`."""
        return self._burst(packet, flit, time, False)

    def _burst(self, packet: Packet, flit: int, time: float, writing: bool) -> tuple[float, Server]:
        transaction = packet.transaction
        index, step, last = transaction.channel, 1, packet.last
        if index < 0:
            address = transaction.address + flit * self._flit_bytes
            index, step = (address >> self._shift) & self._mask, len(self.channels)
        channel = self.channels[index]
        duration = self._burst_ns
        if channel.writing is not writing:
            if channel.writing is not None:
                duration += self._penalty_ns
            channel.writing = writing
        done = channel.occupy(time, duration, transaction) + duration
        channel.busy_ns += duration
        channel.bytes += self._flit_bytes if flit != last else packet.last_bytes
        if flit < step:
            channel.arrive(time)
        if flit + step > last:
            channel.leave(done, 0, 0.0, 0.0)
        return done, channel

    def leave(self, time: float, nbytes: int, busy_ns: float, wait_ns: float) -> None:
        """See :meth:`Server.leave`; ``busy_ns`` is that of the entry."""
        super().leave(time, nbytes, 0.0, wait_ns)
        self._entry_busy_ns += busy_ns
        channels = fsum(channel.busy_ns for channel in self.channels)
        self.busy_ns = max(self._entry_busy_ns, channels / len(self.channels))
