from kernbench.components.pe_component cimport PeComponent

cimport cython

cdef class PeCpu(PeComponent):
    cdef readonly object _kernel
    cdef object _queue, _launch, _above, _scheduler, _ipcq
    cdef list _started
    cdef tuple _device_counts, _scratch
    cdef public object failure
    cdef long long _cause, _last_op, _resumed_by, _epoch
    cdef bint _blocked, _ending, _sending, _posted
    cdef double _cycle_ns, _dispatch_ns

    @cython.locals(turn=int)
    cpdef object _run(self)
    cpdef bint _dispatch(self, object command) except -1
    cpdef object _command_done(self, object op, long long epoch)
