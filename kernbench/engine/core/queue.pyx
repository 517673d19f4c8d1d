# A binary heap of C structs. Objects lie in a list beside it, where the garbage collector sees them.
"""The event queue, compiled: see ``queue.py``."""

cimport cython
from cpython.exc cimport PyErr_CheckSignals
from cpython.list cimport PyList_GET_ITEM, PyList_SET_ITEM
from cpython.ref cimport Py_DECREF, Py_INCREF
from libc.math cimport INFINITY
from libc.stdlib cimport free, malloc, realloc
from libc.string cimport memcpy

from kernbench.engine.core.times import untimely

cdef enum:
    START = -3
    FLIT = -2
    CALLED = -1
    END = 1 << 15


cdef inline unsigned long long rank(int order, long long major) noexcept nogil:
    """What orders entries of one time: 16 bits of ``order``, then 48 of ``major`` (-1 or more)."""
    return (<unsigned long long>(order - START) << 48) + <unsigned long long>(major + 1)


cdef inline bint before(Entry* a, Entry* b) noexcept nogil:
    # Without jumps: which of two is first cannot be foretold. Of equal ones the next decides; none is the largest number.
    return a.when < b.when + <unsigned long long>(a.rank < b.rank + <unsigned long long>(a.minor < b.minor))


@cython.final
cdef class Queue:
    """Entries by time, then order, then number.

    What is taken out leaves its place on top of the heap open: most often what follows from it is put there,
    and goes down from there once.
    """

    def __cinit__(self):
        self.capacity = 256
        self.heap = <Entry*>malloc(self.capacity * sizeof(Entry))
        self.spare = <int*>malloc(self.capacity * sizeof(int))
        if self.heap == NULL or self.spare == NULL:
            raise MemoryError
        self.clear()

    cpdef object clear(self):
        cdef Py_ssize_t i
        self.items = [None] * self.capacity
        for i in range(self.capacity):
            self.spare[i] = <int>(self.capacity - 1 - i)
        self.spares = self.capacity
        self.size = self.number = 0
        self.open = self.is_flit = False
        self.time = 0.0
        self.order = self.what = 0
        self.hop = self.flit = self.major = 0

    def __dealloc__(self):
        free(self.heap)
        free(self.spare)

    def __len__(self):
        return self.size

    def objects(self):
        return [self.items[self.heap[at + self.open].slot] for at in range(self.size)]

    cdef int grow(self) except -1:
        cdef Py_ssize_t capacity = 2 * self.capacity, i
        if capacity > 1 << 30:
            raise MemoryError("more than a thousand million events are waiting")
        heap = <Entry*>realloc(self.heap, capacity * sizeof(Entry))
        if heap == NULL:
            raise MemoryError
        self.heap = heap
        spare = <int*>realloc(self.spare, capacity * sizeof(int))
        if spare == NULL:
            raise MemoryError
        self.spare = spare
        self.items += [None] * self.capacity
        for i in range(self.capacity):  # none is spare when the heap is full
            self.spare[i] = <int>(capacity - 1 - i)
        self.spares = self.capacity
        self.capacity = capacity
        return 0

    cdef int fill(self, Entry* e, Py_ssize_t size) noexcept nogil:
        """Put ``e`` into the open place on top of a heap of ``size`` places."""
        cdef Entry* heap = self.heap
        cdef Py_ssize_t at = 0, down = 1, up
        cdef Entry* child
        # The open place goes down to a leaf, and the entry from there up: it belongs far down.
        while down + 1 < size:
            child = &heap[down]
            down += before(child + 1, child)
            heap[at] = heap[down]
            at = down
            down = 2 * at + 1
        if down < size:
            heap[at] = heap[down]
            at = down
        while at > 0:
            up = (at - 1) >> 1
            if not before(e, &heap[up]):
                break
            heap[at] = heap[up]
            at = up
        heap[at] = e[0]
        return 0

    cdef inline int put(self, double time, int order, long long major, unsigned long long minor, int what, object item) except -1:
        cdef Entry e
        cdef Py_ssize_t at, up
        cdef Entry* heap
        if not self.time <= time < INFINITY:
            raise untimely(time, self.time)
        if self.size == self.capacity:
            self.grow()
        self.spares -= 1
        e.slot = self.spare[self.spares]
        Py_INCREF(item)
        PyList_SET_ITEM(self.items, e.slot, item)  # in the place of None
        Py_DECREF(None)
        time += 0.0  # not -0.0: bits of times from 0 on are in the order of the times
        memcpy(&e.when, &time, sizeof(double))
        e.rank, e.minor, e.what = rank(order, major), minor, what
        self.size += 1
        if self.open:
            self.open = 0
            self.fill(&e, self.size)
            return 0
        heap = self.heap
        at = self.size - 1
        while at > 0:
            up = (at - 1) >> 1
            if not before(&e, &heap[up]):
                break
            heap[at] = heap[up]
            at = up
        heap[at] = e
        return 0

    cpdef int flit_at(self, double time, long long transaction, long long hop, long long flit, object packet) except -1:
        return self.put(time, FLIT, transaction, <unsigned long long>(hop << 32 | flit), PACKET, packet)

    cpdef int put_call(self, double time, object what) except -1:
        self.number += 1
        return self.put(time, CALLED, self.number, 0, CALL, what)

    cpdef int put_event(self, double time, int priority, object event, bint first=False) except -1:
        if not 0 <= priority < 1 << 15:
            raise ValueError(f"a SimPy event of priority {priority}, expected 0 or more")
        self.number += 1
        return self.put(time, priority, -1 if first else self.number, 0, EVENT, event)

    cpdef int put_step(self, double time, int what, long long hop, long long flit, object item) except -1:
        self.number += 1
        return self.put(time, CALLED, self.number, <unsigned long long>(hop << 32 | flit), what, item)

    cpdef int put_at_start(self, double time, int what, long long hop, long long flit, object item) except -1:
        self.number += 1
        return self.put(time, START, self.number, <unsigned long long>(hop << 32 | flit), what, item)

    cpdef int put_at_end(self, double time, int what, long long number, object item) except -1:
        return self.put(time, END, number, 0, what, item)

    cpdef int put_back(self, object item) except -1:
        return self.put(
            self.time, self.order, self.major, <unsigned long long>(self.hop << 32 | self.flit), self.what, item
        )

    cdef int close(self) noexcept nogil:
        """Nothing has been put into the open place on top: the last entry goes there."""
        cdef Entry last
        self.open = 0
        if self.size:
            last = self.heap[self.size]
            self.fill(&last, self.size)
        return 0

    cpdef object pop(self):
        cdef Entry* first
        cdef unsigned long long minor, rank
        if self.open:
            self.close()
        first = self.heap
        minor, rank = first.minor, first.rank
        memcpy(&self.time, &first.when, sizeof(double))
        self.order, self.major = <int>(rank >> 48) + START, <long long>(rank & ((<unsigned long long>1 << 48) - 1)) - 1
        self.what, self.is_flit = first.what, self.order == FLIT
        self.hop, self.flit = <long long>(minor >> 32), <long long>(<unsigned int>minor)
        self.size -= 1
        self.open = 1
        item = <object>PyList_GET_ITEM(self.items, first.slot)
        Py_INCREF(None)
        PyList_SET_ITEM(self.items, first.slot, None)
        Py_DECREF(item)  # the list's own
        self.spare[self.spares] = first.slot
        self.spares += 1
        return item

    cpdef double next_time(self) except? -1.0:
        if self.open:
            self.close()
        cdef double time = INFINITY
        if self.size:
            memcpy(&time, &self.heap[0].when, sizeof(double))
        return time

    cpdef int poll_signals(self) except -1:
        PyErr_CheckSignals()
        with nogil:  # other threads run
            pass
        return 0
