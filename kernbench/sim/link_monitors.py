"""The monitors of links: from what stands before a link, when each flit must be across."""

from __future__ import annotations

from collections import deque
from heapq import heappop, heappush
from typing import Any

from kernbench.errors import InvariantError
from kernbench.sim.fifo_monitor import FifoMonitor, describe, slack, violation
from kernbench.sim.node import TRANSIT, Link
from kernbench.sim.server import Server
from kernbench.sim.transaction import Packet

Standing = tuple[float, int, int, "InFlight", int, int]
"""A flit before a link: when it came, its place among those of that time (two numbers), packet, hop, flit."""


class LinkQueue:
    """The queue before a link that serves first come first served."""

    def __init__(self, link: Link, flit_bytes: int) -> None:
        self.link = link
        self.flit_bytes = flit_bytes
        self.waiting: list[Standing] = []
        self.end = 0.0
        """When the link is free."""
        self.nbytes = 0
        self.packets = 0

    def stand(self, flit: Standing) -> None:
        """A flit stands here, now or later."""
        heappush(self.waiting, flit)

    def serve(self, time: float) -> None:
        """Serve the flits that stood here up to ``time``."""
        link, waiting = self.link, self.waiting
        while waiting and waiting[0][0] <= time:
            arrived, _, _, flight, hop, flit = heappop(waiting)
            end = (arrived if arrived > self.end else self.end) + self.takes_ns(flight.packet, flit)
            flight.due[hop + 1].append((flit, end + link.delay_ns))
            self.end = end + self.issue_ns(flight.packet, flit)

    def issue_ns(self, packet: Packet, flit: int) -> float:
        """How long a message still takes the link behind its last flit."""
        return self.link.issue_ns if flit == packet.last else 0.0

    def takes_ns(self, packet: Packet, flit: int) -> float:
        """How long the link is busy with a flit."""
        size = packet.last_bytes if flit == packet.last else self.flit_bytes
        return size / self.link.bw_gbs


class PortMonitor(LinkQueue):
    """What stands before a link at which an arbiter decides, in a line for each input.

    The arbiter's choice is its own. It must be the head of a line, and be made as soon as the link is free.
    """

    def __init__(self, link: Link, flit_bytes: int) -> None:
        super().__init__(link, flit_bytes)
        self._lines: dict[Server, list[Standing]] = {}
        link.port.watcher = self

    def stand(self, flit: Standing) -> None:
        """See :meth:`LinkQueue.stand`."""
        packet, hop = flit[3].packet, flit[4]
        source = packet.links[hop - 1] if hop else packet.nodes[0]
        heappush(self._lines.setdefault(source, []), flit)

    def occupied(self, port: Server, time: float, duration: float, start: float, owner: Any) -> None:
        """The port has decided: ``owner`` is carried for ``duration`` ns from ``start`` on."""
        allowed = slack(start)
        heads = [line for line in self._lines.values() if line and line[0][0] <= start + allowed]
        mine = next((line for line in heads if line[0][3].packet.transaction is owner), None)
        if mine is None:
            raise self._wrong("order", owner, start, "goes though none of its flits is at the head of a line")
        earliest = min(line[0][0] for line in heads)
        _, _, _, flight, hop, flit = heappop(mine)
        if start < self.end - allowed:
            what = f"flit {flit} is let on while another is until {self.end:.6f} ns"
            raise self._wrong("capacity", owner, start, what)
        if start > max(earliest, self.end) + allowed:
            what = f"flit {flit} is let on, though one has stood since {earliest:.6f} ns before an idle link"
            raise self._wrong("work", owner, start, what)
        needed, behind = self.takes_ns(flight.packet, flit), self.issue_ns(flight.packet, flit)
        if abs(duration - needed - behind) > allowed:
            what = f"flit {flit} takes {duration:.6f} ns, expected {needed + behind:.6f} ns"
            raise self._wrong("capacity", owner, start, what)
        self.end = start + needed + behind
        flight.due[hop + 1].append((flit, start + needed + self.link.delay_ns))

    def _wrong(self, invariant: str, owner: Any, time: float, what: str) -> InvariantError:
        return violation(invariant, describe(owner), self.link.resource, time, what)


class BufferMonitor(LinkQueue):
    """What stands before a link of finite buffers, or one that leaves a node reached by such links.

    Who goes next depends on rooms far away, so that a flit which waits is no error by itself. But no flit
    goes before its turn in its message, messages do not mix in a channel, and a channel never has more flits
    under way than its buffer has room for.
    """

    def __init__(self, link: Link, flit_bytes: int, users: set[int]) -> None:
        super().__init__(link, flit_bytes)
        self._users = users
        self._standing: dict[int, deque[tuple[float, InFlight, int, int]]] = {}
        """The flits that stand here, by transaction, in order."""
        self._open: dict[int, Packet] = {}
        """Packets that have begun to cross and have not ended, by channel."""
        self._sent: dict[int, int] = {}
        """Flits that were sent over a channel and whose credits have not come back."""
        self._back: dict[int, list[float]] = {}
        """When credits come back, by channel."""
        link.port.watcher = self

    def stand(self, flit: Standing) -> None:
        """See :meth:`LinkQueue.stand`."""
        time, _, _, flight, hop, number = flit
        owner = flight.packet.transaction.id
        self._users.add(owner)
        self._standing.setdefault(owner, deque()).append((time, flight, hop, number))

    def occupied(self, port: Server, time: float, duration: float, start: float, owner: Any) -> None:
        """The port has decided: ``owner`` is carried for ``duration`` ns from ``start`` on."""
        allowed = slack(start)
        mine = self._standing.get(owner.id)
        if not mine or mine[0][0] > start + allowed:
            raise self._wrong("order", owner, start, "goes though no flit of it stands here")
        _, flight, hop, flit = mine.popleft()
        if start < self.end - allowed:
            what = f"flit {flit} is let on while another is until {self.end:.6f} ns"
            raise self._wrong("capacity", owner, start, what)
        packet = flight.packet
        needed = self.takes_ns(packet, flit)
        taken = needed + self.issue_ns(packet, flit)
        if abs(duration - taken) > allowed:
            what = f"flit {flit} takes {duration:.6f} ns, expected {taken:.6f} ns"
            raise self._wrong("capacity", owner, start, what)
        self.end = start + taken
        there = start + needed + self.link.delay_ns
        flight.due[hop + 1].append((flit, there))
        if self.link.port.buffer is not None:
            self._crosses(flight, hop, flit, start, there)
        before = flight.way.queues[hop - 1] if hop else None
        if isinstance(before, BufferMonitor) and not packet.path.sinks[hop]:
            before.emptied(packet, hop - 1, start + needed)

    def emptied(self, packet: Packet, hop: int, time: float) -> None:
        """A flit has left the buffer at the far end at ``time``."""
        buffer = self.link.port.buffer
        if buffer is not None:
            self._back.setdefault(packet.channels[hop].number, []).append(time + buffer.credit_ns)

    def _crosses(self, flight: InFlight, hop: int, flit: int, start: float, there: float) -> None:
        packet, buffer = flight.packet, self.link.port.buffer
        channel = packet.channels[hop].number
        if self._open.setdefault(channel, packet) is not packet:
            what = f"flit {flit} goes over channel {channel} between flits of another message"
            raise self._wrong("order", packet.transaction, start, what)
        if flit == packet.last:
            del self._open[channel]
        back = self._back.setdefault(channel, [])
        returned = [time for time in back if time <= start + slack(start)]
        self._back[channel] = back[len(returned) :]
        under_way = self._sent.get(channel, 0) - len(returned) + 1
        if under_way > buffer.flits:
            what = f"flit {flit} goes without a credit of channel {channel}"
            raise self._wrong("credits", packet.transaction, start, what)
        self._sent[channel] = under_way
        if packet.path.sinks[hop + 1]:
            self.emptied(packet, hop, there)

    def _wrong(self, invariant: str, owner: Any, time: float, what: str) -> InvariantError:
        return violation(invariant, describe(owner), self.link.resource, time, what)


class Way:
    """What is looked up for each flit on a path, once: the queue of each link; of each node whether it passes
    flits on, and the monitor of its worker."""

    __slots__ = ("hops", "monitors", "passes", "queues", "reassembles")

    def __init__(self, packet: Packet, queues: list[LinkQueue], monitors: list[FifoMonitor | None]) -> None:
        self.hops = len(queues)
        self.queues = queues
        self.monitors = monitors
        self.passes = [node.role == TRANSIT for node in packet.nodes]
        self.reassembles = packet.reassembles


class InFlight:
    """A packet in flight: for each node, the flits that are due there and when."""

    __slots__ = ("due", "packet", "way")

    def __init__(self, packet: Packet, way: Way) -> None:
        self.packet = packet
        self.way = way
        self.due: list[deque[tuple[int, float]]] = [deque() for _ in way.passes]
