# The event queue: a binary heap of C structs. Objects lie in a list beside it, where the collector sees them.

cdef enum:
    LATE = -3
    FLIT = -2
    CALL = -1

cdef enum What:
    """Kinds of entry: a function or event of Python's, a step of the fabric, or one of an object of the core."""
    PYTHON
    DEPART
    INJECT
    RECEIVE
    ACKNOWLEDGE
    STEP

cdef struct Entry:
    double time
    int64_t major      # of a flit its transaction, else the number of the entry
    uint64_t minor     # of a flit its hop and number: hop << 32 | flit
    int32_t slot       # of its object in ``items``
    int16_t order      # at equal times
    int16_t what


cdef inline bint before(Entry* a, Entry* b) noexcept nogil:
    if a.time != b.time:
        return a.time < b.time
    if a.order != b.order:
        return a.order < b.order
    if a.major != b.major:
        return a.major < b.major
    return a.minor < b.minor


cdef class Queue:
    """Entries by time, then order, then number."""

    cdef Entry* heap
    cdef Py_ssize_t size, capacity
    cdef list items
    cdef int32_t* spare
    cdef Py_ssize_t spares

    def __cinit__(self):
        self.capacity = 256
        self.heap = <Entry*>malloc(self.capacity * sizeof(Entry))
        self.spare = <int32_t*>malloc(self.capacity * sizeof(int32_t))
        if self.heap == NULL or self.spare == NULL:
            raise MemoryError
        self.items = [None] * self.capacity
        for i in range(self.capacity):
            self.spare[i] = <int32_t>(self.capacity - 1 - i)
        self.spares = self.capacity

    def __dealloc__(self):
        free(self.heap)
        free(self.spare)

    def __len__(self):
        return self.size

    def objects(self):
        """The objects of all entries, in no order."""
        return [self.items[self.heap[at].slot] for at in range(self.size)]

    cdef int grow(self) except -1:
        cdef Py_ssize_t capacity = 2 * self.capacity
        if capacity > 1 << 30:
            raise MemoryError("more than a thousand million events are waiting")
        heap = <Entry*>realloc(self.heap, capacity * sizeof(Entry))
        if heap == NULL:
            raise MemoryError
        self.heap = heap
        spare = <int32_t*>realloc(self.spare, capacity * sizeof(int32_t))
        if spare == NULL:
            raise MemoryError
        self.spare = spare
        self.items += [None] * self.capacity
        for i in range(self.capacity):  # none is spare when the heap is full
            self.spare[i] = <int32_t>(capacity - 1 - i)
        self.spares = self.capacity
        self.capacity = capacity
        return 0

    cdef int push(
        self, double time, int order, int64_t major, uint64_t minor, int what, object item
    ) except -1:
        cdef Entry e
        cdef Py_ssize_t at, up
        cdef Entry* heap
        if self.size == self.capacity:
            self.grow()
        self.spares -= 1
        e.slot = self.spare[self.spares]
        self.items[e.slot] = item
        e.time, e.order, e.major, e.minor, e.what = time, <int16_t>order, major, minor, <int16_t>what
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

    cdef object pop(self, Entry* into):
        """The first entry goes ``into``; returns its object. The queue must not be empty."""
        cdef Entry* heap = self.heap
        cdef Entry last
        cdef Py_ssize_t at = 0, down, size
        into[0] = heap[0]
        self.size -= 1
        size = self.size
        if size:
            last = heap[size]
            down = 1
            while down < size:
                if down + 1 < size and before(&heap[down + 1], &heap[down]):
                    down += 1
                if not before(&heap[down], &last):
                    break
                heap[at] = heap[down]
                at = down
                down = 2 * at + 1
            heap[at] = last
        item = self.items[into.slot]
        self.items[into.slot] = None
        self.spare[self.spares] = into.slot
        self.spares += 1
        return item
