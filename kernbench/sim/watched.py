"""A fabric that is watched: every flit must reach every place when FIFO servers let it.

:class:`WatchedFabric` stands before another fabric and sees what components send and which flits arrive
where. For each link it keeps a queue of its own and works out when each flit must be over; a flit that
comes earlier or later has overtaken others, overlapped with them, or been left waiting by an idle link.
:class:`~kernbench.sim.turns.Turns` does the same for workers, pseudo-channels and ports. Nothing here
runs unless invariants are checked.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from heapq import heappop, heappush
from itertools import count
from typing import Any

from kernbench.sim.clock import Clock
from kernbench.sim.fabric import FLIT_MASK, HOP_MASK, Fabric
from kernbench.sim.node import TRANSIT, FabricNode, Link
from kernbench.sim.server import Server
from kernbench.sim.transaction import Packet, Transaction
from kernbench.sim.turns import Turns, slack, told, violation


class _Line:
    """The queue before one link: (arrival, two for equal arrivals, way, hop, flit); when it will be free."""

    __slots__ = ("end", "nbytes", "packets", "waiting")

    def __init__(self) -> None:
        self.waiting: list[tuple[float, int, int, _Way, int, int]] = []
        self.end = 0.0
        self.nbytes = 0
        self.packets = 0


class _Way:
    """A packet on its way: for each place, the flits that are due there and when."""

    __slots__ = ("due", "packet")

    def __init__(self, packet: Packet) -> None:
        self.packet = packet
        self.due: list[deque[tuple[int, float]]] = [deque() for _ in packet.nodes]


class WatchedFabric:
    """Passes everything on to ``inner`` and checks what becomes of it."""

    def __init__(self, inner: Fabric, clock: Clock) -> None:
        self._inner = inner
        self._clock = clock
        self._order = count()
        self._lines: dict[Link, _Line] = {}
        self._turns: dict[Server, Turns] = {}
        self._held: dict[tuple[int, int], list[_Way]] = {}
        self._time = 0.0
        self.ways: dict[Packet, _Way] = {}
        """Packets under way."""
        self.open: dict[int, int] = {}
        """Packets under way by transaction."""
        self.carried: dict[int, int] = {}
        """Bytes that have reached the end of a packet's way, by transaction."""
        self.users: dict[int, set[int]] = {}
        """Transactions that have been at a resource, by its number."""
        self.within: dict[int, int] = {}
        """The component that a resource is a part of, by their numbers; hops are told of the component."""
        assert clock.on_flit is not None
        self._on_flit = clock.on_flit
        clock.on_flit = self._arrive

    @property
    def flit_bytes(self) -> int:
        """See :class:`Fabric`."""
        return self._inner.flit_bytes

    @property
    def flit_crossings(self) -> int:
        """See :class:`Fabric`."""
        return self._inner.flit_crossings

    def watch(self, node: FabricNode) -> None:
        """Check the uses of a component and of all servers that it holds as attributes."""
        for value in (node, *vars(node).values()):
            for server in value if isinstance(value, list | tuple) else (value,):
                shared = isinstance(server, FabricNode) and server is not node
                if isinstance(server, Server) and not shared and server not in self._turns:
                    self._turns[server] = Turns(server, self._note_user(node, server))

    def _note_user(self, node: FabricNode, server: Server) -> Callable[[Any], None]:
        """Notes who occupies ``server``: as a user of it, where it is a resource, else of its ``node``."""
        place = node.index
        if server.index >= 0 and server is not node:
            place = server.index
            self.within[place] = node.index
        users = self.users.setdefault(place, set())

        def used(owner: Any) -> None:
            if isinstance(owner, Transaction):
                users.add(owner.id)

        return used

    # -- what components ask for ----------------------------------------------------------------------

    def send(self, packet: Packet) -> None:
        """See :meth:`Fabric.send`."""
        way = self._begin(packet)
        for flit in range(packet.last + 1):
            self._stand(way, 0, flit, self._clock.now)
        self._inner.send(packet)

    def send_together(self, packets: Sequence[Packet]) -> None:
        """See :meth:`Fabric.send_together`."""
        self._stand_together([self._begin(packet) for packet in packets], 0, self._clock.now)
        self._inner.send_together(packets)

    def stream(self, packet: Packet, times: Sequence[float]) -> None:
        """See :meth:`Fabric.stream`."""
        way = self._begin(packet)
        before = self._clock.now
        for flit, time in enumerate(times):
            if time < before:
                raise violation(
                    "order", told(packet.transaction), packet.nodes[0].resource, time,
                    f"flit {flit} is given out before {before:.6f} ns",
                )  # fmt: skip
            # At equal times flits that memories give out go by transaction, before what is sent then.
            self._stand(way, 0, flit, time, (0, packet.key + flit))
            before = time
        self._inner.stream(packet, times)

    # -- the watch ------------------------------------------------------------------------------------

    def _begin(self, packet: Packet) -> _Way:
        number = packet.transaction.id
        way = self.ways[packet] = _Way(packet)
        self.open[number] = self.open.get(number, 0) + 1
        self.users.setdefault(packet.nodes[0].index, set()).add(number)
        return way

    def _stand(
        self, way: _Way, hop: int, flit: int, time: float, order: tuple[int, int] | None = None
    ) -> None:
        """A flit stands before the link behind place ``hop`` at ``time`` (or will)."""
        link = way.packet.links[hop]
        line = self._lines.get(link)
        if line is None:
            line = self._lines[link] = _Line()
        if flit == 0:
            line.packets += 1
            line.nbytes += way.packet.nbytes
            self.users.setdefault(link.index, set()).add(way.packet.transaction.id)
        heappush(line.waiting, (time, *(order or (1, next(self._order))), way, hop, flit))

    def _stand_together(self, ways: Sequence[_Way], hop: int, time: float) -> None:
        """All flits of packets that take turns stand before the link behind place ``hop``."""
        for flit in range(1 + max(way.packet.last for way in ways)):
            for way in ways:
                if flit <= way.packet.last:
                    self._stand(way, hop, flit, time)

    def _gathered(self, way: _Way, hop: int) -> list[_Way]:
        """Packets that a node which wants whole messages sends on, now that this one is there."""
        access = way.packet.transaction.access
        if access is None:
            return [way]
        held = self._held.setdefault((access.first, way.packet.nodes[hop].index), [])
        held.append(way)
        if len(held) < access.size:
            return []
        del self._held[access.first, way.packet.nodes[hop].index]
        return sorted(held, key=lambda other: other.packet.key)

    def _serve(self, link: Link, time: float) -> None:
        """Serve the flits that stood before ``link`` up to ``time``."""
        line = self._lines[link]
        waiting = line.waiting
        while waiting and waiting[0][0] <= time:
            arrived, _, _, way, hop, flit = heappop(waiting)
            packet = way.packet
            size = packet.last_bytes if flit == packet.last else self._inner.flit_bytes
            line.end = max(arrived, line.end) + size / link.bw_gbs
            way.due[hop + 1].append((flit, line.end + link.delay_ns))

    def _arrive(self, time: float, key: int, packet: Packet) -> None:
        hop = (key >> 32) & HOP_MASK
        flit = key & FLIT_MASK
        if hop == 0:
            self._on_flit(time, key, packet)
            return
        way = self._due(time, hop, flit, packet)
        if hop == len(packet.links):
            if flit == packet.last:
                self._delivered(packet)
            self._on_flit(time, key, packet)
            return
        self._on_flit(time, key, packet)
        node = packet.nodes[hop]
        end = self._turns[node].end
        if node.role == TRANSIT:
            self._stand(way, hop, flit, max(time, end))
        elif flit == packet.last:
            together = self._gathered(way, hop)
            if together:
                self._stand_together(together, hop, end)

    def _due(self, time: float, hop: int, flit: int, packet: Packet) -> _Way:
        """Is the flit expected here now? Returns its packet's way."""
        link, node = packet.links[hop - 1], packet.nodes[hop]
        who = told(packet.transaction)
        if time < self._time:
            raise violation("order", who, node.resource, time, f"time was {self._time:.6f} ns already")
        self._time = time
        way = self.ways.get(packet)
        if way is None:
            raise violation("bytes", who, node.resource, time, f"flit {flit} was never sent or is over")
        self._serve(link, time)
        due = way.due[hop]
        while due and due[0][0] != flit and packet.gathers[hop]:
            due.popleft()
        if not due:
            what = f"flit {flit} is there before {link.resource} can have carried it"
            raise violation("capacity", who, link.resource, time, what)
        number, when = due.popleft()
        if number != flit:
            what = f"flit {flit} is there, though flit {number} is next; one was lost, doubled or overtaken"
            raise violation("bytes", who, link.resource, time, what)
        if time < when - slack(time):
            what = (
                f"flit {flit} is across before its turn, which would end at {when:.6f} ns: it went ahead of "
                "others or the link carried more than its bandwidth"
            )
            raise violation("capacity", who, link.resource, time, what)
        if time > when + slack(time):
            what = f"flit {flit} was kept waiting: the link could have had it across at {when:.6f} ns"
            raise violation("work", who, link.resource, time, what)
        return way

    def _delivered(self, packet: Packet) -> None:
        number = packet.transaction.id
        del self.ways[packet]
        self.open[number] -= 1
        self.carried[number] = self.carried.get(number, 0) + packet.nbytes

    def finished(self, transaction: Transaction, now: float) -> None:
        """``transaction`` is answered: none of its packets is under way, and its bytes were carried once."""
        number = transaction.id
        if number not in self.open:
            return  # one that crosses no link, such as an access to a TCM port
        if self.open.pop(number):
            packet = next(packet for packet in self.ways if packet.transaction is transaction)
            hop = max(hop for hop, due in enumerate(self.ways[packet].due) if due or not hop)
            raise violation(
                "bytes", told(transaction), packet.nodes[hop].resource, now,
                f"is answered before {packet.nbytes} bytes got to {packet.nodes[-1].resource}",
            )  # fmt: skip
        carried = self.carried.pop(number)
        if carried != transaction.nbytes:
            what = f"is answered with {carried} of its {transaction.nbytes} bytes carried"
            raise violation("bytes", told(transaction), transaction.dst, now, what)

    def at_rest(self, now: float) -> None:
        """Nothing is left to happen: nothing is under way, and links have carried what was sent."""
        for packet in self.ways:
            raise violation("outstanding", told(packet.transaction), packet.nodes[-1].resource, now,
                            "never got there")  # fmt: skip
        for link, line in self._lines.items():
            if (link.bytes, link.transactions) != (line.nbytes, line.packets):
                what = (
                    f"counted {link.bytes} bytes in {link.transactions} messages, "
                    f"carried {line.nbytes} in {line.packets}"
                )
                raise violation("bytes", "all traffic", link.resource, now, what)
        for users in self.users.values():
            users.clear()
