from kernbench.engine.components.pe_component cimport PeComponent, Token
from kernbench.engine.program.computing cimport Command, Compute
from kernbench.engine.program.tile_plans cimport TilePlan
from kernbench.engine.core.rows cimport StageRows

cimport cython

cdef class Pipeline:
    cdef readonly object system, command, tiles
    cdef double t_ready, t_start
    cdef readonly long long under_way
    cdef long long unwritten
    cdef bint fed
    cdef TilePlan held

    cpdef object written(self)

cdef class PeScheduler(PeComponent):
    cdef object _feeds, _translator
    cdef readonly object _dma, _gemm
    cdef readonly long long _buffers_used, _buffer_bytes
    cdef bint _by_rows

    cpdef object submit(self, Command command, object done)
    @cython.locals(token=Token, rows=StageRows)
    cpdef object compute(self, Compute command, object done)
    cpdef object feed(self, object command)
    @cython.locals(pipeline=Pipeline, tile=TilePlan, token=Token)
    cpdef object _feed(self, object made_room=*)
    @cython.locals(pipeline=Pipeline)
    cpdef object token_over(self, Token token)
    cpdef object _tile_done(self, Pipeline pipeline, Token token)
    cdef object _complete(self, Pipeline pipeline)
    cdef object _start(self, Token token)
