from kernbench.engine.core.holding cimport Departures, Runs
from kernbench.engine.core.node cimport Link
from kernbench.engine.core.occupancy cimport OccupancyLog
from kernbench.engine.core.port cimport Port
from kernbench.engine.core.server cimport Server
from kernbench.engine.core.transaction cimport Packet, Transaction

cimport cython

cdef double _INFINITY

cdef class QueueEntry:
    cdef readonly Packet packet
    cdef readonly Py_ssize_t hop
    cdef readonly long long flit, last, order
    cdef readonly double since, came, allocated
    cdef readonly InputQueue channel
    cdef QueueEntry behind
    cdef list stalls

    cdef int prepare(self, Packet packet, Py_ssize_t hop, long long flit, long long last, double since, long long order) except -1
    cdef int forget(self) except -1

cdef class InputQueue:
    cdef readonly Server source
    cdef readonly Py_ssize_t number
    cdef readonly Buffer buffer
    cdef readonly int vc
    cdef bint by_message
    cdef readonly QueueEntry first
    cdef QueueEntry rear
    cdef double free, head_since
    cdef OccupancyLog log
    cdef readonly double stalled
    cdef readonly Transaction stalled_by
    cdef readonly Buffer full_buffer
    # of a virtual channel
    cdef readonly bint taken
    cdef readonly Transaction holder
    cdef double free_from
    cdef readonly long long left
    cdef Departures coming
    cdef bint wanted

    cdef object reset(self)
    cdef bint append(self, QueueEntry entry) except -1
    @cython.locals(gone=QueueEntry, following=QueueEntry, runs=Runs)
    cdef object pop(self, double end)
    cdef int stall(self, double now, Transaction by, Buffer full) except -1
    @cython.locals(entry=QueueEntry, since=double)
    cdef object resume(self, double now)
    @cython.locals(log=OccupancyLog, n=int, until=double)
    cdef double note_waits(self, Transaction transaction, Py_ssize_t resource, double since) except? -1.0
    cdef long long credits(self, double now) except -1
    @cython.locals(port=Port)
    cdef int give_back(self, double time) except -1

cdef class Buffer(Server):
    cdef readonly Link link
    cdef readonly long long flits
    cdef readonly double credit_ns, allocation_ns
    cdef readonly bint dateline
    cdef double reading
    cdef readonly list channels

    @cython.locals(channel=InputQueue)
    cpdef object reset(self)
