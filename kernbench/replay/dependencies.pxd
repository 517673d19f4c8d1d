from kernbench.address.extent_map cimport ExtentMap
from kernbench.program.operations cimport Op, Operand

cimport cython

cdef class AccessMap:
    cdef ExtentMap _accesses

    @cython.locals(touched=list)
    cpdef object read(self, object region, object op, object found)
    cpdef object write(self, object region, object op, object found)

cdef class DependencyBuilder:
    cdef AccessMap _memory
    cdef dict _producer

    @cython.locals(operand=Operand, output=Operand, found=dict)
    cpdef list add(self, Op op)
