from kernbench.sim.node cimport Link
from kernbench.sim.transaction cimport Packet

cimport cython

cdef class LinkQueue:
    cdef readonly Link link
    cdef readonly long long flit_bytes
    cdef public list waiting
    cdef public double end
    cdef public long long nbytes, packets

    cpdef object stand(self, tuple flit)
    @cython.locals(
        link=Link, waiting=list, arrived=double, end=double, flight=InFlight, hop=Py_ssize_t, flit="long long",
    )
    cpdef object serve(self, double time)
    cpdef double issue_ns(self, Packet packet, long long flit) except? -1.0
    @cython.locals(size=double)
    cpdef double takes_ns(self, Packet packet, long long flit) except? -1.0

cdef class Way:
    cdef readonly Py_ssize_t hops
    cdef readonly list queues, monitors, passes
    cdef readonly tuple reassembles

cdef class InFlight:
    cdef readonly list due
    cdef readonly Packet packet
    cdef readonly Way way
