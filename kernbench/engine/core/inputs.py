"""What stands before an output: the queues of a node's inputs, and the buffers that limit them.

Flits wait where they came in. An input is the link that brought them or, for what the node sends itself, the
node; behind a link with virtual channels each of them is an input of its own. Each has a queue, in order of
arrival, and the head of it is all that an arbiter sees.

A link with buffers has, at its far end, room for so many flits in each of its virtual channels. A message
takes a channel with its first flit and gives it up with its last. A flit needs a credit of its channel, that
is room at the far end; the credit comes back over the wire when the flit has left the buffer. Credits on
their way are times in a heap and no events: a port counts those that are back when it decides, and is woken
for one only where a flit waits for it. All of this is asked for by a topology (``links``).

What an entry is depends on the port. Where there is room without limit, flits of several messages may come
by one input in turn, and none has to wait until another's message is complete: an entry is what came at one
time. With finite buffers an entry is a message, from its first flit to its last (wormhole switching): it
holds its place, and its virtual channel, and all behind it stand. Entries are used again, as one is needed
for each message and hop.

An input also keeps who was at its head when, and by whom the one there now is stalled, so that a wait can be
told to be behind somebody in the same buffer, or for room in the next one.

Also tried: a message back for each credit (an event a flit, nearly always for nobody), and room counted at
the receiver (a sender would know it before the wire tells).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kernbench.engine.core.holding import Departures
from kernbench.engine.core.occupancy import OccupancyLog
from kernbench.engine.core.server import Server
from kernbench.engine.core.transaction import Transaction

if TYPE_CHECKING:
    from kernbench.engine.core.node import Link
    from kernbench.engine.core.port import Port
    from kernbench.engine.core.transaction import Packet

_INFINITY = float("inf")


class QueueEntry:
    """Flits ``flit`` to ``last`` of a packet; the first of these arrived at ``since`` ns.

    ``order`` numbers entries as they came to their port.
    """

    def prepare(self, packet: Packet, hop: int, flit: int, last: int, since: float, order: int) -> None:
        """Make it the entry of a packet whose flits have waited here since ``since``."""
        self.packet = packet
        self.hop = hop
        """The node of its path where it waits."""
        self.flit = flit
        self.last = last
        self.since = since
        self.order = order
        self.behind: Any = None
        """The entry behind it; for a free entry, the next free one."""
        self.came = since
        """When the newest flit arrived."""
        self.channel: Any = None
        """Its virtual channel, if the link has buffers."""
        self.allocated = 0.0
        """From when on it can use that channel."""
        self.stalls: list[tuple[float, float, Any, Buffer]] | None = None
        """From when to when it was stalled at the head of its queue, by whom, and which buffer was full."""

    def forget(self) -> None:
        """Drop its references."""
        nothing: Any = None
        self.packet = nothing
        self.channel = self.stalls = nothing


class InputQueue:
    """What arrived by one input and waits, in order of arrival.

    With a ``buffer`` it is one of the buffer's virtual channels: it has a holder, and its sender has credits.
    """

    def __init__(
        self, source: Server, number: int, by_message: bool, buffer: Any = None, vc: int = 0
    ) -> None:
        self.source = source
        """The link that it came by, or the node itself, for its own messages."""
        self.number = number
        """Orders the inputs of a port: the node's own messages first, then links as the topology has them."""
        self.buffer = buffer
        """Its buffer; None if unlimited."""
        self.vc = vc
        """Its number in the buffer."""
        self.by_message = by_message
        self.reset()

    def reset(self) -> None:
        """See :meth:`Server.reset`."""
        self.first: Any = None
        self.rear: Any = None
        self.free = 0.0
        """When the last flit has left it."""
        self.head_since = 0.0
        """When the entry at the head got there."""
        self.log: Any = OccupancyLog() if self.by_message else None
        """Which messages were there before, as far as anyone behind them still stands."""
        self.stalled = -1.0
        """When the flit at the head was stalled; -1 if it is not."""
        self.stalled_by: Any = None
        """The transaction that stalls it."""
        self.full_buffer: Any = None
        """The buffer that is full, or from which another flit is being read."""
        if self.buffer is None:
            return
        self.taken = False
        self.holder: Any = None
        """The transaction that has the channel, or had it last."""
        self.free_from = 0.0
        """From when on another packet can take it, once it is free."""
        self.left: int = self.buffer.flits
        """Number of credits that have come back."""
        self.coming = Departures()
        """When credits in flight come back."""
        self.wanted = False
        """Whether a flit waits for one of its credits without knowing when one comes."""

    def credits(self, now: float) -> int:
        """Credits that the sender has at ``now``."""
        self.left += self.coming.gone(now)
        return self.left

    def give_back(self, time: float) -> None:
        """A credit reaches the sender at ``time``."""
        self.coming.add(time)
        if self.wanted:
            self.wanted = False
            port: Port = self.buffer.link.port
            port.wake(time)

    def append(self, entry: QueueEntry) -> bool:
        """Add an entry; return whether it is at the head."""
        if self.first is not None:
            self.rear.behind = entry
            self.rear = entry
            return False
        self.first = self.rear = entry
        self.head_since = entry.since if entry.since > self.free else self.free
        return True

    def pop(self, end: float) -> None:
        """Remove the entry at the head, which has left at ``end``."""
        gone: QueueEntry = self.first
        following: Any = gone.behind
        self.first = following
        if self.log is None or not gone.packet.transaction.traced:
            return
        self.log.add(self.head_since, end, gone.packet.transaction)
        self.head_since = end
        runs = self.log.runs
        # The newest one is kept: another packet may come while its last flit is still leaving.
        while runs.count > 1 and (following is None or runs.end(0) <= following.since):
            runs.drop_oldest()

    def stall(self, now: float, by: Any, full: Buffer) -> None:
        """Note that the flit at the head is stalled from ``now`` on, by a transaction or by nobody (None)."""
        self.stalled = now
        self.stalled_by = by
        self.full_buffer = full

    def resume(self, now: float) -> None:
        """Note that the flit at the head is no longer stalled."""
        since = self.stalled
        if since < 0.0:
            return
        self.stalled = -1.0
        entry: QueueEntry = self.first
        if now > since and entry.packet.transaction.traced:
            if entry.stalls is None:
                entry.stalls = []
            entry.stalls.append((since, now, self.stalled_by, self.full_buffer))

    def note_waits(self, transaction: Transaction, resource: int, since: float) -> float:
        """Note whom ``transaction`` stood behind here until it was at the head; returns for how long, ns."""
        until = self.head_since
        if until <= since:
            return 0.0
        log = self.log
        n = log.blockers(transaction, since, until, None, _INFINITY, _INFINITY)
        return transaction.note_blockers(resource, log, n)


class Buffer(Server):
    """The input buffers at the far end of ``link``: ``vcs`` virtual channels of ``flits`` flits each.

    Args:
        resource: Their name.
        link: The link that fills them.
        flits: Size of each.
        vcs: Number of virtual channels.
        credit_ns: Time from when a flit has left until the sender knows it.
        allocation_ns: Time that a message at its turn takes to get a channel.
        dateline: Messages go on in the upper half of the channels from this link on, in the lower half before
            any such link.
        spread: Numbers between the inputs of one link and those of the next.
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
        spread = spread or vcs
        self.channels: list[InputQueue] = []
        for number in range(vcs):
            self.channels.append(InputQueue(link, link.index * spread + number, True, self, number))
        Buffer.reset(self)

    def reset(self) -> None:
        """See :meth:`Server.reset`."""
        Server.reset(self)
        self.reading = 0.0
        """When the flit that leaves any of its channels has done so: they are read one at a time."""
        for channel in self.channels:
            channel.reset()
