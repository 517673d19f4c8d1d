from kernbench.sim.lanes cimport Buffer, Lane, LaneStay, VirtualChannel
from kernbench.sim.node cimport Link
from kernbench.sim.port cimport Arbiter, Port
from kernbench.sim.queue cimport Queue
from kernbench.sim.transaction cimport Packet

cimport cython

cdef int _DECIDE
cdef double _INFINITY

cdef class ChannelPort(Port):
    cdef Queue queue
    cdef readonly Buffer buffer
    cdef double next_due
    cdef Py_ssize_t allocated
    cdef list ready, asking
    cdef LaneStay spare
    cdef Py_ssize_t spread
    cdef bint crossing
    cdef Py_ssize_t half, seeking

    cdef object wake(self, double time)
    @cython.locals(place=Py_ssize_t, count=Py_ssize_t)
    cdef Py_ssize_t pick(self, list lines, Py_ssize_t last) except -1
    @cython.locals(buffer=Buffer, best=VirtualChannel, channel=VirtualChannel, most="long long", credits="long long",
                   number=Py_ssize_t)
    cdef VirtualChannel free_channel(self, LaneStay stay, double now)
    cdef Py_ssize_t low(self, LaneStay stay) except -1
    cdef Py_ssize_t high(self, LaneStay stay) except -1
    cdef bint beyond(self, LaneStay stay) except -1
    @cython.locals(lane=Lane, stay=LaneStay, chosen=Lane, asking=list, when=double)
    cdef object allocate(self, double now)
    @cython.locals(buffer=Buffer, channel=VirtualChannel, packet=Packet)
    cdef object give(self, Lane lane, LaneStay stay, double now)
    @cython.locals(buffer=Buffer, first=VirtualChannel)
    cdef double without_channel(self, Lane lane, LaneStay stay, double now) except? -1.0
    @cython.locals(buffer=Buffer, channel=VirtualChannel, number=Py_ssize_t, again=double)
    cdef double next_channel(self, LaneStay stay) except? -1.0
