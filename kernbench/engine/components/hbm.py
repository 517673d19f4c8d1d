"""An HBM slice: pseudo-channels as FIFO servers behind one controller."""

from __future__ import annotations

from collections.abc import Iterator
from math import fsum
from typing import Any

from kernbench.engine.components.memory import Memory
from kernbench.engine.components.system import System
from kernbench.engine.core.columns import Doubles
from kernbench.engine.core.node import COMMITS
from kernbench.engine.core.server import Server
from kernbench.engine.core.transaction import Packet, Transaction
from kernbench.hardware.address.runs import Gathered, Runs, bursts_of
from kernbench.support.pgraph import Node

_COMMITS = COMMITS


class HbmSlice(Memory):
    """One slice. A flit's address picks the channel: ``(addr >> log2 burst) & (n_channels - 1)``.

    A request of one channel (mapping ``one_to_one``) names it.

    A channel serves a burst in ``burst_bytes / channel_gbs`` ns, whole even where the flit is shorter;
    a change between reading and writing costs ``switch_penalty_ns`` first. The slice is as busy as its
    channels are on average or, where that is more, as its entry with its overhead.
    """

    def __init__(self, node: Node, system: System) -> None:
        super().__init__(node, system)
        self.channels: list[Any] = []
        """Its pseudo-channels: parts in the graph, each with its own use."""
        for edge in system.graph.out_edges(node.id, "CONTAINS"):
            part = system.graph.node(edge.target)
            if part.properties["kind"] == "pseudo_channel":
                channel = Server(part.id)
                channel.node = part
                self.channels.append(channel)
        self.shift = self.integer("burst_bytes").bit_length() - 1
        self.mask = len(self.channels) - 1
        self.flit_bytes = system.flit_bytes
        self.period = len(self.channels) << self.shift
        """Period of the mapping of addresses to channels, bytes."""
        self.burst_ns = self.integer("burst_bytes") / self.number("channel_gbs")
        """Time that a channel takes for a burst, ns."""
        self.penalty_ns = self.number("switch_penalty_ns")
        """Time to change between reading and writing, ns."""
        HbmSlice.reset(self)

    def reset(self) -> None:
        """See :meth:`Server.reset`; the channels are resources of the machine themselves."""
        Memory.reset(self)
        self.entry_busy_ns = 0.0
        self.channels_busy = Doubles().sized(len(self.channels))
        self.directions = Doubles().sized(len(self.channels))
        """Direction of each channel's last burst: 1 write, -1 read, 0 before the first."""
        self.stale = False

    def wired(self) -> None:
        """Put the channels into the machine's table of resources."""
        for channel in self.channels:
            self.system.register(channel)

    def servers(self) -> Iterator[Server]:
        """See :meth:`Component.servers`."""
        yield from self.channels
        yield from Memory.servers(self)

    @property
    def busy_ns(self) -> float:
        """See :meth:`Server.busy_ns`; worked out when asked for, as of the last transaction that left."""
        if self.stale:
            self.stale = False
            channels = fsum(self.channels_busy) / (self.mask + 1)
            self._busy_ns = max(self.entry_busy_ns, channels)
        return self._busy_ns

    def commit(self, packet: Packet, flit: int, time: float) -> tuple[float, Server]:
        """See :meth:`Memory.commit`."""
        return self.burst(packet, flit, time, True), self.by

    def fetch(self, packet: Packet, flit: int, time: float) -> tuple[float, Server]:
        """See :meth:`Memory.fetch`."""
        return self.burst(packet, flit, time, False), self.by

    def served(self, packet: Packet, flit: int, time: float, writing: bool) -> float:
        """See :meth:`Memory.served`."""
        if self.hooks & _COMMITS:
            return Memory.served(self, packet, flit, time, writing)
        return self.burst(packet, flit, time, writing)

    def gather(self, runs: Runs, channel: int) -> Gathered:
        """See :meth:`Memory.gather`; its places are channels."""
        mask = 0 if channel >= 0 else self.mask
        bursts = bursts_of(runs.form, runs.at % self.period, self.shift, self.flit_bytes, mask)
        places = [channel] * len(bursts.sizes) if channel >= 0 else (bursts.places & mask).tolist()
        return Gathered(runs, places, bursts)

    def channel_at(self, address: int) -> int:
        """Number of the channel that has the burst at an address."""
        return (address >> self.shift) & self.mask

    def burst(self, packet: Packet, flit: int, time: float, writing: bool) -> float:
        """When the channel of a flit has served it; sets ``by`` to that channel."""
        transaction = packet.transaction
        if transaction.gathered is not None:
            return self.bursts(packet, flit, time, writing)
        index = transaction.channel
        step = 1
        if index < 0:
            index = self.channel_at(transaction.address + flit * self.flit_bytes)
            step = self.mask + 1
        elif index > self.mask:
            raise IndexError(f"'{self.resource}' has no channel {index}")
        channel: Server = self.channels[index]
        done = self.serve(index, transaction, time, writing)
        channel.bytes += self.flit_bytes if flit != packet.last else packet.last_bytes
        if flit < step:
            channel.arrive(time)
        if flit + step > packet.last:
            channel.leave(done, 0, 0.0, 0.0)
        self.by = channel
        return done

    def bursts(self, packet: Packet, flit: int, time: float, writing: bool) -> float:
        """Like :meth:`burst` for a flit of many runs: when the last of its bursts is served."""
        transaction = packet.transaction
        gathered: Gathered = transaction.gathered
        places, ends = gathered.places, gathered.ends
        last = time
        for number in range(ends[flit - 1] if flit else 0, ends[flit]):
            index: int = places[number]
            channel: Server = self.channels[index]
            done = self.serve(index, transaction, time, writing)
            channel.bytes += gathered.sizes[number]
            if gathered.opens[number]:
                channel.arrive(time)
            if gathered.closes[number]:
                channel.leave(done, 0, 0.0, 0.0)
            if done > last:
                last = done
                self.by = channel
        return last

    def serve(self, index: int, transaction: Transaction, time: float, writing: bool) -> float:
        """When channel ``index`` has served a burst that arrives there at ``time``."""
        channel: Server = self.channels[index]
        duration = self.burst_ns
        direction = 1.0 if writing else -1.0
        before = self.directions.at[index]
        if before != direction:
            if before != 0.0:
                duration += self.penalty_ns
            self.directions.at[index] = direction
        done = channel.occupy(time, duration, transaction) + duration
        channel._busy_ns += duration
        return done

    def dealt_runs(self, runs: Runs, channel: int) -> dict[int, int]:
        """Like :meth:`dealt`, for many runs."""
        gathered = self.gather(runs, channel)
        found: dict[int, int] = {}
        for place, size in zip(gathered.places, gathered.sizes, strict=True):
            found[place] = found.get(place, 0) + size
        return found

    def dealt(self, address: int, nbytes: int, channel: int) -> dict[int, int]:
        """Bytes of a transaction at each channel that it uses, by number: see :meth:`burst`."""
        if channel >= 0:
            return {channel: nbytes}
        found: dict[int, int] = {}
        for at in range(0, max(nbytes, 1), self.flit_bytes):
            index = self.channel_at(address + at)
            found[index] = found.get(index, 0) + min(self.flit_bytes, nbytes - at)
        return found

    def tally(self) -> list[Any]:
        """See :meth:`Server.tally`; the channels have theirs."""
        return [*Memory.tally(self), self.entry_busy_ns]

    def grow(self, like: Server, before: list[Any]) -> None:
        """See :meth:`Server.grow`; the channels have grown."""
        Memory.grow(self, like, before)
        one: HbmSlice = like  # type: ignore[assignment]
        self._count_entry(one.entry_busy_ns - before[7])

    def leave(self, time: float, nbytes: int, busy_ns: float, wait_ns: float) -> None:
        """See :meth:`Server.leave`; ``busy_ns`` is that of the entry."""
        Memory.leave(self, time, nbytes, 0.0, wait_ns)
        self._count_entry(busy_ns)

    def _count_entry(self, busy_ns: float) -> None:
        """Count use of the entry, and take what the channels have counted."""
        self.entry_busy_ns += busy_ns
        for i in range(self.mask + 1):
            channel = self.channels[i]
            self.channels_busy.at[i] = channel._busy_ns
        self.stale = True
