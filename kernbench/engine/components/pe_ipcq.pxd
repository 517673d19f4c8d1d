from kernbench.engine.components.pe_component cimport PeComponent

cimport cython

cdef class PeIpcq(PeComponent):
    cdef readonly dict _queues
    cdef dict _straight
    cdef list _receiving
    cdef set _removed
    cdef object _dma, _channel, _sender, _receiver

    cpdef object submit_send(self, object command, object goes_on)
    cpdef object submit_receive(self, object command, object done)
    cpdef object _after_overhead(self, object op, object begin)
