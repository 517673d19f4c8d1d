"""What stands before links with finite buffers: packets in lanes, virtual channels with credits, buffers.

A flit leaves its buffer in order of arrival: the one at the head of a lane holds up all behind it. A virtual
channel has a credit for each flit that its buffer, at the far end of the link, has room for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kernbench.sim.holding import Departures, Runs
from kernbench.sim.port import Port, PortLine, PortRequest
from kernbench.sim.server import Server
from kernbench.sim.transaction import Transaction

if TYPE_CHECKING:
    from kernbench.sim.node import Link
    from kernbench.sim.transaction import Packet

_NAMED = 8


class LaneStay(PortRequest):
    """A packet at a port, whose flits up to ``last`` have come and those before ``flit`` have gone."""

    def prepare(self, packet: Packet, hop: int, last: int, since: float, order: int) -> None:
        """Make it that of a packet whose flits up to ``last`` have stood here since ``since``."""
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

    def forget(self) -> None:
        """Let go of what it was about: it is used again."""
        nothing: Any = None
        self.packet = nothing
        self.channel = self.held = nothing


class Lane(PortLine):
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
        """The buffer that is full, or from which another flit is being read."""

    def pass_on(self, end: float) -> None:
        """The last flit of the packet at the head has left at ``end``: the next one is at the head."""
        gone: PortRequest = self.first
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
            stay: LaneStay = self.first
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
            port: Port = self.buffer.link.port
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
