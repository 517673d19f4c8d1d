from kernbench.engine.core.server cimport Server
from kernbench.engine.core.transaction cimport Packet, Path

cimport cython

cdef int _SERVICE, _OVERHEAD, _ENTRY, _COMMITS, _TRANSFORM

cdef double _INFINITY

cdef class FabricNode(Server):
    cdef public double overhead_ns
    cdef public bint pipelined
    # settled when the first path over it is made
    cdef readonly int hooks
    cdef readonly bint is_transit, is_endpoint, custom_service, reorders, is_python_subclass
    cdef bint settled

    cpdef object settle(self)
    @cython.locals(ns=double)
    cpdef double overhead(self) except? -1.0
    cpdef double service_ns(self, Packet packet, long long flit) except? -1.0
    cpdef Packet transform(self, Packet packet)
    cpdef object receive(self, Packet packet)
    cpdef object receive_flit(self, Packet packet, long long flit, double time)
    cpdef object answer(self, Packet packet)

cdef class Link(Server):
    cdef public object edge, kind, port
    cdef public double bw_gbs, delay_ns, flit_ns, issue_ns
    cdef public long long streams, streamed_bytes
    cdef double stream_free
    cdef Py_ssize_t passing
    cdef double earliest

    @cython.locals(server=Server, duration=double, taken=double)
    cdef (double, double, double) reserve(self, Packet packet, long long flit, double at) except *
    @cython.locals(link=Link)
    cpdef object stand_for(self, Server other)
    @cython.locals(link=Link)
    cpdef object grow(self, Server like, list before)
    cpdef list tally(self)
    cpdef double stream(self, double head, long long nbytes) except? -1.0

@cython.locals(node=FabricNode, last=FabricNode)
cpdef Path path_over(list nodes, list links)
@cython.locals(passed=list, crossed=list, name=str, before=str)
cpdef Path path_along(tuple route, dict nodes, dict links)
