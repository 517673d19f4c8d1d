from kernbench.hardware.address.extent_map cimport Extent, ExtentMap
from kernbench.engine.program.operations cimport Op, Operand

cimport cython

cdef class AccessMap:
    cdef ExtentMap _accesses
    cdef object _reads

    @cython.locals(
        touched=list, addr="long long", end="long long", position="long long", extent=Extent, writer="long long"
    )
    cpdef object read(self, object region, long long op, object found)
    @cython.locals(addr="long long", end="long long", extent=Extent, writer="long long")
    cpdef object write(self, object region, long long op, object found)

cdef class DependencyBuilder:
    cdef AccessMap _memory

    @cython.locals(operand=Operand, output=Operand, found=dict, maker=object)
    cpdef list add(self, Op op)
