# Memories whose flits need no call into Python: kernbench.components.hbm.HbmSlice and sram.Sram.

@cython.final
cdef class Memory:
    """The fabric's view of an HBM slice (with ``channels``) or an SRAM (without)."""

    cdef Server node
    cdef list channels
    cdef int shift
    cdef int64_t mask, flit_bytes
    cdef double entry_busy_ns
    cdef double* busy    # of each channel when the slice's use was last counted
    cdef bint stale
    cdef Server by

    def __init__(
        self, Server node not None, list channels=None, int shift=0, int64_t flit_bytes=0,
    ):  # fmt: skip
        self.node = node
        self.channels = channels
        if channels is not None:
            for channel in channels:
                if not isinstance(channel, Server):
                    raise TypeError(f"{channel!r} is no channel")
            self.busy = <double*>calloc(len(channels) + 1, sizeof(double))
            if self.busy == NULL:
                raise MemoryError
            self.mask = len(channels) - 1
        self.shift = shift
        self.flit_bytes = flit_bytes
        node.memory = self

    def __dealloc__(self):
        free(self.busy)

    cdef int settle(self) except -1:
        """Work out the slice's use, as ``HbmSlice.leave`` does each time that a transaction leaves."""
        cdef double channels
        if self.stale:
            self.stale = False
            channels = fsum([self.busy[i] for i in range(self.mask + 1)]) / <double>(self.mask + 1)
            self.node._busy_ns = channels if channels > self.entry_busy_ns else self.entry_busy_ns
        return 0

    cdef double serve(self, Packet packet, int64_t flit, double time, bint writing) except? -1.0:
        """When a flit is committed or fetched that stands at the array at ``time``; by what, is ``by``."""
        cdef Transaction transaction
        cdef Server channel
        cdef int64_t index, step
        cdef double duration, done
        if self.channels is None:
            self.by = self.node
            return time
        transaction = packet.transaction
        index, step = transaction.channel, 1
        if index < 0:
            index = ((transaction.address + flit * self.flit_bytes) >> self.shift) & self.mask
            step = self.mask + 1
        elif index > self.mask:
            raise IndexError(f"'{self.node.resource}' has no channel {index}")
        channel = <Server>self.channels[index]
        duration = self.node._burst_ns
        direction = True if writing else False
        if channel.writing is not direction:
            if channel.writing is not None:
                duration += self.node._penalty_ns
            channel.writing = direction
        done = channel.take(time, duration, transaction) + duration
        channel._busy_ns += duration
        channel.bytes += self.flit_bytes if flit != packet.last else packet.last_bytes
        if flit < step:
            channel.come(time)
        if flit + step > packet.last:
            channel.go(done, 0, 0.0, 0.0)
        self.by = channel
        return done

    cdef int leave(
        self, Packet packet, double time, double begun, double inside, double done, Server server, int64_t nbytes
    ) except -1:
        """``Memory._leave``."""
        cdef Transaction transaction = packet.transaction
        cdef Server node = self.node
        cdef double wait = 0.0, behind, entry
        cdef Py_ssize_t hop
        if begun > time:
            wait += transaction.note_waits(node.index, node, time, begun)
        if server is not node and done > inside:
            behind = transaction.note_waits(
                server.index if server.index >= 0 else node.index, server, inside, done
            )
            server.wait_ns += behind
            wait += behind
        entry = node.entry_ns if packet.pays else 0.0
        if self.channels is None:
            node.go(done, nbytes, entry, wait)
        else:
            node.go(done, nbytes, 0.0, wait)
            self.entry_busy_ns += entry
            for hop in range(<Py_ssize_t>self.mask + 1):
                self.busy[hop] = (<Server>self.channels[hop])._busy_ns
            self.stale = True
        if transaction.traced:
            hop = packet.path.hops
            transaction.hop(
                node.index, packet.times[hop], packet.times[packet.stride + hop], done,
                done - time - wait, wait, nbytes,
            )
        return 0

    cdef int receive(self, Fabric fabric, Packet packet, int64_t flit, double time) except -1:
        """``Memory.receive_flit``."""
        cdef Transaction transaction = packet.transaction
        cdef Server node = self.node, server = None
        cdef Py_ssize_t hop = packet.path.hops
        cdef double entry, begun, inside, done
        if flit == 0:
            node.come(time)
            packet.times[hop] = time
            entry = node.entry_ns if packet.pays else 0.0
            begun = node.take(time, entry, transaction)
            inside = begun + entry
        else:
            begun = inside = node.free if node.free > time else time
        if not transaction.is_write:
            return self.read(fabric, packet, time, begun, inside)
        done = self.serve(packet, flit, inside, True)
        server = self.by
        if flit == 0:
            packet.times[packet.stride + hop] = begun
            packet.turn_done, packet.turn_server = done, server
        elif done >= packet.turn_done:
            packet.turn_done, packet.turn_server = done, server
        if flit == packet.last:
            done, server = packet.turn_done, packet.turn_server
            self.leave(packet, time, begun, inside, done, server, transaction.nbytes)
            fabric.clock.step_at(done, CALL, ACKNOWLEDGE, 0, packet)
        return 0

    cdef int read(self, Fabric fabric, Packet packet, double time, double begun, double inside) except -1:
        """``Memory._read``."""
        cdef Transaction transaction = packet.transaction
        cdef Packet answer = new_packet(transaction, transaction.path.reverse, transaction.nbytes, fabric.flit_bytes)
        cdef double ready = inside, done
        cdef Server slowest = self.node
        cdef int64_t flit
        cdef double* times = answer.feeds()
        packet.times[packet.stride + packet.path.hops] = begun
        for flit in range(answer.last + 1):
            done = self.serve(answer, flit, inside, False)
            if done > ready:
                ready, slowest = done, self.by
            times[flit] = ready
        self.leave(packet, time, begun, inside, ready, slowest, transaction.nbytes)
        if transaction.on_served is not None:
            fabric.clock.call(ready, CALL, (transaction.on_served, ()))
        return fabric.clock.entries.push(times[0], FLIT, transaction.id, 0, PYTHON, answer)

    cdef int acknowledge(self, Fabric fabric, Packet packet) except -1:
        """``Memory._acknowledge``."""
        cdef Transaction transaction = packet.transaction
        cdef Packet answer
        if transaction.on_served is not None:
            fabric.clock.touched = True
            transaction.on_served()
        answer = new_packet(transaction, transaction.path.reverse, 0, fabric.flit_bytes)
        access = transaction.access
        if access is not None:
            access.unanswered -= 1
            answer.pays = access.unanswered == 0
        return fabric.inject(answer, 0)
