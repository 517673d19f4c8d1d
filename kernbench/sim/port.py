"""Where a decision is taken: flits stand at the output of a node, and an arbiter says which is next.

A link that serves first come first served needs none of this: when a flit comes, it is known when it will be
carried (:meth:`Server.occupy`). With any other arbiter a link has a port. Flits stand there in lines, one for
each input of the node. When the link is free, and nothing else is left to happen at that time, the arbiter
picks a line, and the link carries the flit at its head.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kernbench.errors import UsageError
from kernbench.sim.booked import Booked
from kernbench.sim.server import Server

if TYPE_CHECKING:
    from kernbench.sim.node import Link
    from kernbench.sim.transaction import Packet

_INFINITY = float("inf")


class PortRequest:
    """Flits ``flit`` to ``last`` of a packet, which came to a port together, at ``since`` ns.

    ``order`` is that in which requests came to this port.
    """

    def __init__(self, packet: Packet, hop: int, flit: int, last: int, since: float, order: int) -> None:
        self.packet = packet
        self.hop = hop
        """The node of its path where it stands."""
        self.flit = flit
        self.last = last
        self.since = since
        self.order = order
        self.behind: PortRequest | None = None


class PortLine:
    """What stands at a port and came by the same input, in order of arrival."""

    def __init__(self, source: Server) -> None:
        self.source = source
        """The link that it came by, or the node itself, for its own messages."""
        self.number = source.index
        """Place of ``source`` in the machine's table: nodes come first, links as the topology has them."""
        self.first: Any = None
        self.rear: Any = None


class Arbiter:
    """Says who is next at a port. There is one object for each link; a subclass may keep what it likes."""

    def __init__(self, link: Link) -> None:
        self.link = link

    def pick(self, lines: list[PortLine], last: int) -> int:
        """Which of ``lines`` is next: its place in the list.

        Asked when the link is free and flits stand in two lines or more.

        Args:
            lines: those in which something stands, by ``number``; not to be changed. ``line.first`` is what
                stands at its head: ``flit`` number so and so of its ``packet``, ``since`` so many ns.
            last: number of the line that was served last; -1 before the first.
        """
        raise NotImplementedError


class Port(Booked):
    """The output of a node onto ``link``: who stands there, and who has held the link while others stood."""

    def __init__(self, link: Link, arbiter: Arbiter) -> None:
        super().__init__(link.resource)
        self.index = link.index
        self.link = link
        self.arbiter = arbiter
        self.lines: dict[Server, Any] = {}
        self.standing: list[Any] = []
        """The lines in which something stands, by number."""
        self.last = -1
        self.came = 0
        self.due = False
        """Whether a decision lies in the event queue."""
        self.buffered = False
        """Whether it is a port of finite buffers (:mod:`kernbench.sim.buffers`)."""

    def join(self, source: Server, packet: Packet, hop: int, flit: int, last: int, time: float) -> None:
        """Flits ``flit`` to ``last``, which came from ``source``, stand here from now on."""
        line = self.lines.get(source)
        if line is None:
            line = self.lines[source] = PortLine(source)
        self.came += 1
        request = PortRequest(packet, hop, flit, last, time, self.came)
        if line.first is not None:
            line.rear.behind = request
            line.rear = request
            return
        line.first = line.rear = request
        standing = self.standing
        place = len(standing)
        while place:
            before = standing[place - 1]
            if before.number < line.number:
                break
            place -= 1
        standing.insert(place, line)

    def next(self) -> PortRequest:
        """The request whose turn it is; its flit is to be taken (:meth:`take`)."""
        standing = self.standing
        place = 0
        if len(standing) > 1:
            place = self.arbiter.pick(standing, self.last)
            if not 0 <= place < len(standing):
                raise UsageError(
                    f"arbiter '{type(self.arbiter).__name__}' of link '{self.resource}' picks line {place}, "
                    f"expected 0 to {len(standing) - 1}"
                )
        line = standing[place]
        self.last = line.number
        request: PortRequest = line.first
        if request.flit == request.last:
            line.first = request.behind
            if line.first is None:
                del standing[place]
        return request

    def wake(self, time: float) -> None:
        """Have it decide at ``time``, or before, for something that stands here is waiting for room."""
        raise NotImplementedError

    def settle(self) -> None:
        """Forget the runs that nobody stands behind any more."""
        if not self.runs.count:
            return
        oldest = _INFINITY
        for line in self.standing:
            first: PortRequest = line.first
            if first.since < oldest:
                oldest = first.since
        self.forget_until(oldest)
