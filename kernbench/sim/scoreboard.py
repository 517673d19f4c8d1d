"""A scoreboard: every flit must reach every node when FIFO servers let it.

:class:`ScoreboardFabric` is the fabric of a checked machine. It moves packets as every fabric does, and looks
at what components send and which flits arrive where. For each link it keeps a queue of its own and works out
when each flit must be over (:mod:`kernbench.sim.link_monitors`); a flit that comes earlier or later has
overtaken others, overlapped with them, or been left waiting by an idle link.
:class:`~kernbench.sim.fifo_monitor.FifoMonitor` does the same for workers, pseudo-channels and the ports of
memories. Nothing here runs unless invariants are checked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import count
from typing import Any

from kernbench.errors import InvariantError
from kernbench.sim.clock import Clock
from kernbench.sim.columns import Doubles
from kernbench.sim.fabric import Fabric
from kernbench.sim.fifo_monitor import FifoMonitor, describe, slack, violation
from kernbench.sim.link_monitors import BufferMonitor, InFlight, LinkQueue, PortMonitor, Way
from kernbench.sim.node import FabricNode, Link
from kernbench.sim.server import Server
from kernbench.sim.transaction import NODE_OUT, Packet, Path, Transaction


class ScoreboardFabric(Fabric):
    """Checks what every fabric does."""

    def __init__(self, clock: Clock, flit_bytes: int) -> None:
        super().__init__(clock, flit_bytes)
        self._order = count()
        self._queues: dict[Link, LinkQueue] = {}
        self._monitors: dict[Server, FifoMonitor] = {}
        self._ways: dict[Path, Way] = {}
        self._held: dict[tuple[int, int], list[InFlight]] = {}
        self._time = 0.0
        self.in_flight: dict[Packet, InFlight] = {}
        """Packets in flight."""
        self.open: dict[int, int] = {}
        """Packets in flight by transaction."""
        self.carried: dict[int, int] = {}
        """Bytes that have reached the end of a packet's path, by transaction."""
        self.users: dict[int, set[int]] = {}
        """Transactions that have been at a resource, by its number."""
        self.at_buffers: set[int] = set()
        """Transactions that have been at finite buffers: whoever waits for room may wait for one far away."""
        self.within: dict[int, int] = {}
        """Number of the component that a resource is part of; hops are recorded at the component."""

    def watch(self, node: FabricNode, servers: Iterable[Server]) -> None:
        """Check the uses of a component and of the ``servers`` that it holds."""
        for server in (node, *servers):
            if server not in self._monitors:
                self._monitors[server] = FifoMonitor(server, self._note_user(node, server))

    def _note_user(self, node: FabricNode, server: Server) -> Callable[[Any], None]:
        """Notes who occupies ``server``: as a user of it, where it is a resource, else of its ``node``."""
        location = node.index
        if server.index >= 0 and server is not node:
            location = server.index
            self.within[location] = node.index
        users = self.users.setdefault(location, set())

        def used(owner: Any) -> None:
            if isinstance(owner, Transaction):
                users.add(owner.id)

        return used

    # -- what components ask for ----------------------------------------------------------------------

    def send(self, packet: Packet) -> None:
        """See :meth:`Fabric.send`."""
        flight = self._begin(packet)
        for flit in range(packet.last + 1):
            self._stand(flight, 0, flit, self.clock.time)
        Fabric.send(self, packet)

    def send_together(self, packets: Sequence[Packet]) -> None:
        """See :meth:`Fabric.send_together`."""
        self._stand_together([self._begin(packet) for packet in packets], 0, self.clock.time)
        Fabric.send_together(self, packets)

    def stream(self, packet: Packet, times: Doubles | Sequence[float]) -> None:
        """See :meth:`Fabric.stream`."""
        flight = self._begin(packet)
        before = self.clock.time
        for flit, time in enumerate(times):
            if time < before:
                raise violation(
                    "order", describe(packet.transaction), packet.nodes[0].resource, time,
                    f"flit {flit} is given out before {before:.6f} ns",
                )  # fmt: skip
            # At equal times flits that memories give out go by transaction, before what is sent then.
            self._stand(flight, 0, flit, time, (0, packet.key + flit))
            before = time
        Fabric.stream(self, packet, times)

    def stream_singly(self, packet: Packet) -> None:
        """See :meth:`Fabric.stream_singly`."""
        self._begin(packet)
        Fabric.stream_singly(self, packet)

    def stream_flit(self, packet: Packet, flit: int, time: float) -> None:
        """See :meth:`Fabric.stream_flit`."""
        self._stand(self.in_flight[packet], 0, flit, time, (0, packet.key + flit))
        Fabric.stream_flit(self, packet, flit, time)

    # -- the watch ------------------------------------------------------------------------------------

    def _begin(self, packet: Packet) -> InFlight:
        number = packet.transaction.id
        flight = self.in_flight[packet] = InFlight(packet, self._ways.get(packet.path) or self._way(packet))
        self.open[number] = self.open.get(number, 0) + 1
        self.users.setdefault(packet.nodes[0].index, set()).add(number)
        return flight

    def _way(self, packet: Packet) -> Way:
        for link in packet.links:
            if link not in self._queues:
                self._queues[link] = self._queue(link)
        queues = [self._queues[link] for link in packet.links]
        way = self._ways[packet.path] = Way(packet, queues, [self._monitors.get(n) for n in packet.nodes])
        return way

    def _queue(self, link: Link) -> LinkQueue:
        if link.port is None:
            return LinkQueue(link, self.flit_bytes)
        if not link.port.by_message:
            return PortMonitor(link, self.flit_bytes)
        if link.port.buffer is not None:
            self.users[link.port.buffer.index] = self.at_buffers
        return BufferMonitor(link, self.flit_bytes, self.at_buffers)

    def _stand(
        self, flight: InFlight, hop: int, flit: int, time: float, order: tuple[int, int] | None = None
    ) -> None:
        """Note that a flit queues on the link that leaves node ``hop`` at ``time``, ns, now or later."""
        line = flight.way.queues[hop]
        if flit == 0:
            line.packets += 1
            line.nbytes += flight.packet.nbytes
            self.users.setdefault(line.link.index, set()).add(flight.packet.transaction.id)
        line.stand((time, *(order or (1, next(self._order))), flight, hop, flit))

    def _stand_together(self, flights: Sequence[InFlight], hop: int, time: float) -> None:
        """All flits of interleaved packets stand before the link behind node ``hop``."""
        for flit in range(1 + max(flight.packet.last for flight in flights)):
            for flight in flights:
                if flit <= flight.packet.last:
                    self._stand(flight, hop, flit, time)

    def _reassembled(self, flight: InFlight, hop: int) -> list[InFlight]:
        """Packets that a node which wants whole messages sends on, now that this one is there."""
        access = flight.packet.transaction.access
        if access is None:
            return [flight]
        held = self._held.setdefault((access.first, flight.packet.nodes[hop].index), [])
        held.append(flight)
        if len(held) < access.size:
            return []
        del self._held[access.first, flight.packet.nodes[hop].index]
        return sorted(held, key=lambda other: other.packet.key)

    def flit_arrives(self, time: float, packet: Packet, hop: int, flit: int) -> None:
        """See :meth:`Fabric.flit_arrives`."""
        if hop == 0:
            Fabric.flit_arrives(self, time, packet, hop, flit)
            return
        flight = self._due(time, hop, flit, packet)
        way = flight.way
        if hop == way.hops:
            if flit == packet.last:
                self._delivered(packet)
            Fabric.flit_arrives(self, time, packet, hop, flit)
            return
        Fabric.flit_arrives(self, time, packet, hop, flit)
        monitor = way.monitors[hop]
        assert monitor is not None  # every component is watched
        end = monitor.end
        if way.passes[hop]:
            overlaps = packet.path.nodes[hop].pipelined
            leaves = packet.time_at(NODE_OUT, hop) if overlaps else time if time > end else end
            self._stand(flight, hop, flit, leaves)
        elif flit == packet.last:
            together = self._reassembled(flight, hop)
            if together:
                self._stand_together(together, hop, end)

    def _due(self, time: float, hop: int, flit: int, packet: Packet) -> InFlight:
        """Is the flit expected here now? Returns the state of its packet."""
        if time < self._time:
            what = f"time was {self._time:.6f} ns already"
            raise self._wrong("order", packet, packet.nodes[hop], time, what)
        self._time = time
        flight = self.in_flight.get(packet)
        if flight is None:
            what = f"flit {flit} was never sent or is over"
            raise self._wrong("bytes", packet, packet.nodes[hop], time, what)
        line = flight.way.queues[hop - 1]
        link = line.link
        if line.waiting and line.waiting[0][0] <= time:
            line.serve(time)
        due = flight.due[hop]
        while due and due[0][0] != flit and flight.way.reassembles[hop]:
            due.popleft()
        if not due:
            what = f"flit {flit} is there before {link.resource} can have carried it"
            raise self._wrong("capacity", packet, link, time, what)
        number, when = due.popleft()
        if number != flit:
            what = f"flit {flit} is there, though flit {number} is next; one was lost, doubled or overtaken"
            raise self._wrong("bytes", packet, link, time, what)
        if time == when:
            return flight
        if time < when - slack(time):
            what = (
                f"flit {flit} is across before its turn, which would end at {when:.6f} ns: it went ahead of "
                "others or the link carried more than its bandwidth"
            )
            raise self._wrong("capacity", packet, link, time, what)
        if time > when + slack(time):
            what = f"flit {flit} was kept waiting: the link could have had it across at {when:.6f} ns"
            raise self._wrong("work", packet, link, time, what)
        return flight

    def _wrong(self, invariant: str, packet: Packet, at: Server, time: float, what: str) -> InvariantError:
        return violation(invariant, describe(packet.transaction), at.resource, time, what)

    def _delivered(self, packet: Packet) -> None:
        number = packet.transaction.id
        del self.in_flight[packet]
        self.open[number] -= 1
        self.carried[number] = self.carried.get(number, 0) + packet.nbytes

    def finished(self, transaction: Transaction, now: float) -> None:
        """``transaction`` is answered: none of its packets is in flight, and its bytes were carried once."""
        number = transaction.id
        if number not in self.open:
            return  # one that crosses no link, such as an access to a TCM port
        if self.open.pop(number):
            packet = next(packet for packet in self.in_flight if packet.transaction is transaction)
            hop = max(hop for hop, due in enumerate(self.in_flight[packet].due) if due or not hop)
            raise violation(
                "bytes", describe(transaction), packet.nodes[hop].resource, now,
                f"is answered before {packet.nbytes} bytes got to {packet.nodes[packet.path.hops].resource}",
            )  # fmt: skip
        carried = self.carried.pop(number)
        if carried != transaction.nbytes:
            what = f"is answered with {carried} of its {transaction.nbytes} bytes carried"
            raise violation("bytes", describe(transaction), transaction.dst, now, what)

    def at_rest(self, now: float) -> None:
        """Nothing is left to happen: nothing is in flight, and links have carried what was sent."""
        for packet in self.in_flight:
            end = packet.nodes[packet.path.hops].resource
            raise violation("outstanding", describe(packet.transaction), end, now, "never got there")
        for link, line in self._queues.items():
            nbytes, packets = link.bytes - link.streamed_bytes, link.transactions - link.streams
            if (nbytes, packets) != (line.nbytes, line.packets):
                what = (
                    f"counted {nbytes} bytes in {packets} messages, carried {line.nbytes} in {line.packets}"
                )
                raise violation("bytes", "all traffic", link.resource, now, what)
        for users in self.users.values():
            users.clear()


def check_use(resources: list[Server], now: float) -> None:
    """Nothing was busy for longer than ``now``, ns, and each link for as long as its bytes take."""
    allowed = slack(now)
    for resource in resources:
        busy = resource._busy_ns
        if not isinstance(resource, Link):
            if busy > now + allowed:
                raise _overfull(resource, now)
            continue
        link = resource
        # Streams within a PE go beside the fabric's flits: each is within the link's capacity.
        streamed = link.streamed_bytes / link.bw_gbs
        if busy - streamed > now + allowed or streamed > now + allowed:
            raise _overfull(link, now)
        needed = link.bytes / link.bw_gbs + link.issue_ns * (link.transactions - link.streams)
        if abs(needed - busy) > 1e-6 + 1e-9 * needed:
            what = f"was busy for {busy:.6f} ns, its bytes take {needed:.6f} ns"
            raise violation("capacity", "all traffic", link.resource, now, what)


def _overfull(resource: Server, now: float) -> InvariantError:
    what = f"was busy for {resource.busy_ns:.6f} ns"
    return violation("capacity", "all traffic", resource.resource, now, what)
