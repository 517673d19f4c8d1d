"""An HBM slice whose pseudo-channels are DRAM: banks, rows, refresh, and a controller that chooses.

A message at the slice is a :class:`MemoryRequest`, each of its flits a :class:`FlitRequest`, which is served
when the last burst that it touches is. Data leave in order, each flit when it and all before it are there.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from math import ceil
from typing import Any

from kernbench.engine.components.dram_bus import PseudoChannel
from kernbench.engine.components.dram_channel import DramChannel
from kernbench.engine.components.dram_places import COLUMN_BITS, COLUMN_MASK, places
from kernbench.engine.components.dram_request import ChannelState, FlitRequest, MemoryRequest
from kernbench.engine.components.dram_state import Bank, Burst
from kernbench.engine.components.dram_window import FAR
from kernbench.engine.components.hbm import HbmSlice
from kernbench.engine.components.system import System
from kernbench.engine.core.columns import Words
from kernbench.engine.core.transaction import Packet
from kernbench.hardware.address.runs import Gathered, Runs, bursts_of
from kernbench.support.pgraph import Node

_FAR = FAR
_FORGET_EVERY = 256


class SliceChannel(DramChannel):
    """A channel of a slice, with the servers of its pseudo-channels."""

    def __init__(self, figures: dict[str, Any], tck_ns: float, slice_: DramSlice, servers: list[Any]) -> None:
        super().__init__(figures, tck_ns, len(servers))
        self.slice = slice_
        self.servers = servers
        self.burst_ns = self.burst * self.tick_ns
        self.lag = min(self.read_ticks, self.write_ticks)
        self.due_ns = -1.0
        self.count = 0

    def arm(self, tick: int) -> None:
        """Schedule a return in time for the commands that wait from ``tick`` on."""
        clock = self.slice.clock
        due = (tick + self.lag) * self.tick_ns
        if due < clock.time:
            due = clock.time
        if self.due_ns < 0.0 or due < self.due_ns:
            self.due_ns = due
            clock.step_at(due, self, 0)

    def go(self, number: int) -> None:
        """Issue the commands that are due by now; data may have been transferred."""
        now = self.slice.clock.time
        if now != self.due_ns:
            return  # it was asked to come back earlier, and has
        self.due_ns = -1.0
        following = self.advance(int(now / self.tick_ns + 1e-6))
        if following < _FAR:
            self.arm(following)

    def served(self, burst: Burst, at: int) -> None:
        """See :meth:`DramChannel.served`."""
        part: FlitRequest = burst.part
        asked = part.asked
        server: PseudoChannel = self.servers[burst.bank.pseudo.number]
        issued = at * self.tick_ns
        server.occupy(issued, self.burst_ns, asked.packet.transaction)
        server._busy_ns += self.burst_ns
        state: ChannelState = asked.states[server.place]
        state.serve(burst, at, asked.packet.transaction.traced)
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
        """Forget who held the buses before the oldest waiting message arrived."""
        self.count = 0
        oldest = self.now * self.tick_ns
        if self.waiting:
            burst: Burst = self.waiting[0]
            oldest = min(oldest, burst.part.asked.inside)
        for bank in self.banks:
            for burst in bank.reads:
                oldest = min(oldest, burst.part.asked.inside)
            for burst in bank.writes:
                oldest = min(oldest, burst.part.asked.inside)
        for burst in self.active:
            oldest = min(oldest, burst.part.asked.inside)
        for server in self.servers:
            server.forget_until(oldest)
        for pseudo in self.pseudos:
            while pseudo.refreshed and pseudo.refreshed[0][2] * self.tick_ns <= oldest:
                del pseudo.refreshed[0]


class DramSlice(HbmSlice):
    """One slice; two adjacent pseudo-channels are a channel, with command buses and a window of its own.

    The address bits above those of a flit choose the channel; the rest is split by the address map.
    """

    outcomes_for = "RowUse"
    """The table that has its ``outcomes``."""

    def __init__(self, node: Node, system: System) -> None:
        super().__init__(node, system)
        self.figures = json.loads(str(node.properties["dram"]))
        servers = [PseudoChannel(channel.node, place) for place, channel in enumerate(self.channels)]
        self.channels = servers
        self.width = min(2, len(servers))
        DramSlice.reset(self)
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

    def reset(self) -> None:
        """See :meth:`Server.reset`."""
        HbmSlice.reset(self)
        tck_ns = self.number("dram_tck_ns")
        self.dram = [
            SliceChannel(self.figures, tck_ns, self, self.channels[i : i + self.width])
            for i in range(0, len(self.channels), self.width)
        ]
        self.outcomes = Words(8)
        """Outcomes of each traced transaction at each of its pseudo-channels: see :meth:`note_rows`."""

    def request(self, packet: Packet, flit: int, time: float, begun: float, inside: float) -> None:
        """See :meth:`Memory.request`."""
        transaction = packet.transaction
        asked: MemoryRequest
        if flit == 0:
            answer: Any = None
            if not transaction.is_write:
                answer = self.answer_to(transaction, transaction.nbytes)
                self.system.fabric.stream_singly(answer)
            asked = packet.state = MemoryRequest(packet, answer, len(self.channels))
        else:
            asked = packet.state
            asked.wait_from(ceil(inside / self.tick_ns - 1e-6))
        asked.last_in = time
        asked.begun = begun
        asked.inside = inside
        if transaction.is_write:
            self.submit(asked, packet, flit, inside, True)
            return
        for number in range(asked.answer.last + 1):
            self.submit(asked, asked.answer, number, inside, False)

    def gather(self, runs: Runs, channel: int) -> Gathered:
        """See :meth:`Memory.gather`; its places are numbers of bursts."""
        phase, first = runs.at & (self.burst_bytes - 1), runs.at >> self.burst_shift
        bursts = bursts_of(runs.form, phase, self.burst_shift, self.flit_bytes, 0)
        return Gathered(runs, (bursts.places + first).tolist(), bursts)

    def submit(self, asked: MemoryRequest, packet: Packet, flit: int, time: float, write: bool) -> None:
        """Ask the channel for the bursts of a flit that reaches the array at ``time``."""
        part = FlitRequest(asked, flit)
        asked.parts[flit] = part
        came = ceil(time / self.tick_ns - 1e-6)
        transaction = asked.packet.transaction
        gathered = transaction.gathered
        first = end = line = 0
        if gathered is None:
            size = packet.last_bytes if flit == packet.last else self.flit_bytes
            first = transaction.address + flit * self.flit_bytes
            end = first + size
            line = at = first >> self.burst_shift
            last = (end - 1 if size else first) >> self.burst_shift
        else:
            at, last = gathered.ends[flit - 1] if flit else 0, gathered.ends[flit] - 1
        part.left = last - at + 1
        made: list[Burst] = []
        while at <= last:
            if gathered is None:
                line = at
                moved = min(end, (line + 1) << self.burst_shift) - max(first, line << self.burst_shift)
            else:
                line = gathered.places[at]
                moved = gathered.sizes[at]
            index, inner = self._split(line)
            place = self.places[inner & self.low_mask]
            channel: SliceChannel = self.dram[index]
            bank: Bank = channel.banks[place >> COLUMN_BITS]
            row = inner >> self.low_bits
            bit = 1 << (place & COLUMN_MASK)
            found = False
            for burst in made:
                if burst.bank is bank and burst.row == row and not burst.mask & bit:
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
            server.bytes += moved
            number += index * self.width
            if asked.states[number] is None:
                asked.states[number] = ChannelState(came)
                server.arrive(time)
            at += 1

    def _split(self, line: int) -> tuple[int, int]:
        """The channel of burst number ``line`` of the slice, and the burst's number in that channel."""
        shift = self.shift - self.burst_shift
        inner = ((line >> shift >> self.channel_bits) << shift) | (line & ((1 << shift) - 1))
        return (line >> shift) & self.channel_mask, inner

    def dealt(self, address: int, nbytes: int, channel: int) -> dict[int, int]:
        """See :meth:`HbmSlice.dealt`; the address alone says where each burst lies, as in :meth:`submit`."""
        end = address + nbytes
        lines = range(address >> self.burst_shift, ((max(end - 1, address)) >> self.burst_shift) + 1)
        sizes = [
            min(end, (line + 1) << self.burst_shift) - max(address, line << self.burst_shift)
            for line in lines
        ]
        return self._dealt(lines, sizes)

    def dealt_runs(self, runs: Runs, channel: int) -> dict[int, int]:
        """See :meth:`HbmSlice.dealt_runs`."""
        gathered = self.gather(runs, channel)
        return self._dealt(gathered.places, gathered.sizes)

    def _dealt(self, lines: Sequence[int], sizes: Sequence[int]) -> dict[int, int]:
        """Bytes of each channel, given the bytes of each burst."""
        found: dict[int, int] = {}
        for line, size in zip(lines, sizes, strict=True):
            index, inner = self._split(line)
            bank: Bank = self.dram[index].banks[self.places[inner & self.low_mask] >> COLUMN_BITS]
            number = bank.pseudo.number + index * self.width
            found[number] = found.get(number, 0) + size
        return found

    def part_done(self, part: FlitRequest) -> None:
        """Called when all bursts of a flit are issued, so that the time of its service is known."""
        asked = part.asked
        asked.unserved -= 1
        if part.done > asked.done:
            asked.done = part.done
            asked.issued = part.issued
            asked.by = part.by
        answer = asked.answer
        fabric = self.system.fabric
        if answer is None:
            if not asked.unserved:
                self.over(asked)
                fabric.answer_at(asked.done, asked.packet)
            return
        if not asked.unserved:
            self.over(asked)
            transaction = asked.packet.transaction
            if transaction.on_served is not None:
                self.clock.call_at(asked.done, transaction.on_served)
        ready = answer.done
        while asked.next <= answer.last:
            following: FlitRequest = asked.parts[asked.next]
            if following.left:
                break
            if following.done > ready:
                ready = following.done
            fabric.stream_flit(answer, asked.next, ready)
            asked.next += 1
        answer.done = ready

    def over(self, asked: MemoryRequest) -> None:
        """Called when the last flit is served: note the hop and who delayed it."""
        server = asked.by
        if asked.issued > asked.inside:
            state: ChannelState = asked.states[server.place]
            server.bus.own_ns = (state.hits + state.misses + state.conflicts) * self.column_ns
        for number in range(len(self.channels)):
            if asked.states[number] is not None:
                self.channels[number].leave(asked.done, 0, 0.0, 0.0)
        behind = self.depart(
            asked.packet, asked.last_in, asked.begun, asked.inside, asked.issued, asked.done, server
        )
        if asked.packet.transaction.traced:
            self.note_rows(asked, behind)

    def note_rows(self, asked: MemoryRequest, behind: float) -> None:
        """Note how the bursts of ``asked``, which waited for others for ``behind`` ns, found their rows.

        Its waits count at the pseudo-channel that served it last.
        """
        rows = self.outcomes
        room = asked.issued - asked.inside - behind
        for number in range(len(self.channels)):
            state: Any = asked.states[number]
            if state is None:
                continue
            server: PseudoChannel = self.channels[number]
            refresh = row = 0.0
            if server is asked.by and room > 0.0:
                refresh = min(state.refresh * self.tick_ns, room)
                row = min(state.row * self.tick_ns, room - refresh)
            rows.integer(asked.packet.transaction.id)
            rows.integer(server.index)
            rows.integer(state.hits)
            rows.integer(state.misses)
            rows.integer(state.conflicts)
            rows.integer(state.refreshes if refresh > 0.0 else 0)
            rows.number(row)
            rows.number(refresh)

    def counted(self) -> list[tuple[int, int, int, int, int]]:
        """For each used pseudo-channel: index, hits, misses, conflicts and refreshes so far."""
        now = int(self.clock.time / self.tick_ns + 1e-6)
        found = []
        for channel in self.dram:
            if any(server.transactions for server in channel.servers):
                channel.advance(now)  # refreshes are carried out when something is asked for
            for server, pseudo in zip(channel.servers, channel.pseudos, strict=True):
                if server.transactions:
                    found.append(
                        (server.index, pseudo.hits, pseudo.misses, pseudo.conflicts, pseudo.refreshes)
                    )
        return found
