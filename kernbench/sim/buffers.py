"""Finite buffers: virtual channels, credits, and the ports where they decide who goes on.

A link with buffers has, at its far end, room for so many flits in each of its virtual channels. A message
takes a channel with its first flit and gives it up with its last (wormhole switching). A flit is let go when
its channel has a credit, that is room at the far end; the credit comes back over the wire when the flit has
left the buffer. Flits leave a buffer in order of arrival: the one at its head holds up all behind it.

All of this is asked for by a topology (``links``); ports of links without it know nothing of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kernbench.sim.channels import ChannelPort
from kernbench.sim.lanes import Buffer, Lane, LaneStay, VirtualChannel
from kernbench.sim.port import Port, PortLine
from kernbench.sim.server import Server
from kernbench.sim.transaction import Transaction

if TYPE_CHECKING:
    from kernbench.sim.transaction import Packet

_INFINITY = float("inf")


class BufferedPort(ChannelPort):
    """The output of a node onto a link with buffers, or of a node that others reach over such links."""

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
            stay = self.spare
            if stay is None:
                stay = LaneStay.__new__(LaneStay)
            else:
                self.spare = stay.behind
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

    def find(self, lane: Lane, packet: Packet) -> LaneStay:
        """The stay of ``packet`` in a lane in which flits of others came between its own."""
        stay: Any = lane.first
        while stay.packet is not packet:
            stay = stay.behind
        found: LaneStay = stay
        return found

    def at_head(self, lane: Lane, time: float) -> None:
        """The packet at the head of ``lane`` is for this port, from ``time`` on."""
        self.seeking += 1
        standing = self.standing
        place = len(standing)
        while place:
            before: PortLine = standing[place - 1]
            if before.number < lane.number:
                break
            place -= 1
        standing.insert(place, lane)
        self.wake(time)

    # -- who goes --------------------------------------------------------------------------------------

    def choose(self, now: float) -> Any:
        """The lane whose flit at the head goes now; None where none can."""
        self.next_due = _INFINITY
        if self.seeking and self.buffer is not None:
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

    def possible(self, lane: Lane, now: float) -> float:
        """When the flit at the head of ``lane`` can go: infinity where something has to happen first."""
        stay: LaneStay = lane.first
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
                    lane.hold_up(now, self.blocker(channel.lane, stay.packet.transaction, now), self.buffer)
                when = channel.coming.first()
                if when == _INFINITY:
                    channel.wanted = True
                return when
        if lane.blocked >= 0.0:
            lane.let_go(now)
        return when

    def blocker(self, lane: Lane, transaction: Transaction, now: float) -> Any:
        """Who is at the head of a full buffer; who holds that up, if anybody, where it is ``transaction``."""
        stay: LaneStay | None = lane.first
        if stay is None:
            return None
        if stay.packet.transaction is not transaction:
            return stay.packet.transaction
        if lane.blocked >= 0.0:
            return lane.behind
        port: Port = stay.packet.path.links[stay.hop].port
        return port.holder if port.free > now else None

    # -- going -----------------------------------------------------------------------------------------

    def go(self, lane: Lane, now: float, end: float, arrival: float) -> None:
        """The flit at the head of ``lane`` is let go: it has left by ``end`` and is there at ``arrival``."""
        stay: LaneStay = lane.first
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
                following: LaneStay = lane.first
                port: BufferedPort = following.packet.path.links[following.hop].port
                port.at_head(lane, end)
            stay.forget()
            stay.behind = self.spare
            self.spare = stay
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
        stay: LaneStay = lane.first
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
