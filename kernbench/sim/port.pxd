from kernbench.sim.booked cimport Booked
from kernbench.sim.server cimport Server
from kernbench.sim.transaction cimport Packet

cimport cython

cdef double _INFINITY

cdef class PortRequest:
    cdef readonly Packet packet
    cdef readonly Py_ssize_t hop
    cdef readonly long long flit, last, order
    cdef readonly double since
    cdef PortRequest behind

cdef class PortLine:
    cdef readonly Server source
    cdef readonly Py_ssize_t number
    cdef readonly PortRequest first
    cdef PortRequest rear

cdef class Arbiter:
    cdef readonly object link

    cpdef Py_ssize_t pick(self, list lines, Py_ssize_t last) except? -1

cdef class Port(Booked):
    cdef readonly object link
    cdef readonly Arbiter arbiter
    cdef dict lines
    cdef readonly list standing
    cdef Py_ssize_t last
    cdef long long came
    cdef bint due
    cdef readonly bint buffered

    @cython.locals(line=PortLine, before=PortLine, request=PortRequest, place=Py_ssize_t)
    cdef object join(self, Server source, Packet packet, Py_ssize_t hop, long long flit, long long last, double time)
    @cython.locals(line=PortLine, request=PortRequest, place=Py_ssize_t, count=Py_ssize_t)
    cdef PortRequest next(self)
    @cython.locals(line=PortLine, first=PortRequest, oldest=double)
    cdef object settle(self)
    cdef object wake(self, double time)
