from kernbench.hardware.address.free_list cimport Block, FreeList

cimport cython

cdef class Scratch:
    cdef readonly object nbytes
    cdef FreeList _free_list
    cdef object _cycles
    cdef public object wait

    @cython.locals(size="long long")
    cpdef Block take(self, object nbytes)
