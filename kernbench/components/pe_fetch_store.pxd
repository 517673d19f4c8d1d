from kernbench.components.pe_component cimport PeComponent, Token
from kernbench.components.pe_tcm cimport PeTcm
from kernbench.sim.clock cimport Step

cimport cython

cdef class PeFetchStore(PeComponent):
    cdef readonly PeTcm _tcm

    @cython.locals(moving=Moving)
    cpdef object accept(self, Token token)

cdef class Moving(Step):
    cdef PeFetchStore unit
    cdef Token token
    cdef object op
    cdef double ready, begun, overhead
    cdef bint write
    cdef long long nbytes

    @cython.locals(unit=PeFetchStore)
    cdef object move(self)
    @cython.locals(unit=PeFetchStore)
    cpdef object moved(self, double start)
