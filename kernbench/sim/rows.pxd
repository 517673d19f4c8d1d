from kernbench.sim.columns cimport Hops, Numbers, Waits
from kernbench.sim.transaction cimport Transaction

cimport cython

cdef class TransactionRows:
    cdef readonly list kind, src, dst, request
    cdef readonly Numbers numbers
    cdef public Hops hops
    cdef public Waits waits
    cdef long long forgotten

    @cython.locals(t=Transaction, hops=Py_ssize_t)
    cpdef int take(self, Transaction transaction) except -1
