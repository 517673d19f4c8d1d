from kernbench.engine.core.holding cimport Departures
from kernbench.engine.core.occupancy cimport OccupancyLog

cimport cython

cdef double _INFINITY

cdef class Server:
    cdef public object resource, node, holder, watcher
    cdef public Py_ssize_t index
    cdef public double free, since, wait_ns
    cdef double _busy_ns, control_busy_ns
    cdef public long long bytes, transactions, max_queue
    cdef readonly Server like
    cdef long long control_messages
    cdef long long present
    cdef readonly OccupancyLog log
    cdef bint queued, remembers
    cdef Departures departures
    cdef Py_ssize_t leaving
    cdef double left

    cpdef object reset(self)
    cpdef object forget_holders(self)
    cpdef double occupy(self, double time, double duration, object owner) except? -1.0
    cdef int _hand_over(self, double time, double end) except -1
    cdef int _forget_log(self) except -1
    @cython.locals(log=OccupancyLog)
    cpdef int blockers(self, object owner, double begin, double end) except -1
    @cython.locals(present="long long", gone=int)
    cpdef object arrive(self, double time)
    cpdef object leave(self, double time, long long nbytes, double busy_ns, double wait_ns)
    cpdef object stand_for(self, Server other)
    cpdef list tally(self)
    cpdef object grow(self, Server like, list before)

cdef class ArbitratedServer(Server):
    pass
