cimport cython

cdef class AddressMap:
    cdef readonly object bits
    cdef public object burst_bytes
    cdef readonly list _windows
    cdef list _bases, _ends, _targets
    cdef object _graph
    cdef dict _of, _hbm, _first_slice, _sram, _tcm, _tcm_parts, _found, _channels, _shared
    cdef list _dealt
    cdef object _dealt_from

    @cython.locals(index=Py_ssize_t)
    cpdef object resolve(self, object pa)
    cpdef list split(self, object pa, object nbytes)
    @cython.locals(index=Py_ssize_t, requests=list)
    cpdef list requests(self, object pa, object nbytes)
    @cython.locals(index=Py_ssize_t)
    cdef Py_ssize_t _find(self, object pa) except -1
