"""Which virtual channel of a link a packet gets, and when: the stage before switch allocation.

Packets at the head of their queues ask for a channel of the buffer at the far end of the link. The arbiter of
the port says who gets one first; it is the free channel with most credits. Beyond a dateline a message may
have the upper half of the channels, before it the lower: messages that wait for each other form no cycle.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kernbench.engine.core.inputs import Buffer, InputQueue, QueueEntry

if TYPE_CHECKING:
    from kernbench.engine.core.port import Port

_INFINITY = float("inf")


class VcAllocation:
    """The allocation of the channels of ``buffer`` to what waits at ``port``.

    Args:
        port: The output of the link that fills the buffer.
        buffer: The buffers at the far end.
        crossing: Whether links of this kind have a dateline.
    """

    def __init__(self, port: Port, buffer: Buffer, crossing: bool) -> None:
        self.port = port
        self.buffer = buffer
        self.crossing = crossing
        self.half = len(buffer.channels) // 2
        self.reset()

    def reset(self) -> None:
        """See :meth:`Server.reset`."""
        self.unallocated = 0
        """Packets at the head of their queues that have no channel yet."""
        self.last_allocated = -1
        """Number of the input that last got a channel."""

    def allocate(self, now: float) -> None:
        """Give free channels to the packets that are at the head of their queues and have none."""
        port: Port = self.port
        while True:
            first: Any = None
            asking: Any = None  # a list only where two or more ask
            for queue in port.requesting:
                entry: QueueEntry = queue.first
                if entry.channel is not None:
                    continue
                if queue.free > now:
                    port.wake(queue.free)
                    continue
                when = self.next_channel(entry)
                if when > now:
                    # The link may be taken for longer than the channel (issue_ns).
                    port.wake(when)
                elif first is None:
                    first = queue
                elif asking is None:
                    asking = [first, queue]
                else:
                    asking.append(queue)
            if first is None:
                return
            chosen: InputQueue = first if asking is None else asking[port.pick(asking, self.last_allocated)]
            self.last_allocated = chosen.number
            self.give(chosen, chosen.first, now)
            if asking is None:
                return

    def give(self, queue: InputQueue, entry: QueueEntry, now: float) -> None:
        """Give the packet at the head of ``queue`` a channel; there is a free one."""
        buffer: Buffer = self.buffer
        channel: InputQueue = self.free_channel(entry, now)
        packet = entry.packet
        self.unallocated -= 1
        channel.taken = True
        channel.holder = packet.transaction
        entry.channel = channel
        entry.allocated = now + buffer.allocation_ns
        if packet.channels is None:
            packet.channels = [None] * packet.path.hops
        packet.channels[entry.hop] = channel
        queue.resume(now)
        if entry.allocated > now:
            self.port.wake(entry.allocated)

    def free_channel(self, entry: QueueEntry, now: float) -> Any:
        """The free channel with most credits that a packet may have; None if there is none."""
        buffer: Buffer = self.buffer
        best: Any = None
        most = -1
        for number in range(self.low(entry), self.high(entry)):
            channel: InputQueue = buffer.channels[number]
            if channel.taken or channel.free_from > now:
                continue
            credits = channel.credits(now)
            if credits > most:
                best = channel
                most = credits
        return best

    def next_channel(self, entry: QueueEntry) -> float:
        """When the first channel that a packet may have is free; infinity if all are taken."""
        buffer: Buffer = self.buffer
        again = _INFINITY
        for number in range(self.low(entry), self.high(entry)):
            channel: InputQueue = buffer.channels[number]
            if not channel.taken and channel.free_from < again:
                again = channel.free_from
        return again

    def low(self, entry: QueueEntry) -> int:
        """The first channel that a packet may have."""
        return self.half if self.crossing and self.beyond(entry) else 0

    def high(self, entry: QueueEntry) -> int:
        """The channel after the last one that it may have."""
        buffer: Buffer = self.buffer
        return len(buffer.channels) if not self.crossing or self.beyond(entry) else self.half

    def beyond(self, entry: QueueEntry) -> bool:
        """Whether a packet has crossed a dateline, on this link or before."""
        links = entry.packet.path.links
        kind = self.port.link.kind
        for hop in range(entry.hop + 1):
            port = links[hop].port
            buffer = None if port is None else port.buffer
            if buffer is not None and buffer.dateline and links[hop].kind == kind:
                return True
        return False

    def without_channel(self, queue: InputQueue, entry: QueueEntry, now: float) -> float:
        """The head of ``queue`` has no channel: note who has them; returns when one is free, if known."""
        if queue.stalled < 0.0:
            buffer: Buffer = self.buffer
            first: InputQueue = buffer.channels[self.low(entry)]
            queue.stall(now, first.holder, buffer)
        return self.next_channel(entry)
