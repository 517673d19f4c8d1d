# The per-flit engine: kernbench.sim.booking and flit_fabric.

cdef class Fabric:
    """Moves packets over links and through components, every flit by itself; see ``FlitFabric``."""

    cdef Clock clock
    cdef readonly int64_t flit_bytes
    cdef public int64_t flit_crossings

    def __init__(self, Clock clock not None, int64_t flit_bytes):
        self.clock = clock
        self.flit_bytes = flit_bytes
        clock.fabric = self

    def send(self, Packet packet not None):
        self.inject(packet, 0)

    def send_together(self, packets):
        self.inject_together(list(packets), 0)

    def stream(self, Packet packet not None, times):
        cdef double* fed = packet.feeds()
        cdef int64_t flit
        if len(times) != packet.last + 1:
            raise ValueError(f"{len(times)} times for a packet of {packet.last + 1} flits")
        for flit in range(packet.last + 1):
            fed[flit] = times[flit]
        self.clock.entries.push(fed[0], FLIT, packet.transaction.id, 0, PYTHON, packet)

    cdef int push(self, double time, Packet packet, Py_ssize_t hop, int64_t flit) except -1:
        return self.clock.entries.push(
            time, FLIT, packet.transaction.id, (<uint64_t>hop << FLIT_BITS) | <uint64_t>flit, PYTHON, packet
        )

    # -- onto links: Booking ---------------------------------------------------------------------------

    cdef int inject(self, Packet packet, Py_ssize_t hop) except -1:
        cdef double now = self.clock.time
        cdef Path path = packet.path
        if hop >= path.hops:
            raise IndexError(f"a message of {packet.transaction.kind} has no link to be sent over")
        cdef Server link = <Server>path.links[hop]
        cdef Transaction transaction = packet.transaction
        cdef int64_t last = packet.last, i
        cdef double first, end, start, delay, arrival
        cdef double* feed
        link.come(now)
        first = link.take(now, 0.0, transaction)
        end = first
        delay = link.delay_ns
        if last:
            feed = packet.feeds()
            for i in range(last):
                end += link.flit_ns
                feed[i] = end + delay
            start = end
            end += packet.last_bytes / link.bw_gbs
            feed[last] = end + delay
            arrival = feed[0]
            if path.whole_at(hop + 1):
                self.push(feed[last], packet, hop + 1, last)
            else:
                packet.feed_hop = hop + 1
        else:
            start = first
            end += packet.last_bytes / link.bw_gbs
            arrival = end + delay
        link.free = end
        self.leave_link(packet, link, now, first, now, start, end)
        return self.push(arrival, packet, hop + 1, 0)

    cdef int inject_together(self, list packets, Py_ssize_t hop) except -1:
        cdef double now = self.clock.time, duration, start
        cdef int64_t flit = 0, last, most = 0
        cdef Packet packet
        cdef Server link
        cdef double* mine
        for item in packets:
            packet = <Packet?>item
            if hop >= packet.path.hops:
                raise IndexError(f"a message of {packet.transaction.kind} has no link to be sent over")
            packet.feeds()
            most = max(most, packet.last)
        while flit <= most:
            for item in packets:
                packet = <Packet>item
                last = packet.last
                if flit > last:
                    continue
                link = <Server>packet.path.links[hop]
                if flit == 0:
                    link.come(now)
                duration = link.flit_ns if flit != last else packet.last_bytes / link.bw_gbs
                mine = packet.fed  # starts at first
                mine[flit] = link.take(now, duration, packet.transaction)
                if flit == last:
                    self.leave_link(packet, link, now, mine[0], now, mine[last], mine[last] + duration)
            flit += 1
        for item in packets:
            packet = <Packet>item
            link, last = <Server>packet.path.links[hop], packet.last
            mine = packet.fed
            for flit in range(last):
                mine[flit] = mine[flit] + link.flit_ns + link.delay_ns
            mine[last] = mine[last] + packet.last_bytes / link.bw_gbs + link.delay_ns
            packet.feed_hop = hop + 1
            self.push(mine[0], packet, hop + 1, 0)
        return 0

    cdef int release(self, Packet packet, int64_t flit, double time) except -1:
        cdef Path path = packet.path
        if not path.hops:
            raise IndexError(f"a message of {packet.transaction.kind} has no link to be sent over")
        cdef Server link = <Server>path.links[0]
        cdef Transaction transaction = packet.transaction
        cdef int64_t last = packet.last
        cdef bint reassembles = path.whole_at(1)
        cdef double duration, start, end
        cdef double* link_in = packet.times + 2 * packet.stride
        cdef double* link_start = packet.times + 3 * packet.stride
        if flit == 0:
            link.come(time)
            link_in[0] = time
        while True:
            duration = link.flit_ns if flit != last else packet.last_bytes / link.bw_gbs
            start = link.take(time, duration, transaction)
            end = start + duration
            if flit == 0:
                link_start[0] = start
            if flit == last:
                self.push(end + link.delay_ns, packet, 1, flit)
                return self.leave_link(packet, link, link_in[0], link_start[0], time, start, end)
            if flit == 0 or not reassembles:
                self.push(end + link.delay_ns, packet, 1, flit)
            flit += 1
            if packet.fed[flit] > time:
                return self.push(packet.fed[flit], packet, 0, flit)

    cdef int leave_link(
        self, Packet packet, Server link, double t_in, double t_start, double last_in, double last_start, double end
    ) except -1:
        cdef Transaction transaction = packet.transaction
        cdef double out = end + link.delay_ns, wait = 0.0
        if last_start > last_in:
            wait = transaction.note_waits(link.index, link, last_in, last_start)
        link.go(end, packet.nbytes, packet.nbytes / link.bw_gbs, wait)
        self.flit_crossings += packet.last + 1
        if transaction.traced:
            transaction.hop(link.index, t_in, t_start, out, out - last_in - wait, wait, packet.nbytes)
        return 0

    # -- at nodes: FlitFabric --------------------------------------------------------------------------

    cdef int arrive(self, double time, uint64_t minor, Packet packet) except -1:
        cdef Py_ssize_t hop = <Py_ssize_t>(minor >> FLIT_BITS)
        cdef int64_t flit = <int64_t>(minor & 0xFFFFFFFF), last
        cdef Path path = packet.path
        cdef Server node, link
        cdef Transaction transaction
        cdef double out, start, end, service, begun, duration
        cdef int flags
        if hop == 0:
            return self.release(packet, flit, time)
        last = packet.last
        if hop == packet.feed_hop and flit != last:
            self.push(packet.fed[flit + 1], packet, hop, flit + 1)
        node = <Server>path.nodes[hop]
        flags = path.flags[hop]
        if hop == path.hops:
            if flags & TAKES_FLITS:
                if node.memory is not None:
                    return node.memory.receive(self, packet, flit, time)
                self.clock.touched = True
                node.receive_flit(packet, flit, time)
                return 0
            return self.whole(packet, hop, node, flit, time)
        if not flags & IS_TRANSIT:
            return self.whole(packet, hop, node, flit, time)
        transaction = packet.transaction
        if flit == 0 or flags & OWN_SERVICE:
            if flags & PLAIN_SERVICE and flit == 0:
                service = node.overhead_ns if packet.pays else 0.0
                begun = node.take(time, service, transaction)
                out = begun + service
                node._busy_ns += service
                node.come(time)
                packet.times[hop] = time
                packet.times[packet.stride + hop] = begun
                if last == 0:
                    self.leave_node(packet, hop, node, time, out, begun, 0.0)
            else:
                out = self.work(packet, hop, node, flit, time)
            if out > time and flags & SENDS:
                return self.clock.step_at(out, LATE, DEPART, minor, packet)
        else:
            out = node.free
            if out < time:
                out = time
            if flit == last:
                self.leave_node(packet, hop, node, time, out, out, 0.0)
        link = <Server>path.links[hop]
        duration = link.flit_ns if flit != last else packet.last_bytes / link.bw_gbs
        start = link.free
        if out >= start:
            start = out
            if link.count:
                link.forget()
            link.holder = transaction
            link.since = out
        elif link.holder is not transaction:
            link.end_holder(start)
            link.holder = transaction
            link.since = start
        end = start + duration
        link.free = end
        return self.put(packet, hop, link, flit, out, start, end)

    cdef int put(
        self, Packet packet, Py_ssize_t hop, Server link, int64_t flit, double out, double start, double end
    ) except -1:
        """A flit is booked on the link behind node ``hop``."""
        cdef double* link_in = packet.times + 2 * packet.stride + hop
        cdef double* link_start = packet.times + 3 * packet.stride + hop
        if flit == 0:
            link.come(out)
            link_in[0] = out
            link_start[0] = start
        if flit == 0 or flit == packet.last or not packet.path.whole_at(hop + 1):
            self.push(end + link.delay_ns, packet, hop + 1, flit)
        if flit == packet.last:
            self.leave_link(packet, link, link_in[0], link_start[0], out, start, end)
        return 0

    cdef int depart(self, uint64_t minor, Packet packet) except -1:
        cdef Py_ssize_t hop = <Py_ssize_t>(minor >> FLIT_BITS)
        cdef int64_t flit = <int64_t>(minor & 0xFFFFFFFF)
        cdef double out = self.clock.time
        cdef Server link = <Server>packet.path.links[hop]
        cdef double duration = link.flit_ns if flit != packet.last else packet.last_bytes / link.bw_gbs
        cdef double start = link.take(out, duration, packet.transaction)
        return self.put(packet, hop, link, flit, out, start, start + duration)

    cdef double work(self, Packet packet, Py_ssize_t hop, Server node, int64_t flit, double time) except? -1.0:
        cdef double service, start, out
        if packet.path.flags[hop] & PLAIN_SERVICE:
            service = node.overhead_ns if flit == 0 and packet.pays else 0.0
        else:
            self.clock.touched = True
            service = node.service_ns(packet, flit)
        start = node.take(time, service, packet.transaction)
        out = start + service
        node._busy_ns += service
        if flit == 0:
            node.come(time)
            packet.times[hop] = time
            packet.times[packet.stride + hop] = start
        if flit == packet.last:
            self.leave_node(packet, hop, node, time, out, start, 0.0)
        return out

    cdef int whole(self, Packet packet, Py_ssize_t hop, Server node, int64_t flit, double time) except -1:
        cdef double overhead, start, out
        if flit == 0:
            node.come(time)
            packet.times[hop] = time
        if flit != packet.last:
            return 0
        access = packet.transaction.access
        if access is not None:
            if hop < packet.path.hops:
                return self.forward_together(access.reassemble(node.index, packet, time), hop, node, time)
            access.open -= 1
            packet.pays = access.open == 0
        overhead = node.overhead_ns if packet.pays else 0.0
        start = node.take(time, overhead, packet.transaction)
        packet.times[packet.stride + hop] = start
        out = start + overhead
        node._busy_ns += overhead
        self.leave_node(packet, hop, node, time, out, start, 0.0)
        if hop < packet.path.hops:
            return self.clock.step_at(out, CALL, INJECT, <uint64_t>hop, packet)
        if out > time:
            return self.clock.step_at(out, CALL, RECEIVE, <uint64_t>hop, packet)
        self.clock.touched = True
        node.receive(packet)
        return 0

    cdef int forward_together(self, list whole, Py_ssize_t hop, Server node, double time) except -1:
        cdef Transaction last, transaction
        cdef Packet packet
        cdef double start, out, wait, last_in
        if not whole:
            return 0
        packets = sorted([item for item, _ in whole], key=by_key)
        last = (<Packet?>whole[len(whole) - 1][0]).transaction
        start = node.take(time, node.overhead_ns, last)
        out = start + node.overhead_ns
        node._busy_ns += node.overhead_ns
        for item, came in whole:
            packet, last_in = <Packet?>item, came
            packet.times[packet.stride + hop] = start
            wait = 0.0
            if last_in < time:
                transaction = packet.transaction
                transaction.wait(last.id, node.index, time - last_in, 1, last_in, time)
                wait = 0.0 + (time - last_in)
            self.leave_node(packet, hop, node, last_in, out, start, wait)
        return self.clock.call(out, CALL, (self._inject_together, (packets, hop)))

    def _inject_together(self, packets, Py_ssize_t hop):
        self.inject_together(packets, hop)

    cdef int leave_node(
        self, Packet packet, Py_ssize_t hop, Server node, double last_in, double out, double begun, double wait
    ) except -1:
        cdef Transaction transaction = packet.transaction
        if begun > last_in + wait:
            wait += transaction.note_waits(node.index, node, last_in + wait, begun)
        if packet.path.flags[hop] & OWN_LEAVE:
            self.clock.touched = True
            node.leave(out, packet.nbytes, 0.0, wait)
        else:
            node.go(out, packet.nbytes, 0.0, wait)
        if transaction.traced:
            transaction.hop(
                node.index, packet.times[hop], packet.times[packet.stride + hop], out,
                out - last_in - wait, wait, packet.nbytes,
            )
        return 0
