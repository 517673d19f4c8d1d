from kernbench.sim.holding cimport Departures
from kernbench.sim.inputs cimport InputQueue
from kernbench.sim.node cimport Link
from kernbench.sim.port cimport Port
from kernbench.sim.server cimport Server
from kernbench.sim.transaction cimport Transaction

cimport cython

cdef class VirtualChannel:
    cdef readonly Buffer buffer
    cdef readonly int number
    cdef readonly bint taken
    cdef readonly Transaction holder
    cdef double free_from
    cdef readonly long long left
    cdef Departures coming
    cdef bint wanted
    cdef readonly InputQueue queue

    cdef int reset(self) except -1
    cdef long long credits(self, double now) except -1
    @cython.locals(port=Port)
    cdef int give_back(self, double time) except -1

cdef class Buffer(Server):
    cdef readonly Link link
    cdef readonly long long flits
    cdef readonly double credit_ns, allocation_ns
    cdef readonly bint dateline
    cdef readonly Py_ssize_t spread
    cdef public object node
    cdef double reading
    cdef readonly list channels

    @cython.locals(channel=VirtualChannel)
    cpdef object reset(self)
