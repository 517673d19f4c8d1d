"""Access to memory: one transaction for each physical request, all at once.

Where a machine has a router for each pseudo-channel, an access is one request a channel. These stand for one
aggregated request and cost the same overheads (:class:`ChannelRequests`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from math import inf
from operator import attrgetter
from typing import Any

from kernbench.engine.components.base import Component
from kernbench.engine.core.fabric import Fabric
from kernbench.engine.core.node import FabricNode
from kernbench.engine.core.transaction import Packet, Transaction
from kernbench.engine.program.operations import Region
from kernbench.hardware.address.requests import IN_TURN, PhysicalRequest
from kernbench.hardware.routing import Traffic

_NO_IDS = ("", "")
_by_number = attrgetter("transaction.id")


class Requests:
    """The transactions of one transfer, which is over with the last of them.

    Args:
        done: called when the last is answered.
        served: called when the memories have served the last byte: reads have been sampled, writes are
            visible. None if no values are moved.

    ``wait_ns`` is the longest wait of one of them, NaN without a trace; ``t_first`` when the first byte of
    a read came, ns.
    """

    def __init__(self, done: Callable[[], None], served: Callable[[], None] | None = None) -> None:
        self.done = done
        self.served = served
        self.open = 0
        """Transactions that are not answered yet."""
        self.unserved = 0
        self.wait_ns = 0.0
        self.t_first = inf

    def await_all(self, sent: Sequence[Transaction]) -> None:
        """Take the transactions ``sent``."""
        self.open = self.unserved = len(sent)
        for transaction in sent:
            transaction.on_done = self.transaction_done
            if self.served is not None:
                transaction.on_served = self.transaction_served

    def transaction_served(self) -> None:
        """Called when a memory has served one of them."""
        self.unserved -= 1
        if not self.unserved and self.served is not None:
            self.served()

    def transaction_done(self, transaction: Transaction) -> None:
        """Called when one of them is answered."""
        if not transaction.wait_ns <= self.wait_ns:  # NaN as well
            self.wait_ns = transaction.wait_ns
        if transaction.t_first < self.t_first:
            self.t_first = transaction.t_first
        self.open -= 1
        if not self.open:
            self.answered()

    def answered(self) -> None:
        """Called when the last is answered."""
        self.done()


class ChannelRequests:
    """The requests, one for each channel, that stand for one aggregated request.

    The ``first`` request pays the overheads of requests on their way out and of data on their way back; the
    last one pays those of acknowledgements and of the component that asked. A store-and-forward component
    waits for all of them and sends them on together.
    """

    def __init__(self, first: int, size: int) -> None:
        self.first = first
        """Id of its first transaction."""
        self.unanswered = size
        """Its writes that the memory has not acknowledged."""
        self.open = size
        """Its requests whose answers have not come back."""
        self.size = size
        """Its transactions."""
        self._held: dict[int, list[tuple[Packet, float]]] = {}
        self._leads: dict[int, float] = {}

    def follow(self, node: int, out: float, leads: bool) -> float:
        """When a flit that may leave a pipelined ``node`` from ``out`` on does leave, ns.

        The flit that ``leads``, the first of the request that pays, goes before those that come after it.
        """
        if leads:
            self._leads[node] = out
        return max(out, self._leads.get(node, 0.0))

    def gather(self, fabric: Fabric, node: FabricNode, packet: Packet, hop: int, time: float) -> None:
        """Take a ``packet`` that is complete at ``node``.

        The node forwards the packets of the access once the last is complete. It pays its overhead once for
        all of them, and they take turns on its link.
        """
        held = self._held.setdefault(node.index, [])
        held.append((packet, time))
        if len(held) < self.size:
            return
        del self._held[node.index]
        last = packet.transaction
        overhead = node.overhead()
        start = node.occupy(time, overhead, last)
        out = start + overhead
        node._busy_ns += overhead
        for other, last_in in held:
            other.times.at[other.stride + hop] = start
            wait = 0.0
            if last_in < time:
                wait = other.transaction.wait_for(last.id, node.index, last_in, time)
            fabric.leave_node(other, hop, node, last_in, out, start, wait)
        packets = sorted([other for other, _ in held], key=_by_number)
        fabric.clock.call_at(out, inject_together, fabric, packets, hop)


def inject_together(fabric: Fabric, packets: Sequence[Packet], hop: int) -> None:
    """Like :meth:`Fabric.inject`, for packets whose flits are interleaved: one of each, in turn."""
    now = fabric.clock.time
    most = 0
    for packet in packets:
        packet.feeds()
        if packet.last > most:
            most = packet.last
    for flit in range(most + 1):
        for packet in packets:
            if flit <= packet.last and not fabric.asks_port(packet, hop, flit, flit):
                feed = packet.feed
                feed.at[flit] = fabric.traverse(packet, hop, flit, now)
    for packet in packets:
        link = packet.path.links[hop]
        if link.port is None:
            fabric.feed(packet, hop + 1)


def regions_of(requests: Sequence[PhysicalRequest]) -> tuple[Region, ...]:
    """The physical bytes that ``requests`` move, a region for each memory, in order."""
    if len(requests) == 1:
        (request,) = requests
        return (Region(request.pa, request.nbytes),)
    found: list[list[int]] = []
    for request in requests:
        if request.opens:
            last = [request.pa, request.nbytes]
            found.append(last)
        else:
            last[1] += request.nbytes
    return tuple([Region(*run) for run in found])


def begin(
    source: Component,
    traffic: Traffic,
    kind: str,
    requests: Iterable[PhysicalRequest],
    t_submit: float,
    op: int,
    is_write: bool,
    ids: tuple[str, str] = _NO_IDS,
) -> list[Transaction]:
    """A transaction for each of ``requests``, by way of its channel router where it has one.

    Those that stand for one aggregated request become one :class:`ChannelRequests`.
    """
    system = source.system
    pieces: list[list[Transaction]] = []
    piece: list[Transaction] = []
    for request in requests:
        path = system.path(source.resource, request.component, traffic, request.via)
        transaction = system.open(kind, path, request.nbytes, t_submit, op, is_write)
        transaction.address = request.offset
        transaction.channel = request.channel
        if request.gathered is not None:
            memory = system.component(request.component)
            transaction.gathered = memory.gather(request.gathered, request.channel)  # type: ignore[attr-defined]
        transaction.ids = ids
        if request.opens or request.channel < 0:
            piece = []
            pieces.append(piece)
        piece.append(transaction)
    if len(pieces) == 1 and len(pieces[0]) == 1:
        return pieces[0]
    for piece in pieces:
        if len(piece) > 1:
            access = ChannelRequests(piece[0].id, len(piece))
            for part in piece:
                part.access = access
    return [transaction for piece in pieces for transaction in piece]


def send(source: Component, transactions: Sequence[Transaction], branches: Any = None) -> None:
    """Send them: data if they write, else commands without bytes.

    Bytes leave in order of address: the requests of one access, and those of one run of interleaved memory,
    flit by flit in turn. ``branches`` are the copies of a multicast, which is one transaction.
    """
    fabric = source.system.fabric
    if len(transactions) > 1:
        for group in _in_turn(fabric, transactions):
            if len(group) > 1:
                inject_together(fabric, group, 0)
            else:
                fabric.send(group[0])
        return
    one = transactions[0]
    packet = Packet(one, one.path, one.nbytes if one.is_write else 0, fabric.flit_bytes)
    packet.branches = branches
    fabric.send(packet)


def send_fed(
    source: Component, transactions: Sequence[Transaction], head: float, gbs: float, branches: Any = None
) -> list[float]:
    """Like :meth:`send`, for bytes that come at ``gbs`` GB/s from ``head`` ns on.

    Returns:
        When the last flit of each transaction leaves ``source``, ns.
    """
    fabric = source.system.fabric
    packets: list[Packet] = []
    fed = 0
    for group in _in_turn(fabric, transactions):
        fed = feed(fabric, group, fed, head, gbs)
        packets += group
    leaves = []
    for packet in packets:
        times, packet.branches = packet.feed, branches
        leaves.append(times.at[packet.last])
        fabric.stream(packet, times)
    return leaves


def feed(fabric: Fabric, packets: Sequence[Packet], fed: int, head: float, gbs: float) -> int:
    """Set when each flit of ``packets``, in turn, is put onto its first link, which carries ``gbs`` or more.

    Cut through: the last byte of a flit goes on as it comes. ``fed`` bytes have come before them; returns how
    many have come after.
    """
    out = fabric.clock.time
    most = 0
    for packet in packets:
        packet.feeds()
        most = max(most, packet.last)
    for flit in range(most + 1):
        for packet in packets:
            if flit <= packet.last:
                nbytes = fabric.flit_bytes if flit < packet.last else packet.last_bytes
                fed += nbytes
                link = packet.path.links[0]
                times = packet.feed
                out = max(out, head + fed / gbs - nbytes / link.bw_gbs)
                times.at[flit] = out
    return fed


def _in_turn(fabric: Fabric, transactions: Sequence[Transaction]) -> list[list[Packet]]:
    """Their packets, in their order; the flits of those in one list leave in turn."""
    groups: list[list[Packet]] = []
    group: list[Packet] = []
    access = None
    for one in transactions:
        packet = Packet(one, one.path, one.nbytes if one.is_write else 0, fabric.flit_bytes)
        if one.channel != IN_TURN and (access is None or one.access is not access):
            group = []
            groups.append(group)
        one.channel = max(one.channel, -1)  # it is not asked any more, and no number of a channel
        access = one.access
        group.append(packet)
    return groups
