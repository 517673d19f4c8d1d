cdef struct Run:
    double since
    double end

cdef struct Share:
    void* holder       # a run's holder, which the list of holders keeps alive; NULL where the place is empty
    double ns
    Py_ssize_t runs
    Py_ssize_t walked  # scratch

cdef class Runs:
    cdef Run* runs
    cdef list holders
    cdef Py_ssize_t head, room
    cdef readonly Py_ssize_t count
    cpdef int add(self, double since, double end, object holder) except -1
    cpdef double since(self, Py_ssize_t i) except? -1.0
    cpdef double end(self, Py_ssize_t i) except? -1.0
    cpdef object holder(self, Py_ssize_t i)
    cpdef int drop_oldest(self) except -1
    cpdef int clear(self) except -1
    cdef int grow(self) except -1

cdef class HolderShares:
    cdef Share* shares
    cdef Py_ssize_t places
    cdef readonly Py_ssize_t count
    cdef Py_ssize_t place_of(self, void* holder) noexcept
    cdef Share* find(self, object holder) noexcept
    cdef int grow(self) except -1
    cdef int remove(self, Share* share) noexcept
    cpdef int add(self, object holder, double ns) except -1
    cpdef int take(self, object holder, double ns) except -1
    cpdef bint has(self, object holder)
    cpdef double ns(self, object holder) except? -1.0
    cpdef int walk(self, object holder) except -1
    cpdef bint walked(self, object holder)
    cpdef int clear(self) except -1

cdef class Departures:
    cdef double* ends
    cdef Py_ssize_t count, room
    cpdef int add(self, double time) except -1
    cpdef int gone(self, double time) except -1
    cpdef double first(self) except? -1.0

cdef class HeldTimes:
    cdef list holder
    cdef double ns[16]
    cdef double t_from[16]
    cdef double t_to[16]
    cdef long long holders[16]
