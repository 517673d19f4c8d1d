from kernbench.engine.components.pe_component cimport PeComponent, Token
from kernbench.engine.components.pe_tcm cimport PeTcm
from kernbench.engine.program.tile_plans cimport Stage

cimport cython

cdef class PeFetchStore(PeComponent):
    cdef readonly PeTcm _tcm

    @cython.locals(stage=Stage)
    cpdef object accept(self, Token token)
    @cython.locals(stage=Stage)
    cpdef object go_on(self, Token token)
    cpdef object _moved(self, Token token, Stage stage, double start)
