from kernbench.hardware.address.free_list cimport Block
from kernbench.engine.program.operations cimport Operand

cdef class TensorHandle:
    cdef object __weakref__
    cdef public object id, origin, dtype, _tl, _value, _source
    cdef public tuple shape
    cdef public Block _block
    cdef public Operand _operand

    cdef int _fill(
        self, object handle, object origin, tuple shape, object dtype, Block block, object tl, object value,
        Operand operand, object source,
    ) except -1
    cpdef Operand operand(self)
