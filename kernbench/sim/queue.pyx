# A binary heap of C structs. Objects lie in a list beside it, where the garbage collector sees them.
"""The event queue, compiled: see ``queue.py``."""

cimport cython
from cpython.exc cimport PyErr_CheckSignals
from libc.math cimport INFINITY
from libc.stdlib cimport free, malloc, realloc

cdef enum:
    LATE = -3
    FLIT = -2
    CALLED = -1

cdef inline bint before(Entry* a, Entry* b) noexcept nogil:
    if a.time != b.time:
        return a.time < b.time
    if a.order != b.order:
        return a.order < b.order
    if a.major != b.major:
        return a.major < b.major
    return a.minor < b.minor


@cython.final
cdef class Queue:
    """Entries by time, then order, then number."""

    def __cinit__(self):
        self.capacity = 256
        self.heap = <Entry*>malloc(self.capacity * sizeof(Entry))
        self.spare = <int*>malloc(self.capacity * sizeof(int))
        if self.heap == NULL or self.spare == NULL:
            raise MemoryError
        self.items = [None] * self.capacity
        for i in range(self.capacity):
            self.spare[i] = <int>(self.capacity - 1 - i)
        self.spares = self.capacity

    def __dealloc__(self):
        free(self.heap)
        free(self.spare)

    def __len__(self):
        return self.size

    def objects(self):
        return [self.items[self.heap[at].slot] for at in range(self.size)]

    cdef int grow(self) except -1:
        cdef Py_ssize_t capacity = 2 * self.capacity
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

    cdef inline int put(self, double time, int order, long long major, unsigned long long minor, int what, object item) except -1:
        cdef Entry e
        cdef Py_ssize_t at, up
        cdef Entry* heap
        if self.size == self.capacity:
            self.grow()
        self.spares -= 1
        e.slot = self.spare[self.spares]
        self.items[e.slot] = item
        e.time, e.order, e.major, e.minor, e.what = time, <short>order, major, minor, <short>what
        heap = self.heap
        at = self.size
        self.size += 1
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

    cpdef int put_late(self, double time, int what, long long hop, long long flit, object item) except -1:
        self.number += 1
        return self.put(time, LATE, self.number, <unsigned long long>(hop << 32 | flit), what, item)

    cpdef int put_back(self, object item) except -1:
        return self.put(
            self.time, self.order, self.major, <unsigned long long>(self.hop << 32 | self.flit), self.what, item
        )

    cpdef object pop(self):
        cdef Entry* heap = self.heap
        cdef Entry last
        cdef Py_ssize_t at = 0, down = 1, up, size
        cdef int slot = heap[0].slot
        cdef unsigned long long minor = heap[0].minor
        self.time, self.order, self.major = heap[0].time, heap[0].order, heap[0].major
        self.what, self.is_flit = heap[0].what, heap[0].order == FLIT
        self.hop, self.flit = <long long>(minor >> 32), <long long>(minor & 0xFFFFFFFF)
        self.size -= 1
        size = self.size
        if size:
            # The hole goes down to a leaf, and the last entry from there up: it belongs far down.
            last = heap[size]
            while down + 1 < size:
                if before(&heap[down + 1], &heap[down]):
                    down += 1
                heap[at] = heap[down]
                at = down
                down = 2 * at + 1
            if down < size:
                heap[at] = heap[down]
                at = down
            while at > 0:
                up = (at - 1) >> 1
                if not before(&last, &heap[up]):
                    break
                heap[at] = heap[up]
                at = up
            heap[at] = last
        item = self.items[slot]
        self.items[slot] = None
        self.spare[self.spares] = slot
        self.spares += 1
        return item

    cpdef double next_time(self) except? -1.0:
        return self.heap[0].time if self.size else INFINITY

    cpdef int breathe(self) except -1:
        PyErr_CheckSignals()
        with nogil:  # other threads run
            pass
        return 0
