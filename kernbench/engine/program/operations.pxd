cdef class Operand:
    cdef public object shape, dtype, handle, address, regions

    cdef int describe(self, object shape, object dtype, object handle) except -1

cdef class Op:
    cdef public long long id, launch, parent, nbytes
    cdef public double t_ready, t_start, t_end, t_effect
    cdef public object kind, name, inputs, output, component, stage, source, order, moved
    cdef public dict params
    cdef public list transactions, after

    cdef int prepare(
        self, long long id, object kind, object name, tuple inputs, Operand output, dict params, long long nbytes
    ) except -1

cpdef Op computed(
    long long id, object kind, object name, tuple inputs, Operand output, dict params, long long nbytes
)
