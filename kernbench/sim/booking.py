"""Puts flits onto links: those that stand before a link at one time, or at times known beforehand."""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heappush

from kernbench.sim.clock import FLIT, Clock
from kernbench.sim.fabric import HOP
from kernbench.sim.node import Link
from kernbench.sim.transaction import Packet


class Booking:
    """Books packets on links. Each flit's arrival behind its link becomes an entry of the event queue."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self.flit_crossings = 0

    def inject(self, packet: Packet, hop: int) -> None:
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
            if packet.reassembles[hop + 1]:
                heappush(self.clock.entries, (feed[last], FLIT, packet.key + (hop + 1) * HOP + last, packet))
            else:
                packet.feed = feed
                packet.feed_hop = hop + 1
        else:
            start = first
            end += packet.last_bytes / link.bw_gbs
            arrival = end + delay
        link.free = end
        self.leave_link(packet, link, now, first, now, start, end)
        heappush(self.clock.entries, (arrival, FLIT, packet.key + (hop + 1) * HOP, packet))

    def inject_together(self, packets: Sequence[Packet], hop: int) -> None:
        """As :meth:`inject`, for packets that take turns."""
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
                    self.leave_link(packet, link, now, mine[0], now, mine[last], mine[last] + duration)
        for packet, mine in zip(packets, starts, strict=True):
            link, last = packet.links[hop], packet.last
            packet.feed = [start + link.flit_ns + link.delay_ns for start in mine[:last]]
            packet.feed.append(mine[last] + packet.last_bytes / link.bw_gbs + link.delay_ns)
            packet.feed_hop = hop + 1
            heappush(self.clock.entries, (packet.feed[0], FLIT, packet.key + (hop + 1) * HOP, packet))

    def release(self, packet: Packet, flit: int, time: float) -> None:
        """Flits of a streamed message, those from ``flit`` on that stand at its source at ``time``."""
        link = packet.links[0]
        transaction = packet.transaction
        entries = self.clock.entries
        last = packet.last
        reassembles = packet.reassembles[1]
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
                heappush(entries, (end + link.delay_ns, FLIT, packet.key + HOP + flit, packet))
                self.leave_link(packet, link, packet.link_in[0], packet.link_start[0], time, start, end)
                return
            if flit == 0 or not reassembles:
                heappush(entries, (end + link.delay_ns, FLIT, packet.key + HOP + flit, packet))
            flit += 1
            if packet.feed[flit] > time:
                heappush(entries, (packet.feed[flit], FLIT, packet.key + flit, packet))
                return

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
        """The last flit is booked on ``link``: note the hop."""
        transaction = packet.transaction
        out = end + link.delay_ns
        wait = 0.0
        if last_start > last_in:
            wait = transaction.record_waits(link.index, link.waited_for(transaction, last_in, last_start))
        link.leave(end, packet.nbytes, packet.nbytes / link.bw_gbs, wait)
        self.flit_crossings += packet.last + 1
        if transaction.traced:
            transaction.note_hop((link.index, t_in, t_start, out, out - last_in - wait, wait, packet.nbytes))
