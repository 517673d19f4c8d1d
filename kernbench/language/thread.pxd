from kernbench.engine.program.computing cimport Compute

cdef class KernelThread:
    cdef object _binding, _args, _kwargs, _pe, _misused, _waits_for, _scratch
    cdef readonly object _tl, _greenlet
    cdef object _interrupted_at
    cdef bint _closing
    cdef long long _ident

    cpdef object resume(self)
    cpdef object _issue(self, object command)
