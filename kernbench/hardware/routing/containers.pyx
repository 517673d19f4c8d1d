"""What routes are worked out with, compiled: see ``containers.py``."""

cimport cython
from cpython.buffer cimport PyBUF_C_CONTIGUOUS, PyBuffer_Release, PyObject_GetBuffer
from libc.stdlib cimport free, malloc, realloc
from libc.string cimport memcpy


cdef inline void* more(void* block, size_t nbytes) except NULL:
    cdef void* found = realloc(block, nbytes if nbytes else 1)
    if found == NULL:
        raise MemoryError
    return found


@cython.final
cdef class Wholes:
    cpdef Wholes filled(self, Py_ssize_t size, long long value):
        cdef Py_ssize_t i
        self.sized(size)
        for i in range(size):
            self.at[i] = value
        return self

    cpdef Wholes sized(self, Py_ssize_t size):
        self.at = <long long*>more(self.at, size * sizeof(long long))
        return self

    cpdef Wholes of(self, object array):
        cdef Py_buffer view
        PyObject_GetBuffer(array, &view, PyBUF_C_CONTIGUOUS)
        try:
            if view.itemsize != sizeof(long long):
                raise TypeError("expected an array of 64-bit integers")
            self.sized(view.len // sizeof(long long))
            memcpy(self.at, view.buf, view.len)
        finally:
            PyBuffer_Release(&view)
        return self

    def __dealloc__(self):
        free(self.at)


cdef inline bint before(Waiting* a, Waiting* b) noexcept:
    return a.weight < b.weight or (a.weight == b.weight and a.order < b.order)


@cython.final
cdef class Nearest:
    cpdef int put(self, long long weight, long long order, Py_ssize_t place) except -1:
        cdef Waiting one = Waiting(weight, order, place)
        cdef Py_ssize_t down = self.count, up
        if self.count == self.room:
            self.heap = <Waiting*>more(self.heap, (2 * self.room + 16) * sizeof(Waiting))
            self.room = 2 * self.room + 16
        self.count += 1
        while down > 0:
            up = (down - 1) >> 1
            if not before(&one, &self.heap[up]):
                break
            self.heap[down] = self.heap[up]
            down = up
        self.heap[down] = one
        return 0

    cpdef Py_ssize_t take(self):
        cdef Waiting first = self.heap[0], last
        cdef Py_ssize_t up = 0, down = 1
        self.count -= 1
        last = self.heap[self.count]
        while down < self.count:
            if down + 1 < self.count and before(&self.heap[down + 1], &self.heap[down]):
                down += 1
            if not before(&self.heap[down], &last):
                break
            self.heap[up] = self.heap[down]
            up = down
            down = 2 * up + 1
        self.heap[up] = last
        self.weight, self.order = first.weight, first.order
        return first.place

    def __dealloc__(self):
        free(self.heap)
