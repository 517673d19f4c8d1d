"""Moves packets over links and through components, every flit by itself.

One queue entry stands for each link that a flit crosses; everything per flit happens in one method.
"""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heappush

from kernbench.sim.booking import Booking
from kernbench.sim.clock import FLIT, Clock
from kernbench.sim.fabric import FLIT_MASK, HOP, HOP_MASK
from kernbench.sim.node import TRANSIT, FabricNode
from kernbench.sim.server import Held
from kernbench.sim.transaction import FLIT_BITS, Packet


class FlitFabric(Booking):
    """The per-flit engine; a :class:`~kernbench.sim.fabric.Fabric`."""

    def __init__(self, clock: Clock, flit_bytes: int) -> None:
        super().__init__(clock)
        self.flit_bytes = flit_bytes
        clock.on_flit = self._arrive

    def send(self, packet: Packet) -> None:
        """See :meth:`Fabric.send`."""
        self.inject(packet, 0)

    def send_together(self, packets: Sequence[Packet]) -> None:
        """See :meth:`Fabric.send_together`."""
        self.inject_together(packets, 0)

    def stream(self, packet: Packet, times: Sequence[float]) -> None:
        """See :meth:`Fabric.stream`."""
        packet.feed = times
        heappush(self.clock.entries, (times[0], FLIT, packet.key, packet))

    def _arrive(self, time: float, key: int, packet: Packet) -> None:
        """Flit ``key & mask`` of ``packet`` reaches a node. Everything per flit happens here."""
        hop = (key >> FLIT_BITS) & HOP_MASK
        flit = key & FLIT_MASK
        if hop == 0:
            self.release(packet, flit, time)
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
            if node.plain_service and flit == 0:
                # FabricNode.service_ns and _work written out.
                service = node.overhead_ns if packet.pays else 0.0
                begun = node.occupy(time, service, transaction)
                out = begun + service
                node.busy_ns += service
                node.arrive(time)
                packet.node_in[hop] = time
                packet.node_start[hop] = begun
                if last == 0:
                    self._leave_node(packet, hop, node, time, out, begun)
            else:
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
                link.forget_runs()
            link.holder = transaction
            link.since = out
        elif link.holder is not transaction:
            link.end_run(start)
            link.holder = transaction
            link.since = start
        end = start + duration
        link.free = end
        if flit == 0:
            link.arrive(out)
            packet.link_in[hop] = out
            packet.link_start[hop] = start
        if flit == 0 or flit == last or not packet.reassembles[hop + 1]:
            heappush(self.clock.entries, (end + link.delay_ns, FLIT, key + HOP, packet))
        if flit == last:
            self.leave_link(packet, link, packet.link_in[hop], packet.link_start[hop], out, start, end)

    def _depart(self, key: int, packet: Packet) -> None:
        """A flit leaves the worker of a node that sends packets of its own, and stands at its link now."""
        hop = (key >> FLIT_BITS) & HOP_MASK
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
        if flit == 0 or flit == last or not packet.reassembles[hop + 1]:
            heappush(self.clock.entries, (end + link.delay_ns, FLIT, key + HOP, packet))
        if flit == last:
            self.leave_link(packet, link, packet.link_in[hop], packet.link_start[hop], out, start, end)

    def _work(self, packet: Packet, hop: int, node: FabricNode, flit: int, time: float) -> float:
        """A flit that the node's worker spends time on; returns when it is handed on."""
        service = node.service_ns(packet, flit)
        start = node.occupy(time, service, packet.transaction)
        out = start + service
        node.busy_ns += service
        if flit == 0:
            node.arrive(time)
            packet.node_in[hop] = time
            packet.node_start[hop] = start
        if flit == packet.last:
            self._leave_node(packet, hop, node, time, out, start)
        return out

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
                self._forward_together(access.reassemble(node.index, packet, time), hop, node, time)
                return
            access.open -= 1
            packet.pays = access.open == 0
        overhead = node.overhead_ns if packet.pays else 0.0
        start = node.occupy(time, overhead, packet.transaction)
        packet.node_start[hop] = start
        out = start + overhead
        node.busy_ns += overhead
        self._leave_node(packet, hop, node, time, out, start)
        if hop < len(packet.links):
            self.clock.call_at(out, self.inject, packet, hop)
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
        node.busy_ns += node.overhead_ns
        for packet, last_in in whole:
            packet.node_start[hop] = start
            wait = 0.0
            if last_in < time:
                wait = packet.transaction.record_waits(
                    node.index, [Held(last, time - last_in, last_in, time)]
                )
            self._leave_node(packet, hop, node, last_in, out, start, wait)
        self.clock.call_at(out, self.inject_together, packets, hop)

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
            wait += transaction.record_waits(node.index, held)
        node.leave(out, packet.nbytes, 0.0, wait)
        if transaction.traced:
            transaction.note_hop(
                (
                    node.index, packet.node_in[hop], packet.node_start[hop], out,
                    out - last_in - wait, wait, packet.nbytes,
                )
            )  # fmt: skip
