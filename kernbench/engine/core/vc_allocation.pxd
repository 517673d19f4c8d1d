from kernbench.engine.core.inputs cimport Buffer, InputQueue, QueueEntry
from kernbench.engine.core.port cimport Port
from kernbench.engine.core.transaction cimport Packet

cimport cython

cdef double _INFINITY

cdef class VcAllocation:
    cdef Port port
    cdef Buffer buffer
    cdef bint crossing
    cdef Py_ssize_t unallocated, last_allocated, half

    cdef int reset(self) except -1
    @cython.locals(port=Port, queue=InputQueue, entry=QueueEntry, first=InputQueue, chosen=InputQueue, asking=list, when=double)
    cdef object allocate(self, double now)
    @cython.locals(buffer=Buffer, channel=InputQueue, packet=Packet)
    cdef int give(self, InputQueue queue, QueueEntry entry, double now) except -1
    @cython.locals(buffer=Buffer, best=InputQueue, channel=InputQueue, most="long long", credits="long long",
                   number=Py_ssize_t)
    cdef InputQueue free_channel(self, QueueEntry entry, double now)
    @cython.locals(buffer=Buffer, channel=InputQueue, number=Py_ssize_t, again=double)
    cdef double next_channel(self, QueueEntry entry) except? -1.0
    cdef Py_ssize_t low(self, QueueEntry entry) except -1
    cdef Py_ssize_t high(self, QueueEntry entry) except -1
    cdef bint beyond(self, QueueEntry entry) except -1
    @cython.locals(buffer=Buffer, first=InputQueue)
    cdef double without_channel(self, InputQueue queue, QueueEntry entry, double now) except? -1.0
