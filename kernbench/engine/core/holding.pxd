from kernbench.engine.core.columns cimport Doubles

cimport cython

cdef double _INFINITY

@cython.final
cdef class Runs:
    cdef Doubles times
    cdef list holders
    cdef Py_ssize_t head, room
    cdef readonly Py_ssize_t count

    cpdef int add(self, double since, double end, object holder) except -1
    @cython.locals(times=Doubles, i=Py_ssize_t, room=Py_ssize_t)
    cdef int grow(self) except -1
    cpdef double since(self, Py_ssize_t i) except? -1.0
    cpdef double end(self, Py_ssize_t i) except? -1.0
    cpdef object holder(self, Py_ssize_t i)
    cpdef int drop_oldest(self) except -1
    cpdef int clear(self) except -1

@cython.final
cdef class Share:
    cdef double ns
    cdef Py_ssize_t runs, walked

@cython.final
cdef class HolderShares:
    cdef dict shares

    @cython.locals(share=Share)
    cdef int add(self, object holder, double ns) except -1
    @cython.locals(share=Share)
    cdef int take(self, object holder, double ns) except -1
    cdef bint has(self, object holder) except -1
    @cython.locals(share=Share)
    cdef double ns(self, object holder) except? -1.0
    @cython.locals(share=Share)
    cdef int walk(self, object holder) except -1
    @cython.locals(share=Share)
    cdef bint walked(self, object holder) except -1
    cdef int clear(self) except -1

@cython.final
cdef class Departures:
    cdef Doubles ends
    cdef Py_ssize_t gone_by, count, room

    @cython.locals(ends=Doubles, at=Py_ssize_t)
    cpdef int add(self, double time) except -1
    @cython.locals(ends=Doubles, left=Py_ssize_t, at=Py_ssize_t)
    cdef int make_room(self) except -1
    @cython.locals(before=Py_ssize_t)
    cpdef int gone(self, double time) except -1
    cpdef double first(self) except? -1.0

@cython.final
cdef class HeldTimes:
    cdef list holder, holders
    cdef Doubles ns, t_from, t_to
