cdef class Wholes:
    cdef long long* at
    cpdef Wholes filled(self, Py_ssize_t size, long long value)
    cpdef Wholes sized(self, Py_ssize_t size)
    cpdef Wholes of(self, object array)

cdef struct Waiting:
    long long weight
    long long order
    Py_ssize_t place

cdef class Nearest:
    cdef Waiting* heap
    cdef Py_ssize_t room
    cdef readonly Py_ssize_t count
    cdef readonly long long weight, order
    cpdef int put(self, long long weight, long long order, Py_ssize_t place) except -1
    cpdef Py_ssize_t take(self)
