from kernbench.engine.program.operations cimport Op
from kernbench.engine.program.tile_plans cimport TilePlan

cimport cython

cdef class CallSite:
    cdef readonly object kind, name, dtype, out_bytes
    cdef readonly tuple shape
    cdef readonly dict params
    cdef readonly long long nbytes
    cdef readonly TilePlan plan
    cdef readonly bint knowable
    cdef public long long form, form_of

    @cython.locals(made=Compute)
    cdef Compute command(self, Op op)

cdef class Command:
    cpdef object check(self, object scheduler, object queues)
    cpdef bint begin(self, object pe) except -1
    cpdef object dispatch(self, object scheduler, object done)

cdef class Compute(Command):
    cdef readonly Op op
    cdef readonly CallSite site
    cdef readonly TilePlan plan

cdef class Gemm(Compute):
    pass

cdef class Math(Compute):
    pass
