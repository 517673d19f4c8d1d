"""Moves packets over links and through transit components.

:class:`Fabric` is the interface that components use. :class:`FlitFabric` moves every flit by itself:
one queue entry for each link that a flit crosses. An engine that moves a packet's flits as one train can
stand beside it behind the same interface; flit order at equal times (see ``clock``) is defined without
reference to this implementation, so that the two can be compared bit for bit.
"""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heappush
from typing import Protocol

from kernbench.sim.clock import FLIT, Clock
from kernbench.sim.node import TRANSIT, FabricNode, Link
from kernbench.sim.transaction import HopRow, Packet

_HOP = 1 << 32
HOP_MASK = 0xFFF
FLIT_MASK = _HOP - 1


class Fabric(Protocol):
    """What a component asks of the fabric. Packets start at their path's first node."""

    @property
    def flit_bytes(self) -> int:
        """Bytes of a flit."""

    @property
    def flit_crossings(self) -> int:
        """How many flits have been put onto a link so far."""

    def send(self, packet: Packet) -> None:
        """Put the whole packet onto its first link now."""

    def send_together(self, packets: Sequence[Packet]) -> None:
        """Put packets onto their first link now, flit by flit in turn: one of each, then the next of each."""

    def stream(self, packet: Packet, times: Sequence[float]) -> None:
        """Put flit ``i`` onto the first link at ``times[i]`` (never falling, not before now)."""


class FlitFabric:
    """The per-flit engine."""

    def __init__(self, clock: Clock, flit_bytes: int) -> None:
        self.clock = clock
        self.flit_bytes = flit_bytes
        self.flit_crossings = 0
        clock.on_flit = self._arrive

    def send(self, packet: Packet) -> None:
        """See :meth:`Fabric.send`."""
        self._inject(packet, 0)

    def send_together(self, packets: Sequence[Packet]) -> None:
        """See :meth:`Fabric.send_together`."""
        self._inject_together(packets, 0)

    def _inject_together(self, packets: Sequence[Packet], hop: int) -> None:
        """As :meth:`_inject`, for packets that take turns."""
        now = self.clock._now
        starts: list[list[float]] = [[] for _ in packets]
        for flit in range(1 + max(packet.last for packet in packets)):
            for packet, mine in zip(packets, starts, strict=True):
                last = packet.last
                if flit > last:
                    continue
                link = packet.links[hop]
                if flit == 0:
                    link.arrive(now)
                duration = link.flit_ns if flit != last else packet.last_bytes / link.bw_gbs
                mine.append(link.occupy(now, duration, packet.transaction))
                if flit == last:
                    self._leave_link(packet, link, now, mine[0], now, mine[last], mine[last] + duration)
        for packet, mine in zip(packets, starts, strict=True):
            link, last = packet.links[hop], packet.last
            packet.feed = [start + link.flit_ns + link.delay_ns for start in mine[:last]]
            packet.feed.append(mine[last] + packet.last_bytes / link.bw_gbs + link.delay_ns)
            packet.feed_hop = hop + 1
            heappush(self.clock.entries, (packet.feed[0], FLIT, packet.key + (hop + 1) * _HOP, packet))

    def stream(self, packet: Packet, times: Sequence[float]) -> None:
        """See :meth:`Fabric.stream`."""
        packet.feed = times
        heappush(self.clock.entries, (times[0], FLIT, packet.key, packet))

    def _inject(self, packet: Packet, hop: int) -> None:
        """All flits stand at node ``hop`` now: book them on its link in one go."""
        now = self.clock._now
        link = packet.links[hop]
        transaction = packet.transaction
        last = packet.last
        link.arrive(now)
        first = link.occupy(now, 0.0, transaction)
        end = first
        delay = link.delay_ns
        if last:
            flit_ns = link.flit_ns
            feed = []
            for _ in range(last):
                end += flit_ns
                feed.append(end + delay)
            start = end
            end += packet.last_bytes / link.bw_gbs
            feed.append(end + delay)
            arrival = feed[0]
            if packet.gathers[hop + 1]:
                heappush(self.clock.entries, (feed[last], FLIT, packet.key + (hop + 1) * _HOP + last, packet))
            else:
                packet.feed = feed
                packet.feed_hop = hop + 1
        else:
            start = first
            end += packet.last_bytes / link.bw_gbs
            arrival = end + delay
        link.free = end
        self._leave_link(packet, link, now, first, now, start, end)
        heappush(self.clock.entries, (arrival, FLIT, packet.key + (hop + 1) * _HOP, packet))

    def _release(self, packet: Packet, flit: int, time: float) -> None:
        """Flits of a streamed message, those from ``flit`` on that stand at its source at ``time``."""
        link = packet.links[0]
        transaction = packet.transaction
        entries = self.clock.entries
        last = packet.last
        gathers = packet.gathers[1]
        if flit == 0:
            link.arrive(time)
            packet.link_in[0] = time
        while True:
            duration = link.flit_ns if flit != last else packet.last_bytes / link.bw_gbs
            start = link.occupy(time, duration, transaction)
            end = start + duration
            if flit == 0:
                packet.link_start[0] = start
            if flit == last:
                heappush(entries, (end + link.delay_ns, FLIT, packet.key + _HOP + flit, packet))
                self._leave_link(packet, link, packet.link_in[0], packet.link_start[0], time, start, end)
                return
            if flit == 0 or not gathers:
                heappush(entries, (end + link.delay_ns, FLIT, packet.key + _HOP + flit, packet))
            flit += 1
            if packet.feed[flit] > time:
                heappush(entries, (packet.feed[flit], FLIT, packet.key + flit, packet))
                return

    def _leave_link(
        self,
        packet: Packet,
        link: Link,
        t_in: float,
        t_start: float,
        last_in: float,
        last_start: float,
        end: float,
    ) -> None:
        """The last flit is booked on ``link``: note the hop."""
        transaction = packet.transaction
        out = end + link.delay_ns
        wait = 0.0
        if last_start > last_in:
            wait = transaction.blame(link.index, link.waited_for(transaction, last_in, last_start))
        link.leave(end, packet.nbytes, packet.nbytes / link.bw_gbs, wait)
        self.flit_crossings += packet.last + 1
        if transaction.traced:
            transaction.rows.append(
                HopRow(link.index, t_in, t_start, out, out - last_in - wait, wait, packet.nbytes)
            )

    def _arrive(self, time: float, key: int, packet: Packet) -> None:
        """Flit ``key & mask`` of ``packet`` reaches a node. Everything per flit happens here."""
        hop = (key >> 32) & HOP_MASK
        flit = key & FLIT_MASK
        if hop == 0:
            self._release(packet, flit, time)
            return
        last = packet.last
        if hop == packet.feed_hop and flit != last:
            heappush(self.clock.entries, (packet.feed[flit + 1], FLIT, key + 1, packet))
        node = packet.nodes[hop]
        links = packet.links
        transaction = packet.transaction
        if hop == len(links):
            if node.takes_flits:
                node.receive_flit(packet, flit, time)
            else:
                self._whole(packet, hop, node, flit, time)
            return
        if node.role != TRANSIT:
            self._whole(packet, hop, node, flit, time)
            return
        if flit == 0 or node.own_service:
            out = self._work(packet, hop, node, flit, time)
            if out > time and node.sends:
                # Packets of the node's own may come first: the link is not booked before the flit is there.
                self.clock.leave_at(out, self._depart, key, packet)
                return
        else:
            out = node.free
            if out < time:
                out = time
            if flit == last:
                self._leave_node(packet, hop, node, time, out)
        # The link: Server.occupy written out, for this is the innermost loop.
        link = links[hop]
        duration = link.flit_ns if flit != last else packet.last_bytes / link.bw_gbs
        start = link.free
        if out >= start:
            start = out
            if link._runs:
                link._runs.clear()
            link.holder = transaction
            link.since = out
        elif link.holder is not transaction:
            link._runs.append((link.since, link.holder))
            link.holder = transaction
            link.since = start
        end = start + duration
        link.free = end
        if flit == 0:
            link.arrive(out)
            packet.link_in[hop] = out
            packet.link_start[hop] = start
        if flit == 0 or flit == last or not packet.gathers[hop + 1]:
            heappush(self.clock.entries, (end + link.delay_ns, FLIT, key + _HOP, packet))
        if flit == last:
            self._leave_link(packet, link, packet.link_in[hop], packet.link_start[hop], out, start, end)

    def _depart(self, key: int, packet: Packet) -> None:
        """A flit leaves the worker of a node that sends packets of its own, and stands at its link now."""
        hop = (key >> 32) & HOP_MASK
        flit = key & FLIT_MASK
        last = packet.last
        out = self.clock._now
        link = packet.links[hop]
        duration = link.flit_ns if flit != last else packet.last_bytes / link.bw_gbs
        start = link.occupy(out, duration, packet.transaction)
        end = start + duration
        if flit == 0:
            link.arrive(out)
            packet.link_in[hop] = out
            packet.link_start[hop] = start
        if flit == 0 or flit == last or not packet.gathers[hop + 1]:
            heappush(self.clock.entries, (end + link.delay_ns, FLIT, key + _HOP, packet))
        if flit == last:
            self._leave_link(packet, link, packet.link_in[hop], packet.link_start[hop], out, start, end)

    def _work(self, packet: Packet, hop: int, node: FabricNode, flit: int, time: float) -> float:
        """A flit that the node's worker spends time on; returns when it is handed on."""
        service = node.service_ns(packet, flit)
        start = node.occupy(time, service, packet.transaction)
        out = start + service
        if flit == 0:
            node.arrive(time)
            packet.node_in[hop] = time
            packet.node_start[hop] = start
        if flit == packet.last:
            self._leave_node(packet, hop, node, time, out, start)
        return out

    def _leave_node(
        self,
        packet: Packet,
        hop: int,
        node: FabricNode,
        last_in: float,
        out: float,
        served: float | None = None,
        wait: float = 0.0,
    ) -> None:
        """The last flit leaves a node at ``out``: note the hop. For ``wait`` ns it has been held already."""
        transaction = packet.transaction
        begun = out if served is None else served
        if begun > last_in + wait:
            held = node.waited_for(transaction, last_in + wait, begun)
            wait += transaction.blame(node.index, held)
        node.leave(out, packet.nbytes, node.overhead_ns if packet.pays else 0.0, wait)
        if transaction.traced:
            transaction.rows.append(
                HopRow(
                    node.index, packet.node_in[hop], packet.node_start[hop], out,
                    out - last_in - wait, wait, packet.nbytes,
                )
            )  # fmt: skip

    def _whole(self, packet: Packet, hop: int, node: FabricNode, flit: int, time: float) -> None:
        """A node that wants the whole message: gather it, pay once, then forward or receive it.

        Messages of one access are forwarded as one.
        """
        if flit == 0:
            node.arrive(time)
            packet.node_in[hop] = time
        if flit != packet.last:
            return
        access = packet.transaction.access
        if access is not None:
            if hop < len(packet.links):
                self._forward_together(access.gather(node.index, packet, time), hop, node, time)
                return
            access.open -= 1
            packet.pays = access.open == 0
        overhead = node.overhead_ns if packet.pays else 0.0
        start = node.occupy(time, overhead, packet.transaction)
        packet.node_start[hop] = start
        out = start + overhead
        self._leave_node(packet, hop, node, time, out, start)
        if hop < len(packet.links):
            self.clock.call_at(out, self._inject, packet, hop)
        elif out > time:
            self.clock.call_at(out, node.receive, packet)
        else:
            node.receive(packet)

    def _forward_together(
        self, whole: Sequence[tuple[Packet, float]], hop: int, node: FabricNode, time: float
    ) -> None:
        """All messages of an access (or none yet) are at ``node`` that wants them whole."""
        if not whole:
            return
        packets = sorted((packet for packet, _ in whole), key=lambda packet: packet.key)
        last = whole[-1][0].transaction
        start = node.occupy(time, node.overhead_ns, last)
        out = start + node.overhead_ns
        for packet, last_in in whole:
            packet.node_start[hop] = start
            wait = 0.0
            if last_in < time:
                wait = packet.transaction.blame(node.index, [(last, time - last_in)])
            self._leave_node(packet, hop, node, last_in, out, start, wait)
        self.clock.call_at(out, self._inject_together, packets, hop)
