from kernbench.sim.holding cimport HeldTimes as Parts, Runs
from kernbench.sim.server cimport Server

cimport cython

cdef int _NAMED

cdef class Booked(Server):
    cpdef double occupy(self, double time, double duration, object owner) except? -1.0
    @cython.locals(runs=Runs)
    cdef int forget_until(self, double oldest) except -1
    @cython.locals(
        runs=Runs, parts=Parts, n=int, k=int, at=Py_ssize_t, stop=double, since=double, start=double, until=double,
    )
    cpdef int waits(self, object owner, double begin, double end) except -1
