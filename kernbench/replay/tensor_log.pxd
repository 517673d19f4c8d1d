from kernbench.address.extent_map cimport Extent
from kernbench.program.operations cimport Op, Operand

cimport cython

cdef class TensorLog:
    cdef dict _texts, _placed, _access
    cdef object _bytes
    cdef list _rows

    @cython.locals(operand=Operand, output=Operand)
    cpdef object follow(self, Op op, object names)
    @cython.locals(rows=list, found=dict, part=Extent)
    cdef object _add(self, long long op, object regions, object names, bint is_write)
