from kernbench.sim.booked cimport Booked
from kernbench.sim.holding cimport HeldTimes as Parts, Runs

cimport cython

cdef int _FORGET_EVERY, _LOOKED_AT

cdef class PseudoChannel(Booked):
    cdef public object node
    cdef readonly int place
    cdef double total, before_run
    cdef public double own_ns
    cdef list sums
    cdef Py_ssize_t gone

    @cython.locals(count=Py_ssize_t, follows=bint)
    cpdef double occupy(self, double time, double duration, object owner) except? -1.0
    @cython.locals(count=Py_ssize_t)
    cdef int forget_until(self, double oldest) except -1
    @cython.locals(
        runs=Runs, parts=Parts, cut=Py_ssize_t, middle=double, n=int, own=double, k=int, low=Py_ssize_t,
        high=Py_ssize_t, at=Py_ssize_t, since=double, begun=double, rest=double, first=Py_ssize_t,
    )
    cpdef int waits(self, object owner, double begin, double end) except -1
