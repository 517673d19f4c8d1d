from kernbench.components.pe_component cimport PeComponent, Token

cimport cython

cdef class PeScheduler(PeComponent):
    cdef object _feeds, _translator
    cdef readonly object _dma, _gemm
    cdef readonly long long _buffers_used, _buffer_bytes
    cdef bint _by_rows

    @cython.locals(overhead=double)
    cpdef object submit(self, object command, object done)
    cdef object _start(self, Token token)
