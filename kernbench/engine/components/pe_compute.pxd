from kernbench.engine.components.pe_component cimport PeComponent, Token
from kernbench.engine.program.tile_plans cimport Stage
from kernbench.engine.core.server cimport Server

cimport cython

cdef double _INFINITY

cdef class ComputeEngine(PeComponent):
    cdef public Server slot

    cpdef double duration_ns(self, Stage stage) except? -1.0
    cpdef double latency_ns(self, Stage stage) except? -1.0
    @cython.locals(slot=Server, before="long long", stage=Stage)
    cpdef object accept(self, Token token)
    cpdef object go_on(self, Token token)

cdef class PeGemm(ComputeEngine):
    cdef readonly object engine
    cdef object _cycles
    cdef readonly tuple tile
    cdef double _clock_ghz, _slowdown, _staging_ns
    cdef readonly double slowed
    cdef readonly bint multiplied
    cdef bint _on_all

    cpdef double duration_ns(self, Stage stage) except? -1.0
    cpdef double latency_ns(self, Stage stage) except? -1.0

cdef class PeMath(ComputeEngine):
    cdef long long _lanes
    cdef dict _passes
    cdef object _rates
    cdef PeGemm _gemm
    cdef double _latency_cycles, _cycle_ns

    @cython.locals(rows="long long", passes="long long")
    cpdef double duration_ns(self, Stage stage) except? -1.0
    cpdef double latency_ns(self, Stage stage) except? -1.0
    cdef object _rate(self, Stage stage)
