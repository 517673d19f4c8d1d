from kernbench.engine.core.holding cimport HeldTimes, Runs
from kernbench.engine.core.occupancy cimport OccupancyLog
from kernbench.engine.core.server cimport ArbitratedServer

cimport cython

cdef int _FORGET_EVERY, _LOOKED_AT

cdef class BusLog(OccupancyLog):
    cdef double total, before_run, own_ns
    cdef list sums
    cdef Py_ssize_t gone

    cdef int add(self, double since, double until, object holder) except -1
    @cython.locals(count=Py_ssize_t)
    cdef int forget_until(self, double time) except -1
    @cython.locals(
        runs=Runs, found=HeldTimes, n=int, k=int, cut=Py_ssize_t, low=Py_ssize_t, high=Py_ssize_t, at=Py_ssize_t,
        first=Py_ssize_t, middle=double, own=double, oldest=double, begun=double, rest=double,
    )
    cdef int blockers(
        self, object owner, double begin, double end, object holder, double since, double until
    ) except -1

cdef class PseudoChannel(ArbitratedServer):
    cdef public Py_ssize_t place
    cdef readonly BusLog bus

    @cython.locals(follows=bint, bus=BusLog)
    cpdef double occupy(self, double time, double duration, object owner) except? -1.0
    cdef int forget_until(self, double oldest) except -1
