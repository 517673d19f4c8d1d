"""An HBM slice behind a cache: what was read or written lately is served without its channels.

The cache keeps lines of a few KiB; of a set, the least recently used is evicted first. A line holds the
bursts that were fetched or written, so nothing is read that was not asked for. A burst that is being
fetched is not fetched again: a later access to it waits for that fetch. With ``coalesce``, reads of a burst
that arrive before an earlier read of it has been served are served by that one.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

from kernbench.engine.components.hbm import HbmSlice
from kernbench.engine.components.memory import Memory
from kernbench.engine.components.system import System
from kernbench.engine.core.columns import Doubles, Words
from kernbench.engine.core.server import Server
from kernbench.engine.core.transaction import Packet, Transaction
from kernbench.hardware.address.runs import Gathered, Runs, bursts_of
from kernbench.support.pgraph import Node

_INFINITY = float("inf")


class SharedRead:
    """A read of a burst at the cache, which later reads of that burst may share until it is served."""

    def __init__(self, transaction: int, nbytes: int, done: float, until: float, by: Any) -> None:
        self.transaction = transaction
        """Number of the transaction that reads."""
        self.nbytes = nbytes
        self.done = done
        """When it is served, ns."""
        self.until = until
        self.by = by
        """The cache or the channel that it waits for, and until when, ns."""
        self.reads = 1
        """How many reads it serves."""


class CacheLine:
    """What the cache holds of ``bursts`` consecutive bursts of memory."""

    def __init__(self, number: int, bursts: int, again: bool) -> None:
        self.number = number
        self.fetched = [_INFINITY] * bursts
        """When the channel has served each burst, ns; 0 if it was written, infinite if it is not here."""
        self.dirty = [False] * bursts
        """Which bursts are newer than memory."""
        self.turns: dict[int, SharedRead] = {}
        """The last read of each burst since it was written; none without ``coalesce``."""
        self.again = again
        """Whether the line had been cached before and was evicted."""
        self.room_ns = 0.0
        """When the line that it replaces has been written back, ns."""
        self.room_by: Any = None
        """The channel that writes the last burst of that line."""


class CacheUse:
    """Counts of one transaction, or of all: bursts by how they were found, and evicted lines."""

    def __init__(self) -> None:
        self.hits = 0
        """Bursts read that were in the cache."""
        self.misses = 0
        """Bursts read that were fetched from memory."""
        self.again = 0
        """Those of ``misses`` whose lines had been evicted before."""
        self.merged = 0
        """Bursts read that were being fetched already."""
        self.coalesced = 0
        """Those of ``hits`` and ``merged`` that shared the turn of an earlier read."""
        self.coalesced_bytes = 0
        """Bytes of these."""
        self.writes = 0
        """Bursts written."""
        self.dirtied = 0
        """Bursts that writes made newer than memory."""
        self.evictions = 0
        """Lines evicted."""
        self.written_back = 0
        """Bursts that were written to memory."""

    def add(self, more: CacheUse) -> None:
        """Add the counts of ``more``."""
        self.hits += more.hits
        self.misses += more.misses
        self.again += more.again
        self.merged += more.merged
        self.coalesced += more.coalesced
        self.coalesced_bytes += more.coalesced_bytes
        self.writes += more.writes
        self.dirtied += more.dirtied
        self.evictions += more.evictions
        self.written_back += more.written_back

    def columns(self, burst_bytes: int) -> tuple[int, ...]:
        """The integer columns of a row of ``CacheUse``, behind transaction and resource."""
        counts = self.hits, self.misses, self.again, self.merged, self.writes, self.evictions
        moved = self.misses * burst_bytes, self.written_back * burst_bytes
        return *counts, *moved, self.coalesced, self.coalesced_bytes


class CachedSlice(HbmSlice):
    """One slice. What passes occupies the cache's port for ``bytes / cache_gbs`` ns, then takes ``hit_ns``;
    what is written for ``bytes / cache_write_gbs``.

    A missing burst is fetched by its channel, which takes ``access_ns`` more; both begin when the access
    arrives. Written data go to memory when their line is evicted or, without ``write_back``, at once.
    """

    outcomes_for = "CacheUse"
    """The table that has its ``outcomes``."""

    def __init__(self, node: Node, system: System) -> None:
        super().__init__(node, system)
        part = next(
            one
            for edge in system.graph.out_edges(node.id, "CONTAINS")
            if (one := system.graph.node(edge.target)).properties["kind"] == "memory_cache"
        )
        self.cache = Server(part.id)
        """Its port: a part of the slice that is in the graph, behind the channels in their list."""
        self.cache.node = part
        self.channels.append(self.cache)
        self.gbs = float(part.properties["gbs"])
        self.write_gbs = float(part.properties["write_gbs"])
        self.coalesce = int(part.properties["coalesce"])
        """Most reads of a burst that share a turn at the port."""
        self.write_back = bool(part.properties["write_back"])
        self.array_ns = self.access_ns
        """Time from the channels to the cache, ns."""
        self.access_ns = float(part.properties["hit_ns"])
        line = int(part.properties["line_bytes"])
        self.burst_bytes = 1 << self.shift
        self.line_bursts = line >> self.shift
        self.line_shift = self.line_bursts.bit_length() - 1
        lines = int(part.properties["capacity_bytes"]) // line
        self.ways = int(part.properties["ways"]) or lines
        self.n_sets = lines // self.ways
        CachedSlice.reset(self)

    def reset(self) -> None:
        """See :meth:`Server.reset`; a run begins with an empty cache."""
        HbmSlice.reset(self)
        self.sets: dict[int, OrderedDict[int, CacheLine]] = {}
        """Lines by set, the least recently used first; only sets that have any."""
        self.gone: set[int] = set()
        """Numbers of evicted lines."""
        self.recent: Any = None
        """The line that was looked up last."""
        self.use = self.total = CacheUse()
        """Counts of the transaction that is served now, and of all."""
        self.served_by = Doubles().sized(len(self.channels))
        """When each channel will have served what it was asked for in this step; 0 if nothing."""
        self.asked_bytes = Doubles().sized(len(self.channels))
        """Bytes that each channel was asked for in this step."""
        self.asks = False
        self.dealt_rows = Words(3)
        """What channels and the cache moved for traced transactions: number, number of the part, bytes."""
        self.outcomes = Words(13)
        """Outcomes of each traced transaction: see :meth:`depart`."""

    @property
    def busy_ns(self) -> float:
        """See :meth:`Server.busy_ns`: that of its channels, of its entry or of its cache, the longest."""
        own: float = HbmSlice.busy_ns.__get__(self)
        return max(own, self.cache._busy_ns)

    def gather(self, runs: Runs, channel: int) -> Gathered:
        """See :meth:`Memory.gather`; its places are numbers of bursts."""
        phase, first = runs.at & (self.burst_bytes - 1), runs.at >> self.shift
        bursts = bursts_of(runs.form, phase, self.shift, self.flit_bytes, 0)
        return Gathered(runs, (bursts.places + first).tolist(), bursts)

    def dealt(self, address: int, nbytes: int, channel: int) -> dict[int, int]:
        """See :meth:`HbmSlice.dealt`: what is known beforehand, nothing; ``dealt_rows`` have it."""
        return {}

    def dealt_runs(self, runs: Runs, channel: int) -> dict[int, int]:
        """See :meth:`dealt`."""
        return {}

    def request(self, packet: Packet, flit: int, time: float, begun: float, inside: float) -> None:
        """See :meth:`Memory.request`."""
        if flit == 0:
            packet.state = CacheUse()
            self.cache.arrive(time)
        self.use = packet.state
        Memory.request(self, packet, flit, time, begun, inside)
        if self.asks:
            self.asks = False
            for number in range(self.mask + 1):
                done = self.served_by.at[number]
                if done > 0.0:
                    channel: Server = self.channels[number]
                    channel.leave(done, 0, 0.0, 0.0)
                    self.deal(packet.transaction, channel, int(self.asked_bytes.at[number]))
                    self.served_by.at[number] = self.asked_bytes.at[number] = 0.0

    def deal(self, transaction: Transaction, part: Server, nbytes: int) -> None:
        """Add to ``dealt_rows`` what a part moved for a transaction, if that is traced."""
        if transaction.traced and nbytes:
            rows = self.dealt_rows
            rows.integer(transaction.id)
            rows.integer(part.index)
            rows.integer(nbytes)

    def burst(self, packet: Packet, flit: int, time: float, writing: bool) -> float:
        """When a flit is served; ``by`` is the cache or the channel that it waited for, ``until`` when that
        had served it: before the time in which a channel's data come to the cache.
        """
        transaction = packet.transaction
        gathered: Any = transaction.gathered
        if gathered is None:
            size = self.flit_bytes if flit != packet.last else packet.last_bytes
            address = transaction.address + flit * self.flit_bytes
            return self.access(address >> self.shift, size, transaction, time, writing)
        places, sizes, ends = gathered.places, gathered.sizes, gathered.ends
        last = until = time
        by: Server = self.cache
        for number in range(ends[flit - 1] if flit else 0, ends[flit]):
            done = self.access(places[number], sizes[number], transaction, time, writing)
            if done > last:
                last = done
                until = self.until
                by = self.by
        self.until = until
        self.by = by
        return last

    def access(self, burst: int, nbytes: int, transaction: Transaction, time: float, writing: bool) -> float:
        """When ``nbytes`` of a burst, numbered from the slice's first on, are read or written."""
        cache = self.cache
        use: CacheUse = self.use
        place = burst & (self.line_bursts - 1)
        if self.coalesce > 1 and not writing:
            done = self.shared(burst, nbytes, transaction, time)
            if done > 0.0:
                return done
        duration = nbytes / (self.write_gbs if writing else self.gbs)
        done = cache.occupy(time, duration, transaction) + duration
        cache._busy_ns += duration
        cache.bytes += nbytes
        self.by = cache
        self.until = done
        if writing:
            use.writes += 1
            if not self.write_back:
                return self.write_through(burst, transaction, time, done)
        line: CacheLine = self.find(burst >> self.line_shift, transaction, time)
        if writing:
            line.fetched[place] = 0.0
            line.turns.pop(place, None)
            use.dirtied += not line.dirty[place]
            line.dirty[place] = True
        else:
            fetched: float = line.fetched[place]
            if fetched == _INFINITY:
                use.misses += 1
                use.again += line.again
                fetched = line.fetched[place] = self.ask(burst & self.mask, transaction, time, False)
            elif fetched + self.array_ns > time:
                use.merged += 1
            else:
                use.hits += 1
            if fetched + self.array_ns > done:
                done = fetched + self.array_ns
                self.until = fetched
                self.by = self.channels[burst & self.mask]
        if line.room_ns > done:
            done = self.until = line.room_ns
            self.by = line.room_by
        if self.coalesce > 1 and not writing:
            line.turns[place] = SharedRead(transaction.id, nbytes, done, self.until, self.by)
        return done

    def shared(self, burst: int, nbytes: int, transaction: Transaction, time: float) -> float:
        """When a read is served in the turn of an earlier one, of another transaction; 0 in none."""
        line: CacheLine = self.find(burst >> self.line_shift, transaction, time)
        place = burst & (self.line_bursts - 1)
        found: Any = line.turns.get(place)
        if found is None:
            return 0.0
        turn: SharedRead = found
        if (
            turn.done <= time
            or turn.reads == self.coalesce
            or turn.transaction == transaction.id
            or nbytes > turn.nbytes
        ):
            return 0.0
        turn.reads += 1
        use: CacheUse = self.use
        use.coalesced += 1
        use.coalesced_bytes += nbytes
        fetched: float = line.fetched[place]
        if fetched + self.array_ns > time:
            use.merged += 1
        else:
            use.hits += 1
        self.until = turn.until
        self.by = turn.by
        return turn.done

    def write_through(self, burst: int, transaction: Transaction, time: float, done: float) -> float:
        """A write that goes to memory; the cache has it too if it has its burst. ``done`` is its port's."""
        held = self.sets.get((burst >> self.line_shift) % self.n_sets)
        line: Any = None if held is None else held.get(burst >> self.line_shift)
        if line is not None and line.fetched[burst & (self.line_bursts - 1)] != _INFINITY:
            line.fetched[burst & (self.line_bursts - 1)] = 0.0
            line.turns.pop(burst & (self.line_bursts - 1), None)
        self.use.written_back += 1
        written = self.ask(burst & self.mask, transaction, time, True)
        if written > done:
            self.until = done = written
            self.by = self.channels[burst & self.mask]
        return done

    def find(self, number: int, transaction: Transaction, time: float) -> CacheLine:
        """The line of that number, now the most recently used; a new one if it was not cached."""
        line: Any = self.recent
        if line is not None and line.number == number:
            return line  # type: ignore[no-any-return]
        place = number % self.n_sets
        held: Any = self.sets.get(place)
        if held is None:
            held = self.sets[place] = OrderedDict()
        line = held.get(number)
        if line is None:
            line = CacheLine(number, self.line_bursts, number in self.gone)
            if len(held) == self.ways:
                self.evict(held.popitem(False)[1], line, transaction, time)
            held[number] = line
        else:
            held.move_to_end(number)
        self.recent = line
        found: CacheLine = line
        return found

    def evict(self, gone: CacheLine, line: CacheLine, transaction: Transaction, time: float) -> None:
        """Evict ``gone``; ``line`` takes its place once its dirty bursts have been written back."""
        use: CacheUse = self.use
        use.evictions += 1
        self.gone.add(gone.number)
        for place in range(self.line_bursts):
            if gone.dirty[place]:
                channel = ((gone.number << self.line_shift) + place) & self.mask
                use.written_back += 1
                done = self.ask(channel, transaction, time, True)
                if done > line.room_ns:
                    line.room_ns = done
                    line.room_by = self.channels[channel]

    def ask(self, number: int, transaction: Transaction, time: float, writing: bool) -> float:
        """When channel ``number`` has served a burst for the cache."""
        channel: Server = self.channels[number]
        if self.served_by.at[number] == 0.0:
            channel.arrive(time)
            self.asks = True
        channel.bytes += self.burst_bytes
        self.asked_bytes.at[number] += self.burst_bytes
        done = self.serve(number, transaction, time, writing)
        self.served_by.at[number] = done
        return done

    def depart(
        self,
        packet: Packet,
        time: float,
        begun: float,
        inside: float,
        until: float,
        done: float,
        server: Server,
    ) -> float:
        """See :meth:`Memory.depart`; record how the transaction used the cache."""
        behind = Memory.depart(self, packet, time, begun, inside, until, done, server)
        transaction = packet.transaction
        use: CacheUse = packet.state
        self.cache.leave(done, 0, 0.0, 0.0)
        self.total.add(use)
        self.deal(transaction, self.cache, transaction.nbytes - use.coalesced_bytes)
        if transaction.traced:
            missed = 0.0
            if server is not self and server is not self.cache:
                own = transaction.nbytes / self.gbs
                if transaction.is_write:
                    own = packet.last_bytes / self.write_gbs
                missed = max(0.0, done - self.access_ns - inside - behind - own)
            rows = self.outcomes
            rows.integer(transaction.id)
            rows.integer(self.cache.index)
            for count in use.columns(self.burst_bytes):
                rows.integer(count)
            rows.number(missed)
        return behind

    def counted(self) -> list[tuple[int, ...]]:
        """The cache's index, and the columns of all transactions together."""
        return [(self.cache.index, *self.total.columns(self.burst_bytes))]
