from kernbench.hardware.address.extent_map cimport Extent, ExtentMap

cimport cython

cdef class PageTable:
    cdef readonly object page_bytes
    cdef object _bits
    cdef ExtentMap _extents

    @cython.locals(extent=Extent)
    cpdef list extents(self, object va, object nbytes)
