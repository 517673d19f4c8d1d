cimport cython

cdef class ExtentMap:
    cdef object _cut
    cdef list _starts
    cdef dict _extents

    @cython.locals(index=Py_ssize_t)
    cpdef object at(self, object addr)
    @cython.locals(first=Py_ssize_t, last=Py_ssize_t)
    cpdef list overlapping(self, object start, object end)
    cpdef list clipped(self, object start, object end)
    cpdef object set(self, object start, object end, object value)
    cpdef object replace(self, object start, object end, object extents)
    cpdef object remove(self, object start, object end)
    @cython.locals(first=Py_ssize_t, last=Py_ssize_t, starts=list, extents=dict)
    cdef object _replace(self, object start, object end, list new)
    @cython.locals(first=Py_ssize_t, last=Py_ssize_t, starts=list)
    cdef tuple _span(self, object start, object end)
    cdef object _clip(self, object extent, object start, object end)
