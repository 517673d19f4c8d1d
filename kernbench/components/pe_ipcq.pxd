from kernbench.components.pe_component cimport PeComponent

cimport cython

cdef class PeIpcq(PeComponent):
    cdef readonly dict _queues
    cdef list _receiving
    cdef set _removed
    cdef object _dma, _channel, _sender, _receiver

    @cython.locals(overhead=double)
    cpdef object submit(self, object command, object done)
