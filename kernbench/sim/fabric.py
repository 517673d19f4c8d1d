"""Moves packets over links and through components, every flit by itself.

One queue entry stands for each link that a flit crosses; everything per flit happens in
:meth:`Fabric.flit_arrives`. Flit order at equal times (see ``clock``) is defined
without reference to this implementation.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter
from typing import Any

from kernbench.sim.buffers import BufferedPort
from kernbench.sim.clock import Carrier, Loop
from kernbench.sim.columns import Doubles
from kernbench.sim.lanes import Lane, LaneStay
from kernbench.sim.node import FabricNode, Link
from kernbench.sim.port import Port
from kernbench.sim.times import wrong_answer
from kernbench.sim.transaction import Packet, Transaction

_DEPART, _INJECT, _RECEIVE, _ANSWER, _DECIDE = 3, 4, 5, 6, 7
"""Steps of a packet: a held-back flit stands at its link; it is sent on whole, received, answered. A step of
a port: it decides who is next."""
_UNKNOWN = float("inf")
_by_key = attrgetter("key")


class Fabric(Carrier):
    """Carries packets over links, from their path's first node on. Subclasses may override what is public."""

    def __init__(self, clock: Loop, flit_bytes: int) -> None:
        self.clock = clock
        self.queue = clock.entries
        self.flit_bytes = flit_bytes
        """Bytes of a flit."""
        self.splits = False
        """Whether messages may be parts of one access: machines with channel routers."""
        self.flit_crossings = 0
        """How many flits have been put onto a link so far."""
        clock.carrier = self

    # -- what components ask for ----------------------------------------------------------------------

    def send(self, packet: Packet) -> None:
        """Put the whole packet onto its first link now."""
        self.inject(packet, 0)

    def send_together(self, packets: Sequence[Packet]) -> None:
        """Put packets onto their first link now, flit by flit in turn: one of each, then the next of each."""
        self.inject_together(packets, 0)

    def stream(self, packet: Packet, times: Doubles | Sequence[float]) -> None:
        """Put flit ``i`` onto the first link at ``times[i]`` (never falling, not before now)."""
        if len(times) != packet.last + 1:
            raise ValueError(f"{len(times)} times for a packet of {packet.last + 1} flits")
        if times is not packet.feed:
            feed = packet.feeds()
            for i, time in enumerate(times):
                feed.at[i] = time
        self.queue.flit_at(packet.feed.at[0], packet.transaction.id, 0, 0, packet)

    def stream_singly(self, packet: Packet) -> None:
        """The flits of ``packet`` will be put onto its first link one by one (:meth:`stream_flit`)."""
        feed = packet.feeds()
        for i in range(packet.last + 1):
            feed.at[i] = _UNKNOWN

    def stream_flit(self, packet: Packet, flit: int, time: float) -> None:
        """Put flit ``flit`` onto the first link at ``time``, not before the one before it, nor before now."""
        self.queue.flit_at(time, packet.transaction.id, 0, flit, packet)

    def answer_at(self, time: float, packet: Packet) -> None:
        """Have the node that has taken the flits of ``packet`` answer it at ``time``."""
        self.queue.put_step(time, _ANSWER, packet.path.hops, 0, packet)

    # -- what the clock asks for ----------------------------------------------------------------------

    def step(self, what: int, item: Any, hop: int, flit: int) -> None:
        """A step of a packet or a port is due."""
        if what == _DECIDE:
            self.decide(item)
            return
        packet: Packet = item
        if what == _DEPART:
            self.put(packet, hop, flit, self.clock.time)
            node = packet.path.nodes[hop]
            if node.overlaps and flit == packet.last:
                link = packet.path.links[hop]
                link.passing -= 1
        elif what == _INJECT:
            self.inject(packet, hop)
        else:
            self.clock.touched = True
            if what == _ANSWER:
                packet.path.nodes[hop].answer(packet)
            else:
                packet.path.nodes[hop].receive(packet)

    # -- onto links: flits that stand before one, or will at known times --------------------------------

    def inject(self, packet: Packet, hop: int) -> None:
        """All flits stand at node ``hop`` now: book them on its link in one go."""
        now = self.clock.time
        path = packet.path
        transaction = packet.transaction
        if hop >= path.hops:
            raise IndexError(f"a message of {transaction.kind} has no link to be sent over")
        link = path.links[hop]
        last = packet.last
        if link.port is not None:
            self.stand(packet, hop, 0, last, now)
            return
        link.arrive(now)
        first = link.occupy(now, 0.0, transaction)
        end = start = first
        delay = link.delay_ns
        if last:
            flit_ns = link.flit_ns
            feed = packet.feeds()
            for i in range(last):
                end += flit_ns
                feed.at[i] = end + delay
            start = end
            end += packet.last_bytes / link.bw_gbs
            feed.at[last] = end + delay
            arrival = feed.at[0]
            if path.reassembles[hop + 1]:
                self.queue.flit_at(feed.at[last], transaction.id, hop + 1, last, packet)
            else:
                packet.feed_hop = hop + 1
        else:
            end += packet.last_bytes / link.bw_gbs
            arrival = end + delay
        link.free = end + link.issue_ns
        self.leave_link(packet, link, now, first, now, start, end)
        self.queue.flit_at(arrival, transaction.id, hop + 1, 0, packet)

    def inject_together(self, packets: Sequence[Packet], hop: int) -> None:
        """As :meth:`inject`, for packets that take turns."""
        now = self.clock.time
        most = 0
        for packet in packets:
            if hop >= packet.path.hops:
                raise IndexError(f"a message of {packet.transaction.kind} has no link to be sent over")
            packet.feeds()
            if packet.last > most:
                most = packet.last
        for flit in range(most + 1):
            for packet in packets:
                last = packet.last
                if flit > last:
                    continue
                link = packet.path.links[hop]
                if link.port is not None:
                    self.stand(packet, hop, flit, flit, now)
                    continue
                if flit == 0:
                    link.arrive(now)
                duration = link.flit_ns if flit != last else packet.last_bytes / link.bw_gbs
                mine = packet.feed  # starts, at first
                taken = duration if flit != last else duration + link.issue_ns
                mine.at[flit] = link.occupy(now, taken, packet.transaction)
                if flit == last:
                    self.leave_link(
                        packet, link, now, mine.at[0], now, mine.at[last], mine.at[last] + duration
                    )
        for packet in packets:
            link = packet.path.links[hop]
            if link.port is not None:
                continue
            last = packet.last
            mine = packet.feed
            for flit in range(last):
                mine.at[flit] = mine.at[flit] + link.flit_ns + link.delay_ns
            mine.at[last] = mine.at[last] + packet.last_bytes / link.bw_gbs + link.delay_ns
            packet.feed_hop = hop + 1
            self.queue.flit_at(mine.at[0], packet.transaction.id, hop + 1, 0, packet)

    def release(self, packet: Packet, flit: int, time: float) -> None:
        """Flits of a streamed message, those from ``flit`` on that stand at its source at ``time``."""
        path = packet.path
        if not path.hops:
            raise IndexError(f"a message of {packet.transaction.kind} has no link to be sent over")
        link = path.links[0]
        last = packet.last
        whole = path.reassembles[1]
        times = packet.times
        stride = packet.stride
        feed = packet.feed
        if link.port is not None:
            to = flit
            while to < last and feed.at[to + 1] <= time:
                to += 1
            self.stand(packet, 0, flit, to, time)
            if to < last and feed.at[to + 1] < _UNKNOWN:
                self.queue.flit_at(feed.at[to + 1], packet.transaction.id, 0, to + 1, packet)
            return
        if flit == 0:
            link.arrive(time)
            times.at[2 * stride] = time
        while True:
            duration = link.flit_ns if flit != last else packet.last_bytes / link.bw_gbs
            taken = duration if flit != last else duration + link.issue_ns
            start = link.occupy(time, taken, packet.transaction)
            end = start + duration
            if flit == 0:
                times.at[3 * stride] = start
            if flit == last or flit == 0 or not whole:
                self.queue.flit_at(end + link.delay_ns, packet.transaction.id, 1, flit, packet)
            if flit == last:
                self.leave_link(packet, link, times.at[2 * stride], times.at[3 * stride], time, start, end)
                return
            flit += 1
            if feed.at[flit] > time:
                if feed.at[flit] < _UNKNOWN:
                    self.queue.flit_at(feed.at[flit], packet.transaction.id, 0, flit, packet)
                return

    # -- where an arbiter decides ---------------------------------------------------------------------

    def stand(self, packet: Packet, hop: int, flit: int, last: int, time: float) -> None:
        """Flits ``flit`` to ``last`` stand from now on at the port between node ``hop`` and its link."""
        path = packet.path
        link = path.links[hop]
        port: Port = link.port
        if flit == 0:
            link.arrive(time)
            packet.times.at[2 * packet.stride + hop] = time
        source = path.links[hop - 1] if hop else path.nodes[0]
        if port.buffered:
            limited: BufferedPort = link.port
            limited.enter(source, packet, hop, flit, last, time)
            return
        port.join(source, packet, hop, flit, last, time)
        if not port.due:
            port.due = True
            self.queue.put_last(port.free if port.free > time else time, _DECIDE, port.index, port)

    def decide(self, port: Port) -> None:
        """The link behind ``port`` is free: it carries the flit whose turn it is."""
        now = self.clock.time
        if port.buffered:
            self.let_on(port, now)
            return
        request = port.next()
        packet = request.packet
        hop = request.hop
        flit = request.flit
        request.flit = flit + 1
        path = packet.path
        link = path.links[hop]
        last = packet.last
        duration = link.flit_ns if flit != last else packet.last_bytes / link.bw_gbs
        taken = duration if flit != last else duration + link.issue_ns
        port.occupy(now, taken, packet.transaction)
        end = now + duration
        times = packet.times
        stride = packet.stride
        if flit == 0:
            times.at[3 * stride + hop] = now
        if flit == 0 or flit == last or not path.reassembles[hop + 1]:
            self.queue.flit_at(end + link.delay_ns, packet.transaction.id, hop + 1, flit, packet)
        if flit == last:
            t_in, t_start = times.at[2 * stride + hop], times.at[3 * stride + hop]
            self.leave_link(packet, link, t_in, t_start, request.since, now, end)
        port.settle()
        port.due = len(port.standing) > 0
        if port.due:
            self.queue.put_last(now + taken, _DECIDE, port.index, port)

    def let_on(self, port: Any, now: float) -> None:
        """A port of finite buffers decides: the flit whose turn it is goes, if there is room for any."""
        if port.next_due != now:
            return  # it has decided since then
        lane: Lane | None = port.choose(now)
        if lane is None:
            return
        stay: LaneStay = lane.first
        packet = stay.packet
        hop = stay.hop
        flit = stay.flit
        path = packet.path
        link = path.links[hop]
        last = packet.last
        duration = link.flit_ns if flit != last else packet.last_bytes / link.bw_gbs
        end = now + duration
        arrival = end + link.delay_ns
        times = packet.times
        stride = packet.stride
        port.occupy(now, duration if flit != last else duration + link.issue_ns, packet.transaction)
        if flit == 0:
            times.at[3 * stride + hop] = now
        if flit == 0 or flit == last or not path.reassembles[hop + 1]:
            self.queue.flit_at(arrival, packet.transaction.id, hop + 1, flit, packet)
        if flit == last:
            wait = port.note_waits(lane, now)
            t_in, t_start = times.at[2 * stride + hop], times.at[3 * stride + hop]
            self.cross(packet, link, t_in, t_start, stay.came, end, wait)
        port.go(lane, now, end, arrival)
        port.settle()

    def leave_link(
        self,
        packet: Packet,
        link: Link,
        t_in: float,
        t_start: float,
        last_in: float,
        last_start: float,
        end: float,
    ) -> None:
        """The last flit is booked on ``link``: note the hop, with whom it waited for."""
        wait = 0.0
        if last_start > last_in:
            server = link if link.port is None else link.port
            wait = packet.transaction.note_waits(link.index, server, last_in, last_start)
        self.cross(packet, link, t_in, t_start, last_in, end, wait)

    def cross(
        self, packet: Packet, link: Link, t_in: float, t_start: float, last_in: float, end: float, wait: float
    ) -> None:
        """The last flit came to ``link`` at ``last_in``, waited, and is off its sender's end at ``end``."""
        transaction = packet.transaction
        out = end + link.delay_ns
        link.leave(end, packet.nbytes, packet.nbytes / link.bw_gbs + link.issue_ns, wait)
        self.flit_crossings += packet.last + 1
        if transaction.traced:
            transaction.hop(link.index, t_in, t_start, out, out - last_in - wait, wait, packet.nbytes)

    # -- at nodes -------------------------------------------------------------------------------------

    def flit_arrives(self, time: float, packet: Packet, hop: int, flit: int) -> None:
        """A flit reaches node ``hop`` of its path, or stands at the first where it is streamed.

        Everything per flit happens here.
        """
        path = packet.path
        if hop == 0:
            self.release(packet, flit, time)
            return
        last = packet.last
        if hop == packet.feed_hop and flit != last:
            self.queue.flit_at(packet.feed.at[flit + 1], packet.transaction.id, hop, flit + 1, packet)
        node = path.nodes[hop]
        if node.foreign:
            self.clock.touched = True
        if hop == path.hops:
            if node.at_end:
                node.receive_flit(packet, flit, time)
            else:
                self.whole(packet, hop, node, flit, time)
            return
        if not node.passes_on:
            self.whole(packet, hop, node, flit, time)
            return
        if node.overlaps:
            self.overlap(packet, hop, node, flit, time)
            return
        if flit == 0 or node.asked:
            transaction = packet.transaction
            service = node.service_ns(packet, flit)
            if not 0.0 <= service < _UNKNOWN:
                raise wrong_answer(node, "service_ns", service)
            begun = node.occupy(time, service, transaction)
            out = begun + service
            node._busy_ns += service
            if flit == 0:
                node.arrive(time)
                times = packet.times
                times.at[hop] = time
                times.at[packet.stride + hop] = begun
            if flit == last:
                self.leave_node(packet, hop, node, time, out, begun, 0.0)
            if out > time and (node.holds_back or path.links[hop].port is not None):
                # Others may come first: the link is not booked before the flit is there.
                self.queue.put_late(out, _DEPART, hop, flit, packet)
                return
        else:
            out = node.free
            if out < time:
                out = time
            if flit == last:
                self.leave_node(packet, hop, node, time, out, out, 0.0)
            if out > time and path.links[hop].port is not None:
                self.queue.put_late(out, _DEPART, hop, flit, packet)
                return
        self.put(packet, hop, flit, out)

    def overlap(self, packet: Packet, hop: int, node: FabricNode, flit: int, time: float) -> None:
        """A flit passes a pipelined node: the first takes its latency, the others come behind the first."""
        path = packet.path
        link = path.links[hop]
        last = packet.last
        transaction = packet.transaction
        times = packet.times
        stride = packet.stride
        out = time
        if flit == 0 or node.asked:
            service = node.service_ns(packet, flit)
            if not 0.0 <= service < _UNKNOWN:
                raise wrong_answer(node, "service_ns", service)
            out = time + service
            if out > node.free:  # in use as long as it has any first flit
                node._busy_ns += out - (node.free if node.free > time else time)
                node.free = out
        if flit == 0:
            node.arrive(time)
            times.at[hop] = time
            times.at[stride + hop] = time
            link.passing += 1
            if out < link.ahead:  # its latency was longer before
                out = link.ahead
        elif out < times.at[4 * stride + hop]:
            out = times.at[4 * stride + hop]
        if transaction.access is not None:
            out = transaction.access.follow(node.index, out, flit == 0 and packet.pays)
        times.at[4 * stride + hop] = out
        if flit == last:
            self.leave_node(packet, hop, node, time, out, time, 0.0)
        if out > time:
            # A flit alone on its way to the link is booked ahead; whatever comes later also leaves later.
            alone = link.passing == 1 and link.port is None and not node.holds_back and not self.splits
            if not alone or (flit and times.at[2 * stride + hop] == 0.0):
                self.queue.put_late(out, _DEPART, hop, flit, packet)
                return
            link.ahead = out
        self.put(packet, hop, flit, out)
        if flit == last:
            link.passing -= 1

    def put(self, packet: Packet, hop: int, flit: int, out: float) -> None:
        """Queue a flit on the link that leaves node ``hop``, at time ``out``, ns."""
        path = packet.path
        link = path.links[hop]
        if link.port is not None:
            self.stand(packet, hop, flit, flit, out)
            return
        last = packet.last
        duration = link.flit_ns if flit != last else packet.last_bytes / link.bw_gbs
        taken = duration if flit != last else duration + link.issue_ns
        start = link.occupy(out, taken, packet.transaction)
        end = start + duration
        if flit != 0 and flit != last:
            if not path.reassembles[hop + 1]:
                self.queue.flit_at(end + link.delay_ns, packet.transaction.id, hop + 1, flit, packet)
            return
        times = packet.times
        stride = packet.stride
        if flit == 0:
            link.arrive(out)
            times.at[2 * stride + hop] = out
            times.at[3 * stride + hop] = start
        self.queue.flit_at(end + link.delay_ns, packet.transaction.id, hop + 1, flit, packet)
        if flit == last:
            self.leave_link(
                packet, link, times.at[2 * stride + hop], times.at[3 * stride + hop], out, start, end
            )

    def whole(self, packet: Packet, hop: int, node: FabricNode, flit: int, time: float) -> None:
        """A node that wants the whole message: gather it, pay once, then forward or receive it.

        Messages of one access are forwarded as one.
        """
        if flit == 0:
            node.arrive(time)
            packet.times.at[hop] = time
        if flit != packet.last:
            return
        transaction = packet.transaction
        access = transaction.access
        if access is not None:
            if hop < packet.path.hops:
                self.forward_together(access.reassemble(node.index, packet, time), hop, node, time)
                return
            access.open -= 1
            packet.pays = access.open == 0
        overhead = node.overhead() if packet.pays else 0.0
        start = node.occupy(time, overhead, transaction)
        packet.times.at[packet.stride + hop] = start
        out = start + overhead
        node._busy_ns += overhead
        self.leave_node(packet, hop, node, time, out, start, 0.0)
        if hop < packet.path.hops:
            self.queue.put_step(out, _INJECT, hop, 0, packet)
        elif out > time:
            self.queue.put_step(out, _RECEIVE, hop, 0, packet)
        else:
            self.clock.touched = True
            node.receive(packet)

    def forward_together(
        self, whole: list[tuple[Packet, float]], hop: int, node: FabricNode, time: float
    ) -> None:
        """All messages of an access (or none yet) are at ``node`` that wants them whole."""
        if not whole:
            return
        packets = sorted([item for item, _ in whole], key=_by_key)
        last: Transaction = whole[len(whole) - 1][0].transaction
        overhead = node.overhead()
        start = node.occupy(time, overhead, last)
        out = start + overhead
        node._busy_ns += overhead
        for packet, last_in in whole:
            packet.times.at[packet.stride + hop] = start
            wait = 0.0
            if last_in < time:
                wait = packet.transaction.wait_for(last.id, node.index, last_in, time)
            self.leave_node(packet, hop, node, last_in, out, start, wait)
        self.clock.call_at(out, self.inject_together, packets, hop)

    def leave_node(
        self,
        packet: Packet,
        hop: int,
        node: FabricNode,
        last_in: float,
        out: float,
        begun: float,
        wait: float,
    ) -> None:
        """The last flit leaves a node at ``out``: note the hop. For ``wait`` ns it has been held already."""
        transaction = packet.transaction
        if begun > last_in + wait:
            wait += transaction.note_waits(node.index, node, last_in + wait, begun)
        node.leave(out, packet.nbytes, 0.0, wait)
        if transaction.traced:
            times = packet.times
            transaction.hop(
                node.index, times.at[hop], times.at[packet.stride + hop], out,
                out - last_in - wait, wait, packet.nbytes,
            )  # fmt: skip
