from kernbench.engine.core.server cimport Server

cpdef double slack(double time)

cdef class FifoMonitor:
    cdef readonly Server server
    cdef public double arrived, end
    cdef object _occupy

    cpdef object occupied(self, Server server, double time, double duration, double start, object owner)
