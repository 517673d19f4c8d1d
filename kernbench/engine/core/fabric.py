"""Moves packets over links and through components, every flit by itself.

What happens to a flit at a node and on the link behind it, in the order of a router's stages:

arrival
    :meth:`Fabric.flit_arrives`: a destination takes the flit; a node that wants the whole message gathers it
    (:meth:`Fabric.gather`); a transit node says when the flit is through (:meth:`Fabric.flit_arrives` where
    one worker serves all, :meth:`Fabric.pass_pipelined` where its latency is a pipeline).
request
    :meth:`Fabric.request`: it wants the output. At a link that serves first come first served the next two
    stages follow at once.
allocation
    :mod:`kernbench.engine.core.port`: of a virtual channel, where the link has any, and of the switch.
traversal
    :meth:`Link.reserve`: the only place where a flit takes an output.
fork
    :meth:`Fabric.fork`: of a multicast, the legs that begin at the node get a copy of the flit.
delivery
    :meth:`Fabric.deliver`: one entry in the event queue, for the arrival at the next node.

So a flit costs one entry a link. It costs no entry to leave a node: when a link is certain to be free for it,
it is booked ahead (:meth:`Fabric.may_book_ahead`), and a message that is sent as a whole is booked in one go
(:meth:`Fabric.inject`). Also tried: an entry for each flit at each output (twice the entries for the same
times), and messages moved as a whole over the path, with what they wait for worked out backwards: as soon as
two of them meet in the middle of their paths, the times are others.

The order of flits at equal times (see ``clock``) is defined without reference to any of this.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kernbench.engine.core.clock import Carrier, Loop
from kernbench.engine.core.columns import Doubles
from kernbench.engine.core.inputs import InputQueue, QueueEntry
from kernbench.engine.core.node import FabricNode, Link
from kernbench.engine.core.port import Port
from kernbench.engine.core.times import wrong_answer
from kernbench.engine.core.transaction import Packet

_REQUEST, _INJECT, _RECEIVE, _ANSWER, _DECIDE = 3, 4, 5, 6, 7
"""Steps of a packet: a flit that its node has held back requests its output; it is sent on whole, received,
answered. A step of a port: it decides who is next."""
_UNKNOWN = float("inf")
_TRANSFORM = 16


class Fabric(Carrier):
    """Carries packets over links, from their path's first node on. Subclasses may override what is public."""

    def __init__(self, clock: Loop, flit_bytes: int) -> None:
        self.clock = clock
        self.queue = clock.entries
        self.flit_bytes = flit_bytes
        """Bytes of a flit."""
        self.splits = False
        """Whether messages may be parts of one access: machines with channel routers."""
        clock.carrier = self
        self.reset()

    def reset(self) -> None:
        """See :meth:`Server.reset`."""
        self.flit_crossings = 0
        """Number of flits put onto a link so far."""

    # -- what components ask for ----------------------------------------------------------------------

    def send(self, packet: Packet) -> None:
        """Put the whole packet onto its first link now."""
        self.inject(packet, 0)

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
        """Announce that the flits of ``packet`` will be sent one by one (:meth:`stream_flit`)."""
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
        """Carry out a step of a packet or a port that is due."""
        if what == _DECIDE:
            self.grant(item)
            return
        packet: Packet = item
        if what == _REQUEST:
            self.request(packet, hop, flit, self.clock.time)
            node = packet.path.nodes[hop]
            if node.pipelined and flit == packet.last:
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

    # -- messages queued at a link, now or from known times on ---------------------

    def inject(self, packet: Packet, hop: int) -> None:
        """Book all flits on the link of node ``hop``, where they are now, in one go."""
        if self.asks_port(packet, hop, 0, packet.last):
            return
        now = self.clock.time
        if not packet.last:
            self.request(packet, hop, 0, now)
            return
        feed = packet.feeds()
        for flit in range(packet.last + 1):
            feed.at[flit] = self.traverse(packet, hop, flit, now)
        self.feed(packet, hop + 1)

    def asks_port(self, packet: Packet, hop: int, flit: int, last: int) -> bool:
        """Whether an arbiter has been asked for the output, by flits that stand at node ``hop`` now."""
        path = packet.path
        if hop >= path.hops:
            raise IndexError(f"a message of {packet.transaction.kind} has no link to be sent over")
        link = path.links[hop]
        if link.port is None:
            return False
        self.ask(packet, hop, flit, last, self.clock.time)
        return True

    def feed(self, packet: Packet, hop: int) -> None:
        """All flits are booked up to node ``hop``: deliver the first, and each of the others after it."""
        feed = packet.feed
        if not packet.path.reassembles[hop]:
            packet.feed_hop = hop
        elif packet.last:
            self.deliver(packet, hop, packet.last, feed.at[packet.last])
        self.deliver(packet, hop, 0, feed.at[0])

    def release(self, packet: Packet, flit: int, time: float) -> None:
        """Flits of a streamed message, those from ``flit`` on that stand at its source at ``time``."""
        path = packet.path
        if not path.hops:
            raise IndexError(f"a message of {packet.transaction.kind} has no link to be sent over")
        link = path.links[0]
        last = packet.last
        feed = packet.feed
        to = flit
        while to < last and feed.at[to + 1] <= time:
            to += 1
        if link.port is not None:
            self.ask(packet, 0, flit, to, time)
        else:
            for one in range(flit, to + 1):
                self.request(packet, 0, one, time)
        if to < last and feed.at[to + 1] < _UNKNOWN:
            self.queue.flit_at(feed.at[to + 1], packet.transaction.id, 0, to + 1, packet)

    # -- request, traversal, delivery -------------------------------------------------------------------

    def request(self, packet: Packet, hop: int, flit: int, at: float) -> None:
        """Request the output of node ``hop`` for a flit, from ``at`` on."""
        link = packet.path.links[hop]
        if link.port is not None:
            self.ask(packet, hop, flit, flit, at)
        else:
            self.deliver(packet, hop + 1, flit, self.traverse(packet, hop, flit, at))

    def ask(self, packet: Packet, hop: int, flit: int, last: int, time: float) -> None:
        """Flits ``flit`` to ``last`` request the output of node ``hop`` where an arbiter decides."""
        path = packet.path
        link = path.links[hop]
        port: Port = link.port
        if flit == 0:
            link.arrive(time)
            packet.times.at[2 * packet.stride + hop] = time
        source = path.links[hop - 1] if hop else packet.entered or path.nodes[0]
        port.request(source, packet, hop, flit, last, time)

    def traverse(self, packet: Packet, hop: int, flit: int, at: float) -> float:
        """Send a flit over an output that serves first come first served; return when it has crossed."""
        link = packet.path.links[hop]
        times = packet.times
        stride = packet.stride
        start, end, arrival = link.reserve(packet, flit, at)
        if flit == 0:
            link.arrive(at)
            times.at[2 * stride + hop] = at
            times.at[3 * stride + hop] = start
        if flit == packet.last:
            wait = 0.0
            if start > at:
                wait = packet.transaction.note_waits(link.index, link, at, start)
            self.leave_link(packet, hop, link, at, end, wait)
        return arrival

    def grant(self, port: Port) -> None:
        """Let a port decide: the flit whose turn it is goes, if any can."""
        now = self.clock.time
        if port.next_due != now:
            return  # it has decided since then
        queue: InputQueue | None = port.arbitrate(now)
        if queue is None:
            return
        entry: QueueEntry = queue.first
        packet = entry.packet
        hop = entry.hop
        flit = entry.flit
        link = packet.path.links[hop]
        _, end, arrival = link.reserve(packet, flit, now)
        if flit == 0:
            packet.times.at[3 * packet.stride + hop] = now
        self.deliver(packet, hop + 1, flit, arrival)
        if flit == packet.last:
            self.leave_link(packet, hop, link, entry.came, end, port.note_waits(queue, now))
        port.sent(queue, now, end, arrival)

    def deliver(self, packet: Packet, hop: int, flit: int, arrival: float) -> None:
        """A flit is at node ``hop`` at ``arrival``; one that gathers wants the first and the last alone."""
        if flit == 0 or flit == packet.last or not packet.path.reassembles[hop]:
            self.queue.flit_at(arrival, packet.transaction.id, hop, flit, packet)

    def leave_link(
        self, packet: Packet, hop: int, link: Link, last_in: float, end: float, wait: float
    ) -> None:
        """The last flit came to ``link`` at ``last_in``, waited, and is off its sender's end at ``end``."""
        transaction = packet.transaction
        out = end + link.delay_ns
        link.leave(end, packet.nbytes, packet.nbytes / link.bw_gbs + link.issue_ns, wait)
        if transaction.message is not None:
            link.control_messages += 1
        self.flit_crossings += packet.last + 1
        if transaction.traced:
            times = packet.times
            transaction.hop(
                link.index, times.at[2 * packet.stride + hop], times.at[3 * packet.stride + hop], out,
                out - last_in - wait, wait, packet.nbytes,
            )  # fmt: skip

    # -- at nodes -------------------------------------------------------------------------------------

    def flit_arrives(self, time: float, packet: Packet, hop: int, flit: int) -> None:
        """Handle a flit that reaches node ``hop`` of its path, or is at the first node if streamed."""
        path = packet.path
        if hop == 0:
            self.release(packet, flit, time)
            return
        last = packet.last
        if hop == packet.feed_hop and flit != last:
            self.queue.flit_at(packet.feed.at[flit + 1], packet.transaction.id, hop, flit + 1, packet)
        node = path.nodes[hop]
        if node.is_python_subclass:
            self.clock.touched = True
        if hop == path.hops:
            if node.is_endpoint:
                node.receive_flit(packet, flit, time)
            else:
                self.gather(packet, hop, node, flit, time)
            return
        if not node.is_transit:
            self.gather(packet, hop, node, flit, time)
            return
        if node.pipelined:
            self.pass_pipelined(packet, hop, node, flit, time)
            return
        if flit == 0 or node.custom_service:
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
        else:
            begun = out = node.free if node.free > time else time
        if flit == last:
            self.leave_node(packet, hop, node, time, out, begun, 0.0)
        if packet.branches is not None:
            self.fork(packet, hop, node, flit, time, out)
        if out > time and not self.may_book_ahead(packet, hop, node, flit):
            self.queue.put_at_start(out, _REQUEST, hop, flit, packet)
        else:
            self.request(packet, hop, flit, out)

    def pass_pipelined(self, packet: Packet, hop: int, node: FabricNode, flit: int, time: float) -> None:
        """A flit passes a pipelined node: the first takes its latency, the others come behind the first."""
        path = packet.path
        link = path.links[hop]
        last = packet.last
        transaction = packet.transaction
        times = packet.times
        stride = packet.stride
        out = time
        if flit == 0 or node.custom_service:
            service = node.service_ns(packet, flit)
            if not 0.0 <= service < _UNKNOWN:
                raise wrong_answer(node, "service_ns", service)
            out = time + service
            if out > node.free:  # in use as long as it has any first flit
                more = out - (node.free if node.free > time else time)
                node._busy_ns += more
                if transaction.message is not None:
                    node.control_busy_ns += more
                node.free = out
        if flit == 0:
            node.arrive(time)
            if transaction.message is not None:
                node.control_messages += 1
            times.at[hop] = time
            times.at[stride + hop] = time
            link.passing += 1
            if out < link.earliest:  # its latency was longer before
                out = link.earliest
        elif out < times.at[4 * stride + hop]:
            out = times.at[4 * stride + hop]
        if transaction.access is not None:
            out = transaction.access.follow(node.index, out, flit == 0 and packet.pays)
        times.at[4 * stride + hop] = out
        if flit == last:
            self.leave_node(packet, hop, node, time, out, time, 0.0)
        if packet.branches is not None:
            self.fork(packet, hop, node, flit, time, out)
        if out > time:
            if not self.may_book_ahead(packet, hop, node, flit):
                self.queue.put_at_start(out, _REQUEST, hop, flit, packet)
                return
            link.earliest = out
        self.request(packet, hop, flit, out)
        if flit == last:
            link.passing -= 1

    def fork(self, packet: Packet, hop: int, node: FabricNode, flit: int, time: float, out: float) -> None:
        """Copy a flit of a multicast, which may leave ``node`` at ``out``, to the legs that begin there.

        Each leg is a message of its own from here on and requests its own output. Its time begins when its
        last flit is there. The node is paid for, and counted, by the packet that brought the flit.
        """
        legs = packet.branches.get(hop)
        if legs is None:
            return
        for leg in legs:
            link = leg.path.links[0]
            leaves = out
            if node.pipelined:
                times = leg.times
                place = 4 * leg.stride
                if flit == 0:
                    link.passing += 1
                    if leaves < link.earliest:
                        leaves = link.earliest
                elif leaves < times.at[place]:
                    leaves = times.at[place]
                times.at[place] = leaves
            if flit == leg.last:
                leg.transaction.t_submit = leaves
            if leaves > time and not self.may_book_ahead(leg, 0, node, flit):
                self.queue.put_at_start(leaves, _REQUEST, 0, flit, leg)
                continue
            if node.pipelined and leaves > time:
                link.earliest = leaves
            self.request(leg, 0, flit, leaves)
            if node.pipelined and flit == leg.last:
                link.passing -= 1

    def may_book_ahead(self, packet: Packet, hop: int, node: FabricNode, flit: int) -> bool:
        """Whether a flit that leaves ``node`` later may take its output now.

        What :meth:`Link.reserve` gives is final. So nothing that comes after this moment may have a right to
        go before the flit, and nothing that came before may still be without a place:

        - With a port, who is next is decided when the link is free; a right to go before may come any time.
        - A node that also sends, or whose first flits may take different times, can put something onto the
          link between now and then (``reorders``).
        - One worker serves everything in order of arrival: whoever comes later also leaves later. That is all
          for a node that is not pipelined.
        - In a pipeline, first flits take equally long, so they leave in the order in which they come
          (``Link.earliest``, where the latency has been changed). But the flits behind a first flit take no
          time of their own: those of another message that has begun to pass may be through before this one.
          So the message must be the only one on its way to the link, and its first flit have its place there.
        - Parts of one access follow the part that pays (``ChannelRequests.follow``): where there are any,
          a flit may be held back for one of another message.
        """
        link = packet.path.links[hop]
        if link.port is not None or node.reorders:
            return False
        if not node.pipelined:
            return True
        if self.splits or link.passing != 1:
            return False
        return flit == 0 or packet.times.at[2 * packet.stride + hop] != 0.0

    def gather(self, packet: Packet, hop: int, node: FabricNode, flit: int, time: float) -> None:
        """Take a flit at a node that takes whole messages: wait for all of it, then forward or receive it.

        The node pays once. Messages of one access are forwarded as one.
        """
        transaction = packet.transaction
        if flit == 0:
            node.arrive(time)
            if transaction.message is not None:
                node.control_messages += 1
            packet.times.at[hop] = time
        if flit != packet.last:
            return
        access = transaction.access
        if access is not None:
            if hop < packet.path.hops:
                access.gather(self, node, packet, hop, time)
                return
            access.open -= 1
            packet.pays = access.open == 0
        overhead = node.overhead() if packet.pays else 0.0
        start = node.occupy(time, overhead, transaction)
        packet.times.at[packet.stride + hop] = start
        out = start + overhead
        node._busy_ns += overhead
        if transaction.message is not None:
            node.control_busy_ns += overhead
        self.leave_node(packet, hop, node, time, out, start, 0.0)
        if hop < packet.path.hops:
            legs = None if packet.branches is None else packet.branches.get(hop)
            if node.hooks & _TRANSFORM:
                packet = node.transform(packet)
            self.queue.put_step(out, _INJECT, hop, 0, packet)
            for leg in legs or ():
                leg.transaction.t_submit = out
                self.queue.put_step(
                    out, _INJECT, 0, 0, node.transform(leg) if node.hooks & _TRANSFORM else leg
                )
        elif out > time:
            self.queue.put_step(out, _RECEIVE, hop, 0, packet)
        else:
            self.clock.touched = True
            node.receive(packet)

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
        """Note the hop of a message whose last flit leaves a node at ``out``.

        ``wait`` ns of it have been noted already.
        """
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
