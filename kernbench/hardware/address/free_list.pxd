cimport cython

cdef class Block:
    cdef FreeList owner
    cdef readonly long long address, nbytes

cdef class FreeList:
    cdef public object name
    cdef readonly object base, capacity
    cdef bint _smallest
    cdef list _free
    cdef dict _allocated

    @cython.locals(offset="long long")
    cpdef Block take(self, long long nbytes, long long align)
    @cython.locals(
        block=tuple, index=Py_ssize_t, found=Py_ssize_t, start="long long", size="long long", offset="long long",
        rest="long long", most="long long",
    )
    cdef long long fit(self, long long nbytes, long long align) except? -1
    @cython.locals(
        block=tuple, index=Py_ssize_t, above=Py_ssize_t, middle=Py_ssize_t, start="long long", end="long long",
        after="long long", before="long long", size="long long", joined=bint,
    )
    cdef object give_back(self, long long offset, long long nbytes)
