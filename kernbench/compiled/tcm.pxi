# Accesses to a TCM through its ports: kernbench.components.pe_tcm.

cdef class Tcm:
    """``PeTcm.access``."""

    cdef FabricNode node
    cdef Ledger ledger
    cdef dict ways
    cdef list busy

    def __init__(self, FabricNode node not None, Ledger ledger not None):
        self.node = node
        self.ledger = ledger
        self.ways = node._ways
        self.busy = node._busy_by_port

    def access(
        self, caller, op, int64_t nbytes, *, bint write, done, double gbs=INFINITY, double overhead_ns=0.0
    ):
        cdef Access step = Access.__new__(Access)
        step.ledger = self.ledger
        step.done = done
        step.begin(self, caller, op, nbytes, write, gbs, overhead_ns)


cdef class Access(Step):
    """One access to a TCM under way."""

    cdef Ledger ledger
    cdef Transaction transaction
    cdef double start
    cdef object done

    cdef int begin(
        self, Tcm tcm, object caller, object op, int64_t nbytes, bint write, double gbs, double overhead_ns
    ) except -1:
        cdef FabricNode node = tcm.node
        cdef Server port
        cdef Clock clock = self.ledger.clock
        cdef double now = clock.time, own_gbs, duration, start, end, wait = 0.0, busy
        cdef Transaction transaction
        cdef tuple way = tcm.ways.get((caller, write))
        if way is None:
            way = node._way(caller, write)
        port = <Server?>way[2]
        own_gbs = way[3]
        transaction = self.ledger.open("tcm_write" if write else "tcm_read", <Path?>way[0], nbytes, now, op.id, write)
        op.transactions.append(transaction.id)
        duration = node.overhead_ns + overhead_ns + nbytes / (own_gbs if own_gbs < gbs else gbs)
        node.arrive(now)
        start = port.occupy(now, duration, transaction)
        (<Link?>way[1]).stream(start, nbytes)
        end = start + duration
        if start > now:
            wait = transaction.note_waits(node.index, port, now, start)
        busy = <double>tcm.busy[write] + duration
        tcm.busy[write] = busy
        node._busy_ns = busier(tcm.busy)
        node.leave(end, nbytes, 0.0, wait)
        if transaction.traced:
            transaction.hop(node.index, now, start, end, end - now - wait, wait, nbytes)
        self.transaction = transaction
        self.start = start
        return clock.step_at(end, self, OVER)

    cpdef object go(self, long long number):
        self.ledger.close(self.transaction)
        self.done(self.start)
        return 0


cdef inline double busier(list both) except? -1.0:
    cdef double first = both[0], second = both[1]
    return first if first > second else second
