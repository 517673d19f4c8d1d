cdef enum What:
    EVENT = 0    # an event of SimPy's
    CALL = 1     # a function and its arguments
    STEP = 2     # an object with steps of its own
    PACKET = 3   # a step of a packet, numbers from here on are the fabric's

cdef struct Entry:
    unsigned long long when    # the bits of its time
    unsigned long long rank    # order at equal times, then of a flit its transaction, else the entry's number
    unsigned long long minor   # of a flit its hop and number: hop << 32 | flit
    int slot                   # of its object in ``items``
    int what

cdef class Queue:
    cdef Entry* heap
    cdef readonly Py_ssize_t size
    cdef Py_ssize_t capacity, spares
    cdef list items
    cdef int* spare
    cdef bint open             # the place on top is empty, the others are behind it
    cdef long long number
    # of the entry that was taken out last
    cdef readonly double time
    cdef readonly bint is_flit
    cdef readonly int order, what
    cdef readonly long long hop, flit, major

    cpdef object clear(self)
    cdef int grow(self) except -1
    cdef int fill(self, Entry* e, Py_ssize_t size) noexcept nogil
    cdef int close(self) noexcept nogil
    cdef inline int put(self, double time, int order, long long major, unsigned long long minor, int what, object item) except -1
    cpdef int flit_at(self, double time, long long transaction, long long hop, long long flit, object packet) except -1
    cpdef int put_call(self, double time, object what) except -1
    cpdef int put_event(self, double time, int priority, object event, bint first=*) except -1
    cpdef int put_step(self, double time, int what, long long hop, long long flit, object item) except -1
    cpdef int put_at_start(self, double time, int what, long long hop, long long flit, object item) except -1
    cpdef int put_at_end(self, double time, int what, long long number, object item) except -1
    cpdef int put_back(self, object item) except -1
    cpdef object pop(self)
    cpdef double next_time(self) except? -1.0
    cpdef int poll_signals(self) except -1
