cimport cython

cdef class Extent:
    cdef readonly long long start, end
    cdef readonly object value

cdef class ExtentMap:
    cdef object _cut
    cdef list _extents

    @cython.locals(index=Py_ssize_t, extent=Extent)
    cpdef Extent at(self, long long addr)
    @cython.locals(first=Py_ssize_t)
    cpdef list overlapping(self, long long start, long long end)
    @cython.locals(extent=Extent)
    cpdef list clipped(self, long long start, long long end)
    @cython.locals(extent=Extent, position="long long")
    cpdef list gaps(self, long long start, long long end)
    cpdef object set(self, long long start, long long end, object value)
    @cython.locals(extent=Extent)
    cpdef object set_all(self, object extents)
    @cython.locals(first=Py_ssize_t, last=Py_ssize_t, left=Extent, right=Extent, extents=list)
    cpdef object replace(self, long long start, long long end, object new)
    cpdef object remove(self, long long start, long long end)
    @cython.locals(extents=list, low=Py_ssize_t, high=Py_ssize_t, middle=Py_ssize_t, extent=Extent)
    cdef Py_ssize_t _first(self, long long addr) except -1
    @cython.locals(extents=list, count=Py_ssize_t, extent=Extent)
    cdef Py_ssize_t _last(self, Py_ssize_t first, long long end) except -1
    @cython.locals(first="long long", last="long long", begin="long long", stop="long long")
    cdef Extent _clip(self, Extent extent, long long start, long long end)
