"""Who gets a virtual channel of a link: packets at the head of their lanes, by the arbiter's choice.

A message takes a channel with its first flit and gives it up with its last (wormhole switching). Beyond a
dateline it may have the upper half of the channels, before it the lower, so that no cycle of channels closes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kernbench.errors import UsageError
from kernbench.sim.lanes import Buffer, Lane, LaneStay, VirtualChannel
from kernbench.sim.port import Arbiter, Port

if TYPE_CHECKING:
    from kernbench.sim.node import Link
    from kernbench.sim.queue import Queue

_DECIDE = 7
_INFINITY = float("inf")


class ChannelPort(Port):
    """The output of a node onto a link whose buffer has virtual channels; without a buffer there are none."""

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
        self.asking: list[Any] = []
        self.seeking = 0
        """Packets at the head of their lanes that have no channel yet."""
        self.spare: Any = None
        """Stays that are over and used again, by ``behind``: one is needed for each packet and hop."""
        self.spread = spread
        self.crossing = crossing
        """Whether links of this kind have a dateline."""
        self.half = 0 if buffer is None else len(buffer.channels) // 2

    def wake(self, time: float) -> None:
        """Have it decide at ``time``, or before."""
        if time < self.next_due:
            self.next_due = time
            self.queue.put_last(time, _DECIDE, self.index, self)

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

    def free_channel(self, stay: LaneStay, now: float) -> Any:
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

    def low(self, stay: LaneStay) -> int:
        """The first channel that a packet may have."""
        return self.half if self.crossing and self.beyond(stay) else 0

    def high(self, stay: LaneStay) -> int:
        """The channel after the last one that it may have."""
        buffer: Buffer = self.buffer
        return len(buffer.channels) if not self.crossing or self.beyond(stay) else self.half

    def allocate(self, now: float) -> None:
        """Give free channels to the packets that are at the head of their lanes and have none."""
        asking = self.asking
        while True:
            asking.clear()
            for lane in self.standing:
                stay: LaneStay = lane.first
                if stay.channel is not None:
                    continue
                if lane.free > now:
                    self.wake(lane.free)
                    continue
                when = self.next_channel(stay)
                if when <= now:
                    asking.append(lane)
                else:
                    # The link may be taken for longer than the channel (issue_ns).
                    self.wake(when)
            if not asking:
                return
            chosen: Lane = asking[self.pick(asking, self.allocated)]
            self.allocated = chosen.number
            self.give(chosen, chosen.first, now)
            if len(asking) == 1:
                return

    def give(self, lane: Lane, stay: LaneStay, now: float) -> None:
        """Give the packet at the head of ``lane`` a channel; there is a free one."""
        buffer: Buffer = self.buffer
        channel: VirtualChannel = self.free_channel(stay, now)
        packet = stay.packet
        self.seeking -= 1
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

    def without_channel(self, lane: Lane, stay: LaneStay, now: float) -> float:
        """The head of ``lane`` has no channel: note who has them; returns when one is free, if known."""
        if lane.blocked < 0.0:
            buffer: Buffer = self.buffer
            first: VirtualChannel = buffer.channels[self.low(stay)]
            lane.hold_up(now, first.holder, buffer)
        return self.next_channel(stay)

    def next_channel(self, stay: LaneStay) -> float:
        """When the first of the channels that a packet may have is free: infinity where all are taken."""
        buffer: Buffer = self.buffer
        again = _INFINITY
        for number in range(self.low(stay), self.high(stay)):
            channel: VirtualChannel = buffer.channels[number]
            if not channel.taken and channel.free_from < again:
                again = channel.free_from
        return again

    def beyond(self, stay: LaneStay) -> bool:
        """Whether a packet has crossed a dateline, on this link or before."""
        links = stay.packet.path.links
        kind = self.link.kind
        for hop in range(stay.hop + 1):
            port = links[hop].port
            buffer = port.buffer if port is not None and port.buffered else None
            if buffer is not None and buffer.dateline and links[hop].kind == kind:
                return True
        return False
