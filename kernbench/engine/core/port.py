"""The output of a node where an arbiter decides: allocation of channels, then of the switch.

A link that serves first come first served needs no port: when a flit comes, it is known when it will be
carried (:meth:`Link.reserve`). With another arbiter, or with finite buffers, flits stand in the queues of
their inputs (:mod:`kernbench.engine.core.inputs`), and the stages of a router follow, as in any textbook:

request
    A flit comes to the head of its queue, or behind others there (:meth:`Port.request`). The port decides
    when its link is free and nothing else is left to happen at that time, so that it sees all that has come.
VC allocation
    Packets at the head of their queues get free channels, one after the other
    (:mod:`kernbench.engine.core.vc_allocation`).
switch allocation
    Of the flits that can go (:meth:`Port.ready_from`) the arbiter picks one (:meth:`Port.arbitrate`).
traversal and delivery
    The fabric has the link carry it (``Fabric.grant``); then :meth:`Port.sent` gives credits back and lets
    the next one to the head.

A port whose buffers have no limit goes the same way: it has no channels to give out, nothing stalls, and an
entry is what came at one time rather than a message. Also tried: a port of its own for that case (the same
queues and the same decision twice), and a decision in every cycle, as simulators by cycle have it: nine of
ten find nothing that could go.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kernbench.engine.core.inputs import Buffer, InputQueue, QueueEntry
from kernbench.engine.core.server import ArbitratedServer, Server
from kernbench.engine.core.transaction import Transaction
from kernbench.engine.core.vc_allocation import VcAllocation
from kernbench.errors import UsageError

if TYPE_CHECKING:
    from kernbench.engine.core.node import Link
    from kernbench.engine.core.queue import Queue
    from kernbench.engine.core.transaction import Packet

_DECIDE = 7
_INFINITY = float("inf")


class Arbiter:
    """Chooses who is next at a port. Each link has its own arbiter, which may keep state.

    ``inputs`` are the inputs of the link's node, known before the first choice: the node, for its own
    messages, then the links that lead to it, in the order of the topology. ``lines[i].source`` is one of
    them.
    """

    def __init__(self, link: Link) -> None:
        self.link = link
        self.inputs: tuple[Server, ...] = ()

    def reset(self) -> None:
        """Forget the run: the next one begins. One that keeps nothing of it has nothing to do."""

    def pick(self, lines: list[InputQueue], last: int) -> int:
        """The index in ``lines`` of the queue that is next.

        Called when the link is free and flits wait in at least two queues.

        Args:
            lines: the queues that are not empty, by ``number``; not to be changed. ``line.first`` is the
                entry at the head: flit number ``flit`` of ``packet``, which has waited since ``since`` ns.
            last: number of the queue that was served last; -1 before the first.
        """
        raise NotImplementedError


class Port(ArbitratedServer):
    """The output onto ``link``.

    Args:
        link: What it leads to.
        arbiter: Who decides.
        queue: The event queue.
        buffer: The buffers at the far end of the link; None: room without limit.
        by_message: Entries of its inputs are messages: it has a buffer, or others reach its node over links
            that have one.
        spread: Numbers between the inputs of one link and those of the next.
        crossing: Whether links of this kind have a dateline.
    """

    def __init__(
        self,
        link: Link,
        arbiter: Arbiter,
        queue: Queue,
        buffer: Buffer | None = None,
        *,
        by_message: bool = False,
        spread: int = 1,
        crossing: bool = False,
    ) -> None:
        super().__init__(link.resource)
        self.index = link.index
        self.link = link
        self.arbiter = arbiter
        self.queue = queue
        self.buffer: Any = buffer
        self.by_message = by_message
        self.spread = spread
        self.allocation: Any = None if buffer is None else VcAllocation(self, buffer, crossing)
        Port.reset(self)

    def reset(self) -> None:
        """See :meth:`Server.reset`."""
        ArbitratedServer.reset(self)
        self.arbiter.reset()
        self.inputs: dict[Server, Any] = {}
        self.requesting: list[Any] = []
        """The inputs whose head wants this output, by number."""
        if self.allocation is not None:
            self.allocation.reset()
        self.last_granted = -1
        """Number of the input that was last served."""
        self.next_due = _INFINITY
        """The next time at which it is known to decide, ns."""
        self.requests = 0
        self.spare: Any = None
        """Free entries, linked by ``behind``."""

    def wake(self, time: float) -> None:
        """Let the port decide at ``time`` or earlier."""
        if time < self.next_due:
            self.next_due = time
            self.queue.put_at_end(time, _DECIDE, self.index, self)

    # -- request ---------------------------------------------------------------------------------------

    def request(self, source: Server, packet: Packet, hop: int, flit: int, last: int, time: float) -> None:
        """Take flits ``flit`` to ``last`` from ``source``, which wait here from now on."""
        queue: InputQueue = self.input_of(source, packet, hop)
        entry: Any = queue.rear
        if flit and self.by_message:
            if entry.packet is not packet:
                entry = self.find(queue, packet)
            entry.last = last
            entry.came = time
            if queue.first is entry:
                self.wake(time if time > self.free else self.free)
            return
        self.requests += 1
        entry = self.spare
        if entry is None:
            entry = QueueEntry.__new__(QueueEntry)
        else:
            self.spare = entry.behind
        entry.prepare(packet, hop, flit, last, time, self.requests)
        if queue.append(entry):
            self.at_head(queue, queue.head_since if self.by_message else max(time, self.free))

    def input_of(self, source: Server, packet: Packet, hop: int) -> InputQueue:
        """The queue in which ``packet`` waits at this port."""
        channels = packet.channels
        if hop and channels is not None and channels[hop - 1] is not None and not packet.path.sinks[hop]:
            queue: InputQueue | None = channels[hop - 1]
        else:
            queue = self.inputs.get(source)
        if queue is None:
            queue = self.inputs[source] = InputQueue(source, source.index * self.spread, self.by_message)
        return queue

    def find(self, queue: InputQueue, packet: Packet) -> QueueEntry:
        """The entry of ``packet`` in a queue in which flits of others came between its own."""
        entry: Any = queue.first
        while entry.packet is not packet:
            entry = entry.behind
        found: QueueEntry = entry
        return found

    def at_head(self, queue: InputQueue, time: float) -> None:
        """Register the head of ``queue``, which wants this output from ``time`` on."""
        if self.allocation is not None:
            self.allocation.unallocated += 1
        requesting = self.requesting
        place = len(requesting)
        while place:
            before: InputQueue = requesting[place - 1]
            if before.number < queue.number:
                break
            place -= 1
        requesting.insert(place, queue)
        self.wake(time)

    # -- switch allocation -----------------------------------------------------------------------------

    def arbitrate(self, now: float) -> Any:
        """The input whose head flit goes now; None if none can."""
        self.next_due = _INFINITY
        if self.allocation is not None and self.allocation.unallocated:
            self.allocation.allocate(now)
        if self.free > now:
            if self.requesting:
                self.wake(self.free)
            return None
        first: Any = None
        ready: Any = None  # a list only where two or more are
        again = _INFINITY
        for queue in self.requesting:
            when = self.ready_from(queue, now)
            if when > now:
                if when < again:
                    again = when
            elif first is None:
                first = queue
            elif ready is None:
                ready = [first, queue]
            else:
                ready.append(queue)
        if first is None:
            if again < _INFINITY:
                self.wake(again)
            return None
        chosen: InputQueue = first if ready is None else ready[self.pick(ready, self.last_granted)]
        self.last_granted = chosen.number
        return chosen

    def pick(self, lines: list[Any], last: int) -> int:
        """The arbiter's choice."""
        count = len(lines)
        place = self.arbiter.pick(lines, last)
        if not 0 <= place < count:
            raise UsageError(
                f"arbiter '{type(self.arbiter).__name__}' of link '{self.resource}' picks line {place}, "
                f"expected 0 to {count - 1}"
            )
        return place

    def ready_from(self, queue: InputQueue, now: float) -> float:
        """When the flit at the head of ``queue`` can go; infinity if something has to happen first.

        It must have arrived, the one before it must have left, no flit of another channel of the same input
        may be being read, and it needs a channel of the link and a credit of that channel.
        """
        entry: QueueEntry = queue.first
        if entry.flit > entry.last:
            return _INFINITY
        when = queue.free
        if when > now:
            return when
        inside: Buffer | None = queue.buffer
        if inside is not None and inside.reading > now:
            if queue.stalled < 0.0:
                queue.stall(now, inside.holder, inside)
            return inside.reading
        if self.buffer is not None:
            channel: InputQueue | None = entry.channel
            if channel is None:
                allocation: VcAllocation = self.allocation
                return allocation.without_channel(queue, entry, now)
            if entry.allocated > now:
                queue.resume(now)
                return entry.allocated
            if not channel.credits(now):
                if queue.stalled < 0.0:
                    by = self.blocker(channel, entry.packet.transaction, now)
                    queue.stall(now, by, self.buffer)
                when = channel.coming.first()
                if when == _INFINITY:
                    channel.wanted = True
                return when
        if queue.stalled >= 0.0:
            queue.resume(now)
        return when

    def blocker(self, queue: InputQueue, transaction: Transaction, now: float) -> Any:
        """The transaction at the head of a full buffer, or, if that is ``transaction``, whoever stalls it."""
        entry: QueueEntry | None = queue.first
        if entry is None:
            return None
        if entry.packet.transaction is not transaction:
            return entry.packet.transaction
        if queue.stalled >= 0.0:
            return queue.stalled_by
        port: Port = entry.packet.path.links[entry.hop].port
        return port.holder if port.free > now else None

    # -- after traversal -------------------------------------------------------------------------------

    def sent(self, queue: InputQueue, now: float, end: float, arrival: float) -> None:
        """Send the head flit of ``queue``: it has left by ``end`` and arrives at ``arrival``."""
        entry: QueueEntry = queue.first
        packet = entry.packet
        flit = entry.flit
        over = flit == packet.last
        entry.flit = flit + 1
        queue.free = end
        if self.buffer is not None:
            taken: InputQueue = entry.channel
            taken.left -= 1
            if packet.path.sinks[entry.hop + 1]:
                taken.give_back(arrival + self.buffer.credit_ns)
                if over:
                    self.buffer.leave(arrival, packet.nbytes, 0.0, 0.0)
            if flit == 0:
                self.buffer.arrive(arrival)
            if over:
                taken.taken = False
                taken.free_from = end
        inside: Buffer | None = queue.buffer
        if inside is not None:
            inside.reading = end
            inside.holder = packet.transaction
            queue.give_back(end + inside.credit_ns)
            if over:
                inside.leave(end, packet.nbytes, 0.0, 0.0)
        again = end if self.by_message else self.free
        if over or (entry.flit > entry.last and not self.by_message):
            self.withdraw(queue)
            queue.pop(end)
            if queue.first is not None:
                following: QueueEntry = queue.first
                port: Port = following.packet.path.links[following.hop].port
                port.at_head(queue, again)
            entry.forget()
            entry.behind = self.spare
            self.spare = entry
        if self.requesting:
            self.wake(again)
        if self.log.runs.count:
            self.forget_past()

    def withdraw(self, queue: InputQueue) -> None:
        """Unregister the head of ``queue``, which no longer wants this output."""
        requesting = self.requesting
        place = 0
        while requesting[place] is not queue:
            place += 1
        del requesting[place]

    def forget_past(self) -> None:
        """Drop runs that nobody waits behind any more."""
        oldest = _INFINITY
        for queue in self.requesting:
            since = queue.head_since if self.by_message else queue.first.since
            if since < oldest:
                oldest = since
        self.log.forget_until(oldest)

    def note_waits(self, queue: InputQueue, now: float) -> float:
        """Note whom the head of ``queue``, whose last flit goes, waited for, and where; return the ns.

        Until its packet was at the head, it waited for others in the same buffer. From then on it was
        stalled by whoever had no room for it, or waited for others that the link carried.
        """
        entry: QueueEntry = queue.first
        transaction: Transaction = entry.packet.transaction
        if not transaction.traced:
            return 0.0
        index = self.index
        here = entry.came
        total = 0.0
        if self.by_message:
            inside: Buffer | None = queue.buffer
            total = queue.note_waits(transaction, index if inside is None else inside.index, here)
            if inside is not None:
                inside.wait_ns += total
            if queue.head_since > here:
                here = queue.head_since
        if entry.stalls is not None:
            for since, until, holder, where in entry.stalls:
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
