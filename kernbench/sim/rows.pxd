from kernbench.sim.columns cimport Hops, Numbers, Waits
from kernbench.sim.transaction cimport Transaction

cdef class Rows:
    cdef readonly list kind, src, dst, request
    cdef readonly Numbers numbers
    cdef public Hops hops
    cdef public Waits waits
    cdef long long forgotten

    cpdef int take(self, Transaction t, long long launch) except -1
