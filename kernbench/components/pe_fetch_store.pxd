from kernbench.components.pe_component cimport PeComponent, Token
from kernbench.components.pe_tcm cimport PeTcm
from kernbench.program.operations cimport Op
from kernbench.sim.clock cimport QueuedStep

cimport cython

cdef class PeFetchStore(PeComponent):
    cdef readonly PeTcm _tcm

    @cython.locals(moving=Moving, op=Op)
    cpdef object accept(self, Token token)

cdef class Moving(QueuedStep):
    cdef PeFetchStore unit
    cdef Token token
    cdef Op op
    cdef double ready, begun, overhead
    cdef bint write
    cdef long long nbytes

    @cython.locals(unit=PeFetchStore)
    cdef object move(self)
    @cython.locals(unit=PeFetchStore)
    cpdef object moved(self, double start)
