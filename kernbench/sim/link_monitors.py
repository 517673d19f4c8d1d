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
