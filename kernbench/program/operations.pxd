cdef class Operand:
    cdef public object shape, dtype, handle, address, regions

cdef class Op:
    cdef public long long id, launch, parent, nbytes
    cdef public double t_ready, t_start, t_end, t_effect
    cdef public object kind, name, inputs, output, component, stage, source, order, moved
    cdef public dict params
    cdef public list transactions, after
