"""An HBM slice whose pseudo-channels are DRAM: banks, rows, refresh, and a controller that chooses.

A message at the slice is a :class:`Visit`, each of its flits a :class:`Part`, which is served when the last
burst that it touches is. Data leave in order, each flit when it and all before it are there.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from math import ceil
from typing import Any

from kernbench.components.dram_channel import FAR, DramChannel
from kernbench.components.dram_places import COLUMN_BITS, COLUMN_MASK, places
from kernbench.components.dram_state import HIT, MISS, Bank, Burst
from kernbench.components.hbm import HbmSlice
from kernbench.components.system import System
from kernbench.pgraph import Node
from kernbench.sim.booked import Booked
from kernbench.sim.clock import Step
from kernbench.sim.transaction import Packet

_FAR = FAR
_HIT, _MISS = HIT, MISS
_FORGET_EVERY = 256
_LOOKED_AT = 64
"""Runs of a data bus that a wait is made out from one by one."""


class Visit:
    """A message at a slice: what of it is served, and how its bursts found their rows."""

    def __init__(self, packet: Packet, answer: Any, channels: int) -> None:
        self.packet = packet
        self.answer = answer
        """The data that go back, for a read."""
        self.last_in = 0.0
        self.begun = 0.0
        self.inside = 0.0
        """When the last flit so far came, was served at the entry, and stood at the array."""
        flits = (answer if answer is not None else packet).last + 1
        self.parts: list[Any] = [None] * flits
        self.unserved = flits
        self.next = 0
        """The flit that leaves next."""
        self.done = 0.0
        self.issued = 0.0
        self.by: Any = None
        """Of the part that is done last: when its last command was issued, and at which pseudo-channel."""
        self.hits = 0
        self.misses = 0
        self.conflicts = 0
        self.touched = 0
        """A bit for each pseudo-channel that it uses."""
        self.uses = [0] * channels
        """Bursts that each pseudo-channel has served."""


class Part:
    """A flit at a slice: ``left`` bursts of it have not been served."""

    def __init__(self, visit: Visit, flit: int) -> None:
        self.visit = visit
        self.flit = flit
        self.left = 0
        self.done = 0.0
        self.issued = 0.0
        self.by: Any = None


class PseudoChannel(Booked):
    """The data bus of one pseudo-channel: a part of its slice, in the graph as ``node``."""

    def __init__(self, node: Node, place: int) -> None:
        super().__init__(node.id)
        self.node = node
        self.place = place
        self.total = 0.0
        """Time for which it has been in use, ns."""
        self.before_run = 0.0
        self.sums: list[float] = []
        self.gone = 0
        """For each run the time for which it had been in use before; the first ``gone`` are forgotten."""
        self.own_ns = 0.0
        """For how long who asks for its waits has used it."""

    def occupy(self, time: float, duration: float, owner: Any) -> float:
        """See :meth:`Booked.occupy`."""
        count = self.runs.count
        follows = self.holder is owner and time <= self.free
        Booked.occupy(self, time, duration, owner)
        if self.runs.count > count:
            self.sums.append(self.before_run)
        if not follows:
            self.before_run = self.total
        self.total += duration
        return time

    def forget_until(self, oldest: float) -> None:
        """See :meth:`Booked.forget_until`."""
        count = self.runs.count
        Booked.forget_until(self, oldest)
        self.gone += count - self.runs.count
        if self.gone > _FORGET_EVERY and 2 * self.gone > len(self.sums):
            del self.sums[: self.gone]
            self.gone = 0

    def waits(self, owner: Any, begin: float, end: float) -> int:
        """See :meth:`Server.waits`. Of a long queue the newest runs are looked at, the rest is one entry."""
        runs = self.runs
        cut = runs.count - _LOOKED_AT
        if cut <= 0 or runs.since(cut) <= begin:
            return Booked.waits(self, owner, begin, end)
        middle = runs.since(cut)
        n = Booked.waits(self, owner, middle, end)
        parts = self.parts
        own = self.own_ns - (self.total - self.sums[self.gone + cut])
        for k in range(n):
            own += parts.ns[k]
        low = 0
        high = cut
        while low < high:  # the oldest run that had not ended by then
            at = (low + high) // 2
            if runs.end(at) <= begin:
                low = at + 1
            else:
                high = at
        since = runs.since(low)
        begun = begin if begin > since else since
        rest = self.sums[self.gone + cut] - self.sums[self.gone + low] - (begun - since)
        if own > 0.0:
            rest -= own
        first = low
        while first < cut and runs.holder(first) is owner:
            first += 1
        if rest > 1e-9 and first < cut:
            parts.holder[n] = runs.holder(first)
            parts.ns[n] = rest
            parts.t_from[n] = begun
            parts.t_to[n] = middle
            parts.holders[n] = cut - low
            n += 1
        return n


class SliceChannel(DramChannel):
    """A channel of a slice, with the servers of its pseudo-channels."""

    def __init__(self, figures: dict[str, Any], tck_ns: float, slice_: DramSlice, servers: list[Any]) -> None:
        super().__init__(figures, tck_ns, len(servers))
        self.slice = slice_
        self.servers = servers
        self.burst_ns = self.burst * self.tick_ns
        self.lag = min(self.read_ticks, self.write_ticks)
        self.wake = Wake(self)
        self.due_ns = -1.0
        self.count = 0

    def arm(self, tick: int) -> None:
        """Commands from ``tick`` on are waiting: come back before the data of the first one are through."""
        clock = self.slice.clock
        due = (tick + self.lag) * self.tick_ns
        if due < clock.time:
            due = clock.time
        if self.due_ns < 0.0 or due < self.due_ns:
            self.due_ns = due
            clock.step_at(due, self.wake, 0)

    def served(self, burst: Burst, at: int) -> None:
        """See :meth:`DramChannel.served`."""
        part: Part = burst.part
        visit = part.visit
        server: PseudoChannel = self.servers[burst.bank.pseudo.number]
        issued = at * self.tick_ns
        server.occupy(issued, self.burst_ns, visit.packet.transaction)
        server._busy_ns += self.burst_ns
        visit.uses[server.place] += 1
        if burst.found == _HIT:
            visit.hits += 1
        elif burst.found == _MISS:
            visit.misses += 1
        else:
            visit.conflicts += 1
        self.count += 1
        if self.count == _FORGET_EVERY:
            self.forget()
        done = (at + (self.write_ticks if burst.write else self.read_ticks)) * self.tick_ns
        done += self.slice.access_ns
        if done > part.done:
            part.done = done
            part.issued = issued
            part.by = server
        part.left -= 1
        if not part.left:
            self.slice.part_done(part)

    def forget(self) -> None:
        """Forget who held the buses before the oldest of those that stand here came."""
        self.count = 0
        oldest = self.now * self.tick_ns
        if self.waiting:
            burst: Burst = self.waiting[0]
            oldest = min(oldest, burst.part.visit.inside)
        for bank in self.banks:
            for burst in bank.reads:
                oldest = min(oldest, burst.part.visit.inside)
            for burst in bank.writes:
                oldest = min(oldest, burst.part.visit.inside)
        for burst in self.active:
            oldest = min(oldest, burst.part.visit.inside)
        for server in self.servers:
            server.forget_until(oldest)


class Wake(Step):
    """Comes back to a channel when data of it may be through."""

    def __init__(self, channel: SliceChannel) -> None:
        self.channel = channel

    def go(self, number: int) -> None:
        """Issue what there was to be issued by now."""
        channel = self.channel
        now = channel.slice.clock.time
        if now != channel.due_ns:
            return  # it was asked to come back earlier, and has
        channel.due_ns = -1.0
        following = channel.advance(int(now / channel.tick_ns + 1e-6))
        if following < _FAR:
            channel.arm(following)


class DramSlice(HbmSlice):
    """One slice; two adjacent pseudo-channels are a channel, with command buses and a window of its own.

    The address bits above those of a flit choose the channel; the rest is split by the address map.
    """

    def __init__(self, node: Node, system: System) -> None:
        super().__init__(node, system)
        self.figures = json.loads(str(node.properties["dram"]))
        servers = [PseudoChannel(channel.node, place) for place, channel in enumerate(self.channels)]
        self.channels = servers
        self.width = min(2, len(servers))
        tck_ns = self.number("dram_tck_ns")
        self.dram = [
            SliceChannel(self.figures, tck_ns, self, servers[i : i + self.width])
            for i in range(0, len(servers), self.width)
        ]
        table = self.figures["timing"]
        self.tick_ns = self.dram[0].tick_ns
        self.column_ns = self.dram[0].t.burst * self.tick_ns
        self.burst_bytes: int = table["burst_bytes"]
        self.burst_shift = self.burst_bytes.bit_length() - 1
        self.channel_mask = len(self.dram) - 1
        self.channel_bits = self.channel_mask.bit_length()
        self.places = places(self.figures["address_map"], table, self.width)
        self.low_mask = len(self.places) - 1
        self.low_bits = self.low_mask.bit_length()
        self.period = 1 << (self.low_bits + self.channel_bits + self.burst_shift)
        self.on_visit: Callable[[Visit], None] | None = None
        """Called for each message when its last flit is served."""

    def receive_flit(self, packet: Packet, flit: int, time: float) -> None:
        """See :meth:`Memory.receive_flit`."""
        transaction = packet.transaction
        visit: Visit
        if flit == 0:
            self.arrive(time)
            packet.times.at[packet.path.hops] = time
            answer: Any = None
            if not transaction.is_write:
                answer = Packet.__new__(Packet)
                fabric = self.system.fabric
                answer.prepare(transaction, transaction.path.reverse, transaction.nbytes, fabric.flit_bytes)
                fabric.stream_singly(answer)
            visit = Visit(packet, answer, len(self.channels))
            entry = self.entry(packet)
            visit.last_in = time
            visit.begun = self.occupy(time, entry, transaction)
            visit.inside = visit.begun + entry
            packet.times.at[packet.stride + packet.path.hops] = visit.begun
            packet.turn = visit
            if answer is not None:
                for number in range(answer.last + 1):
                    self.submit(visit, answer, number, visit.inside, False)
                return
        else:
            visit = packet.turn
            visit.last_in = time
            visit.begun = visit.inside = self.free if self.free > time else time
        if transaction.is_write:
            self.submit(visit, packet, flit, visit.inside, True)

    def submit(self, visit: Visit, packet: Packet, flit: int, time: float, write: bool) -> None:
        """A flit stands at the array at ``time``: ask its channel for the bursts that it touches."""
        part = Part(visit, flit)
        visit.parts[flit] = part
        size = packet.last_bytes if flit == packet.last else self.flit_bytes
        first = visit.packet.transaction.address + flit * self.flit_bytes
        end = first + size
        came = ceil(time / self.tick_ns - 1e-6)
        line = first >> self.burst_shift
        last = (end - 1 if size else first) >> self.burst_shift
        part.left = last - line + 1
        shift = self.shift - self.burst_shift
        made: list[Burst] = []
        while line <= last:
            index = (line >> shift) & self.channel_mask
            inner = ((line >> shift >> self.channel_bits) << shift) | (line & ((1 << shift) - 1))
            place = self.places[inner & self.low_mask]
            channel: SliceChannel = self.dram[index]
            bank: Bank = channel.banks[place >> COLUMN_BITS]
            row = inner >> self.low_bits
            bit = 1 << (place & COLUMN_MASK)
            found = False
            for burst in made:
                if burst.bank is bank and burst.row == row:
                    burst.mask |= bit
                    burst.count += 1
                    burst.left += 1
                    found = True
                    break
            if not found:
                made.append(channel.add(came, bank, row, bit, write, part))
                channel.arm(came)
            number = bank.pseudo.number
            server: PseudoChannel = channel.servers[number]
            low = max(first, line << self.burst_shift)
            server.bytes += min(end, (line + 1) << self.burst_shift) - low
            number += index * self.width
            if not visit.touched >> number & 1:
                visit.touched |= 1 << number
                server.arrive(time)
            line += 1

    def dealt(self, address: int, nbytes: int, channel: int) -> dict[int, int]:
        """See :meth:`HbmSlice.dealt`; the address alone says where each burst lies, as in :meth:`submit`."""
        shift = self.shift - self.burst_shift
        end = address + nbytes
        found: dict[int, int] = {}
        for line in range(address >> self.burst_shift, ((max(end - 1, address)) >> self.burst_shift) + 1):
            index = (line >> shift) & self.channel_mask
            inner = ((line >> shift >> self.channel_bits) << shift) | (line & ((1 << shift) - 1))
            bank: Bank = self.dram[index].banks[self.places[inner & self.low_mask] >> COLUMN_BITS]
            number = bank.pseudo.number + index * self.width
            first = max(address, line << self.burst_shift)
            last = min(end, (line + 1) << self.burst_shift)
            found[number] = found.get(number, 0) + last - first
        return found

    def part_done(self, part: Part) -> None:
        """All bursts of a flit are issued: when it is served is known."""
        visit = part.visit
        visit.unserved -= 1
        if part.done > visit.done:
            visit.done = part.done
            visit.issued = part.issued
            visit.by = part.by
        answer = visit.answer
        fabric = self.system.fabric
        if answer is None:
            if not visit.unserved:
                self.over(visit)
                fabric.answer_at(visit.done, visit.packet)
            return
        if not visit.unserved:
            self.over(visit)
            transaction = visit.packet.transaction
            if transaction.on_served is not None:
                self.clock.call_at(visit.done, transaction.on_served)
        ready = answer.turn_done
        while visit.next <= answer.last:
            following: Part = visit.parts[visit.next]
            if following.left:
                break
            if following.done > ready:
                ready = following.done
            fabric.stream_flit(answer, visit.next, ready)
            visit.next += 1
        answer.turn_done = ready

    def over(self, visit: Visit) -> None:
        """The last flit is served: note the hop and who held it up."""
        packet = visit.packet
        transaction = packet.transaction
        wait = 0.0
        if visit.begun > visit.last_in:
            wait += transaction.note_waits(self.index, self, visit.last_in, visit.begun)
        server = visit.by
        if visit.issued > visit.inside:
            server.own_ns = visit.uses[server.place] * self.column_ns
            behind = transaction.note_waits(server.index, server, visit.inside, visit.issued)
            server.wait_ns += behind
            wait += behind
        for number in range(len(self.channels)):
            if visit.touched >> number & 1:
                self.channels[number].leave(visit.done, 0, 0.0, 0.0)
        self.leave(visit.done, transaction.nbytes, self.entry(packet), wait)
        if self.on_visit is not None:
            self.on_visit(visit)
        if transaction.traced:
            hop = packet.path.hops
            times = packet.times
            transaction.hop(
                self.index, times.at[hop], times.at[packet.stride + hop], visit.done,
                visit.done - visit.last_in - wait, wait, transaction.nbytes,
            )  # fmt: skip
