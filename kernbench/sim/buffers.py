"""Finite buffers: virtual channels, credits, and the ports where they decide who goes on.

A link with buffers has, at its far end, room for so many flits in each of its virtual channels. A message
takes a channel with its first flit and gives it up with its last (wormhole switching). A flit is let go when
its channel has a credit, that is room at the far end; the credit comes back over the wire when the flit has
left the buffer. Flits leave a buffer in order of arrival: the one at its head holds up all behind it.

All of this is asked for by a topology (``links``); ports of links without it know nothing of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kernbench.errors import UsageError
from kernbench.sim.holding import Departures, Runs
from kernbench.sim.port import Arbiter, Line, Port, Request
from kernbench.sim.server import Server
from kernbench.sim.transaction import Transaction

if TYPE_CHECKING:
    from kernbench.sim.node import Link
    from kernbench.sim.queue import Queue
    from kernbench.sim.transaction import Packet

_DECIDE = 7
_NAMED = 8
_INFINITY = float("inf")


class Stay(Request):
    """A packet at a port, whose flits up to ``last`` have come and those before ``flit`` have gone."""

    def prepare(self, packet: Packet, hop: int, last: int, since: float, order: int) -> None:
        """Make it that of a packet of which flits up to ``last`` stand here since ``since``."""
        self.packet = packet
        self.hop = hop
        self.flit = 0
        self.last = last
        self.since = since
        self.order = order
        self.behind = None
        self.came = since
        """When the newest flit came."""
        self.channel: Any = None
        """The virtual channel of the link that it has, of a link with buffers."""
        self.allocated = 0.0
        """From when on it can use it."""
        self.held: list[tuple[float, float, Any, Buffer]] | None = None
        """From when to when it was held up at the head of its lane, by whom, and which buffer had no room."""


class Lane(Line):
    """Packets that go one after the other, whichever link they take: in a buffer, or sent by the node."""

    def __init__(self, source: Server, number: int, channel: Any) -> None:
        super().__init__(source)
        self.number = number
        self.channel = channel
        """The virtual channel whose buffer it is; None where it has no limit."""
        self.free = 0.0
        """When the flit that went last has left it."""
        self.head_since = 0.0
        """Since when the packet at the head has been there."""
        self.runs = Runs()
        """Which packets were there before, as far as anyone behind them still stands."""
        self.blocked = -1.0
        """Since when the flit at the head has been held up; -1: it is not."""
        self.behind: Any = None
        """The transaction that holds it up."""
        self.where: Any = None
        """The buffer in which there is no room, or of which another flit is being read."""

    def pass_on(self, end: float) -> None:
        """The last flit of the packet at the head has left at ``end``: the next one is at the head."""
        gone: Request = self.first
        if end > self.head_since:
            self.runs.add(self.head_since, end, gone.packet.transaction)
        self.first = gone.behind
        self.head_since = end
        runs = self.runs
        following: Any = self.first
        # The newest one is kept: another packet may come while its last flit is still leaving.
        while runs.count > 1 and (following is None or runs.end(0) <= following.since):
            runs.drop_oldest()

    def hold_up(self, now: float, behind: Any, where: Buffer) -> None:
        """The flit at the head is held up from ``now`` on: by a transaction, or by nobody else (None)."""
        self.blocked = now
        self.behind = behind
        self.where = where

    def let_go(self, now: float) -> None:
        """The flit at the head is held up no longer."""
        since = self.blocked
        if since < 0.0:
            return
        self.blocked = -1.0
        if now > since:
            stay: Stay = self.first
            if stay.held is None:
                stay.held = []
            stay.held.append((since, now, self.behind, self.where))

    def waits(self, transaction: Transaction, resource: int, since: float) -> float:
        """Note whom ``transaction`` stood behind here until it was at the head; returns for how long, ns."""
        runs = self.runs
        stop = self.head_since
        if stop <= since:
            return 0.0
        seq = 0 if transaction.hop_rows is None else transaction.hop_rows.count
        total = stop - since
        at = runs.count - 1
        named = 0
        while at >= 0 and stop > since:
            begin = runs.since(at)
            holder: Transaction = runs.holder(at)
            holders = 1
            named += 1
            if named == _NAMED and at > 0 and begin > since:
                # All that is older is one entry, in the name of the oldest.
                while at > 0 and runs.end(at - 1) > since:
                    at -= 1
                    holders += 1
                holder = runs.holder(at)
                begin = since
            if begin < since:
                begin = since
            transaction.wait(holder.id, resource, holders, seq, stop - begin, begin, stop)
            stop = begin
            at -= 1
        return total


class VirtualChannel:
    """One channel of a link: who has it, its credits, and the ``lane`` of those in its buffer."""

    def __init__(self, buffer: Buffer, number: int) -> None:
        self.buffer = buffer
        self.number = number
        self.taken = False
        self.holder: Any = None
        """The transaction that has it, or had it last."""
        self.free_from = 0.0
        """From when on another packet can have it, once it is not taken."""
        self.left = buffer.flits
        """Credits that have come back."""
        self.coming = Departures()
        """When those come back that are on their way."""
        self.wanted = False
        """Whether a flit stands that needs a credit of it and does not know when one comes."""
        self.lane = Lane(buffer.link, buffer.link.index * buffer.spread + number, self)

    def credits(self, now: float) -> int:
        """Credits that the sender has at ``now``."""
        self.left += self.coming.gone(now)
        return self.left

    def give_back(self, time: float) -> None:
        """A credit reaches the sender at ``time``."""
        self.coming.add(time)
        if self.wanted:
            self.wanted = False
            port: BufferedPort = self.buffer.link.port
            port.wake(time)


class Buffer(Server):
    """The input buffers at the far end of ``link``: ``vcs`` virtual channels of ``flits`` flits each.

    Args:
        resource: Its name.
        link: The link that fills them.
        flits: Room of each.
        vcs: How many there are.
        credit_ns: Time from when a flit has left until the sender knows it.
        allocation_ns: Time that a message at its turn takes to get a channel.
        dateline: Messages go on in the upper half of the channels from this link on, in the lower half before
            any such link.
        spread: Numbers between the lanes of one link and those of the next.
    """

    def __init__(
        self,
        resource: str,
        link: Link,
        flits: int,
        vcs: int,
        *,
        credit_ns: float,
        allocation_ns: float = 0.0,
        dateline: bool = False,
        spread: int = 0,
    ) -> None:
        super().__init__(resource)
        self.link = link
        self.flits = flits
        self.credit_ns = credit_ns
        self.allocation_ns = allocation_ns
        self.dateline = dateline
        self.spread = spread or vcs
        self.node: Any = None
        """Its node of the compiled graph."""
        self.reading = 0.0
        """When the flit that leaves any of its channels has done so: they are read one at a time."""
        self.channels: list[VirtualChannel] = [None] * vcs  # type: ignore[list-item]
        for number in range(vcs):
            self.channels[number] = VirtualChannel(self, number)


class BufferedPort(Port):
    """The output of a node onto a link with buffers, or of a node that others reach over such links."""

    def __init__(
        self,
        link: Link,
        arbiter: Arbiter,
        queue: Queue,
        buffer: Buffer | None = None,
        *,
        spread: int = 1,
        crossing: bool = False,
    ) -> None:
        super().__init__(link, arbiter)
        self.buffered = True
        self.queue = queue
        self.buffer: Any = buffer
        self.next_due = _INFINITY
        """When it decides next, as far as is known."""
        self.allocated = -1
        """Number of the lane that got a channel last."""
        self.ready: list[Any] = []
        self.spread = spread
        self.crossing = crossing
        """Whether links of this kind have a dateline."""
        self.half = 0 if buffer is None else len(buffer.channels) // 2

    # -- who comes -------------------------------------------------------------------------------------

    def enter(self, source: Server, packet: Packet, hop: int, flit: int, last: int, time: float) -> None:
        """Flits ``flit`` to ``last``, which came from ``source``, stand here from now on."""
        lane: Lane = self.lane_of(source, packet, hop)
        stay: Any = lane.rear
        if flit:
            if stay.packet is not packet:
                stay = self.find(lane, packet)
            stay.last = last
            stay.came = time
        else:
            self.came += 1
            stay = Stay.__new__(Stay)
            stay.prepare(packet, hop, last, time, self.came)
            if lane.first is not None:
                lane.rear.behind = stay
                lane.rear = stay
                return
            lane.first = lane.rear = stay
            lane.head_since = time if time > lane.free else lane.free
            self.at_head(lane, lane.head_since)
            return
        if lane.first is stay:
            self.wake(time if time > self.free else self.free)

    def lane_of(self, source: Server, packet: Packet, hop: int) -> Lane:
        """Where ``packet`` stands at this port."""
        channels = packet.channels
        if hop and channels is not None and channels[hop - 1] is not None and not packet.path.sinks[hop]:
            channel: VirtualChannel = channels[hop - 1]
            return channel.lane
        lane: Lane | None = self.lines.get(source)
        if lane is None:
            lane = self.lines[source] = Lane(source, source.index * self.spread, None)
        return lane

    def find(self, lane: Lane, packet: Packet) -> Stay:
        """The stay of ``packet`` in a lane in which flits of others came between its own."""
        stay: Any = lane.first
        while stay.packet is not packet:
            stay = stay.behind
        found: Stay = stay
        return found

    def at_head(self, lane: Lane, time: float) -> None:
        """The packet at the head of ``lane`` is for this port, from ``time`` on."""
        standing = self.standing
        place = len(standing)
        while place:
            before: Line = standing[place - 1]
            if before.number < lane.number:
                break
            place -= 1
        standing.insert(place, lane)
        self.wake(time)

    def wake(self, time: float) -> None:
        """Have it decide at ``time``, or before."""
        if time < self.next_due:
            self.next_due = time
            self.queue.put_last(time, _DECIDE, self.index, self)

    # -- who goes --------------------------------------------------------------------------------------

    def choose(self, now: float) -> Any:
        """The lane whose flit at the head goes now; None where none can."""
        self.next_due = _INFINITY
        if self.buffer is not None:
            self.allocate(now)
        if self.free > now:
            if self.standing:
                self.wake(self.free)
            return None
        ready = self.ready
        ready.clear()
        again = _INFINITY
        for lane in self.standing:
            when = self.possible(lane, now)
            if when <= now:
                ready.append(lane)
            elif when < again:
                again = when
        if not ready:
            if again < _INFINITY:
                self.wake(again)
            return None
        chosen: Lane = ready[self.pick(ready, self.last)]
        self.last = chosen.number
        return chosen

    def pick(self, lines: list[Any], last: int) -> int:
        """The arbiter's choice."""
        count = len(lines)
        if count == 1:
            return 0
        place = self.arbiter.pick(lines, last)
        if not 0 <= place < count:
            raise UsageError(
                f"arbiter '{type(self.arbiter).__name__}' of link '{self.resource}' picks line {place}, "
                f"expected 0 to {count - 1}"
            )
        return place

    def possible(self, lane: Lane, now: float) -> float:
        """When the flit at the head of ``lane`` can go: infinity where something has to happen first."""
        stay: Stay = lane.first
        if stay.flit > stay.last:
            return _INFINITY
        when = lane.free
        if when > now:
            return when
        own: VirtualChannel | None = lane.channel
        if own is not None:
            inside: Buffer = own.buffer
            if inside.reading > now:
                # Another channel of the same input is being read.
                if lane.blocked < 0.0:
                    lane.hold_up(now, inside.holder, inside)
                return inside.reading
        if self.buffer is not None:
            channel: VirtualChannel | None = stay.channel
            if channel is None:
                return self.without_channel(lane, stay, now)
            if stay.allocated > now:
                lane.let_go(now)
                return stay.allocated
            if not channel.credits(now):
                if lane.blocked < 0.0:
                    lane.hold_up(now, self.blocker(channel.lane, stay.packet.transaction), self.buffer)
                when = channel.coming.first()
                if when == _INFINITY:
                    channel.wanted = True
                return when
        if lane.blocked >= 0.0:
            lane.let_go(now)
        return when

    def blocker(self, lane: Lane, transaction: Transaction) -> Any:
        """Who is at the head of a full buffer; if that is ``transaction`` itself, who holds that up."""
        stay: Stay | None = lane.first
        if stay is None:
            return None
        if stay.packet.transaction is not transaction:
            return stay.packet.transaction
        if lane.blocked >= 0.0:
            return lane.behind
        port: Port = stay.packet.path.links[stay.hop].port
        return port.holder

    # -- channels --------------------------------------------------------------------------------------

    def free_channel(self, stay: Stay, now: float) -> Any:
        """Of the channels that a packet may have, the free one with most credits; None without."""
        buffer: Buffer = self.buffer
        best: Any = None
        most = -1
        for number in range(self.low(stay), self.high(stay)):
            channel: VirtualChannel = buffer.channels[number]
            if channel.taken or channel.free_from > now:
                continue
            credits = channel.credits(now)
            if credits > most:
                best = channel
                most = credits
        return best

    def low(self, stay: Stay) -> int:
        """The first channel that a packet may have."""
        return self.half if self.crossing and self.beyond(stay) else 0

    def high(self, stay: Stay) -> int:
        """The channel after the last one that it may have."""
        buffer: Buffer = self.buffer
        return len(buffer.channels) if not self.crossing or self.beyond(stay) else self.half

    def allocate(self, now: float) -> None:
        """Give free channels to the packets that are at the head of their lanes and have none."""
        while True:
            asking: Any = None
            for lane in self.standing:
                stay: Stay = lane.first
                if stay.channel is not None:
                    continue
                if lane.free > now:
                    self.wake(lane.free)
                elif self.free_channel(stay, now) is not None:
                    if asking is None:
                        asking = []
                    asking.append(lane)
                else:
                    # The link may be taken for longer than the channel (issue_ns).
                    self.wake(self.next_channel(stay))
            if asking is None:
                return
            chosen: Lane = asking[self.pick(asking, self.allocated)]
            self.allocated = chosen.number
            self.give(chosen, chosen.first, now)

    def give(self, lane: Lane, stay: Stay, now: float) -> None:
        """Give the packet at the head of ``lane`` a channel; there is a free one."""
        buffer: Buffer = self.buffer
        channel: VirtualChannel = self.free_channel(stay, now)
        packet = stay.packet
        channel.taken = True
        channel.holder = packet.transaction
        stay.channel = channel
        stay.allocated = now + buffer.allocation_ns
        if packet.channels is None:
            packet.channels = [None] * packet.path.hops
        packet.channels[stay.hop] = channel
        lane.let_go(now)
        if stay.allocated > now:
            self.wake(stay.allocated)

    def without_channel(self, lane: Lane, stay: Stay, now: float) -> float:
        """The head of ``lane`` has no channel: note who has them; returns when one is free, if known."""
        if lane.blocked < 0.0:
            buffer: Buffer = self.buffer
            first: VirtualChannel = buffer.channels[self.low(stay)]
            lane.hold_up(now, first.holder, buffer)
        return self.next_channel(stay)

    def next_channel(self, stay: Stay) -> float:
        """When the first of the channels that a packet may have is free: infinity where all are taken."""
        buffer: Buffer = self.buffer
        again = _INFINITY
        for number in range(self.low(stay), self.high(stay)):
            channel: VirtualChannel = buffer.channels[number]
            if not channel.taken and channel.free_from < again:
                again = channel.free_from
        return again

    def beyond(self, stay: Stay) -> bool:
        """Whether a packet has crossed a dateline, on this link or before."""
        links = stay.packet.path.links
        kind = self.link.kind
        for hop in range(stay.hop + 1):
            port = links[hop].port
            buffer = port.buffer if port is not None and port.buffered else None
            if buffer is not None and buffer.dateline and links[hop].kind == kind:
                return True
        return False

    # -- going -----------------------------------------------------------------------------------------

    def go(self, lane: Lane, now: float, end: float, arrival: float) -> None:
        """The flit at the head of ``lane`` is let go: it has left by ``end`` and is there at ``arrival``."""
        stay: Stay = lane.first
        packet = stay.packet
        flit = stay.flit
        stay.flit = flit + 1
        lane.free = end
        hop = stay.hop
        if self.buffer is not None:
            taken: VirtualChannel = stay.channel
            taken.left -= 1
            if packet.path.sinks[hop + 1]:
                taken.give_back(arrival + self.buffer.credit_ns)
                if flit == packet.last:
                    self.buffer.leave(arrival, packet.nbytes, 0.0, 0.0)
            if flit == 0:
                self.buffer.arrive(arrival)
        own: VirtualChannel | None = lane.channel
        if own is not None:
            inside: Buffer = own.buffer
            inside.reading = end
            inside.holder = packet.transaction
            own.give_back(end + inside.credit_ns)
            if flit == packet.last:
                inside.leave(end, packet.nbytes, 0.0, 0.0)
        if flit == packet.last:
            if self.buffer is not None:
                taken = stay.channel
                taken.taken = False
                taken.free_from = end
            self.standing.remove(lane)
            lane.pass_on(end)
            if lane.first is not None:
                following: Stay = lane.first
                port: BufferedPort = following.packet.path.links[following.hop].port
                port.at_head(lane, end)
        if self.standing:
            self.wake(end)

    def settle(self) -> None:
        """Forget the runs that nobody stands behind any more."""
        if not self.runs.count:
            return
        oldest = _INFINITY
        for lane in self.standing:
            if lane.head_since < oldest:
                oldest = lane.head_since
        self.forget_until(oldest)

    def note_waits(self, lane: Lane, now: float) -> float:
        """The last flit at the head of ``lane`` goes: note whom it stood behind, and where. Returns the ns.

        Until its packet was at the head, it stood behind others in the same buffer. From then on it was held
        up by whoever had no room for it, or stood behind others that the link carried.
        """
        stay: Stay = lane.first
        transaction: Transaction = stay.packet.transaction
        index = self.index
        own: VirtualChannel | None = lane.channel
        here = stay.came
        if own is None:
            total = lane.waits(transaction, index, here)
        else:
            total = lane.waits(transaction, own.buffer.index, here)
            own.buffer.wait_ns += total
        if lane.head_since > here:
            here = lane.head_since
        if stay.held is not None:
            for since, until, holder, where in stay.held:
                if until <= here:
                    continue
                if since > here:
                    total += transaction.note_waits(index, self, here, since)
                    here = since
                if holder is not None and holder is not transaction:
                    total += transaction.wait_for(holder.id, where.index, here, until)
                    where.wait_ns += until - here
                here = until
        if now > here:
            total += transaction.note_waits(index, self, here, now)
        return total
