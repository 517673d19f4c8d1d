"""What a server remembers, compiled: see ``holding.py``."""

cimport cython
from libc.math cimport INFINITY
from libc.stdint cimport uint64_t, uintptr_t
from libc.stdlib cimport calloc, free, malloc, realloc


@cython.final
cdef class Runs:
    """A ring of ``room`` places, from ``head``."""

    def __dealloc__(self):
        free(self.runs)

    cpdef int add(self, double since, double end, object holder) except -1:
        cdef Py_ssize_t at
        if self.count == self.room:
            self.grow()
        at = (self.head + self.count) & (self.room - 1)
        self.runs[at].since = since
        self.runs[at].end = end
        self.holders[at] = holder
        self.count += 1
        return 0

    cdef int grow(self) except -1:
        cdef Py_ssize_t room = 2 * self.room if self.room else 4
        cdef Py_ssize_t i, at
        cdef Run* runs = <Run*>malloc(room * sizeof(Run))
        if runs == NULL:
            raise MemoryError
        cdef list holders = [None] * room
        for i in range(self.count):
            at = (self.head + i) & (self.room - 1)
            runs[i] = self.runs[at]
            holders[i] = self.holders[at]
        free(self.runs)
        self.runs, self.holders, self.head, self.room = runs, holders, 0, room
        return 0

    cpdef double since(self, Py_ssize_t i) except? -1.0:
        return self.runs[(self.head + i) & (self.room - 1)].since

    cpdef double end(self, Py_ssize_t i) except? -1.0:
        return self.runs[(self.head + i) & (self.room - 1)].end

    cpdef object holder(self, Py_ssize_t i):
        return self.holders[(self.head + i) & (self.room - 1)]

    cpdef int drop_oldest(self) except -1:
        self.holders[self.head] = None
        self.head = (self.head + 1) & (self.room - 1)
        self.count -= 1
        return 0

    cpdef int clear(self) except -1:
        cdef Py_ssize_t i
        for i in range(self.count):
            self.holders[(self.head + i) & (self.room - 1)] = None
        self.head = self.count = 0
        return 0


@cython.final
cdef class HolderShares:
    """An open hash table."""

    def __dealloc__(self):
        free(self.shares)

    cdef inline Py_ssize_t place_of(self, void* holder) noexcept:
        return <Py_ssize_t>(((<uint64_t><uintptr_t>holder) * <uint64_t>0x9E3779B97F4A7C15) >> 33) & (self.places - 1)

    cdef Share* find(self, object holder) noexcept:
        cdef Py_ssize_t at
        if not self.count:
            return NULL
        at = self.place_of(<void*>holder)
        while self.shares[at].holder != NULL:
            if self.shares[at].holder == <void*>holder:
                return &self.shares[at]
            at = (at + 1) & (self.places - 1)
        return NULL

    cpdef int add(self, object holder, double ns) except -1:
        cdef Share* share = self.find(holder)
        cdef Py_ssize_t at
        if share == NULL:
            if 2 * (self.count + 1) > self.places:
                self.grow()
            at = self.place_of(<void*>holder)
            while self.shares[at].holder != NULL:
                at = (at + 1) & (self.places - 1)
            share = &self.shares[at]
            share.holder, share.ns, share.runs, share.walked = <void*>holder, ns, 1, 0
            self.count += 1
        else:
            share.ns += ns
            share.runs += 1
        return 0

    cdef int grow(self) except -1:
        cdef Share* old = self.shares
        cdef Py_ssize_t places = self.places, i, at
        cdef Share* shares = <Share*>calloc(2 * places if places else 8, sizeof(Share))
        if shares == NULL:
            raise MemoryError
        self.shares, self.places = shares, 2 * places if places else 8
        for i in range(places):
            if old[i].holder != NULL:
                at = self.place_of(old[i].holder)
                while shares[at].holder != NULL:
                    at = (at + 1) & (self.places - 1)
                shares[at] = old[i]
        free(old)
        return 0

    cpdef int take(self, object holder, double ns) except -1:
        cdef Share* share = self.find(holder)
        share.ns -= ns
        share.runs -= 1
        if not share.runs:
            self.remove(share)
        return 0

    cdef int remove(self, Share* share) noexcept:
        """Take it out, and move those behind it to where a search finds them."""
        cdef Py_ssize_t hole = share - self.shares
        cdef Py_ssize_t at = hole, home, mask = self.places - 1
        while True:
            at = (at + 1) & mask
            if self.shares[at].holder == NULL:
                break
            home = self.place_of(self.shares[at].holder)
            if ((at - home) & mask) >= ((at - hole) & mask):
                self.shares[hole] = self.shares[at]
                hole = at
        self.shares[hole].holder = NULL
        self.count -= 1
        return 0

    cpdef bint has(self, object holder):
        return self.find(holder) != NULL

    cpdef double ns(self, object holder) except? -1.0:
        cdef Share* share = self.find(holder)
        return share.ns if share != NULL else 0.0

    cpdef int walk(self, object holder) except -1:
        self.find(holder).walked += 1
        return 0

    cpdef bint walked(self, object holder):
        cdef Share* share = self.find(holder)
        cdef bint whole = share.walked == share.runs
        share.walked = 0
        return whole

    cpdef int clear(self) except -1:
        cdef Py_ssize_t i
        if self.count:
            for i in range(self.places):
                self.shares[i].holder = NULL
            self.count = 0
        return 0


@cython.final
cdef class Departures:
    """A heap of doubles."""

    def __dealloc__(self):
        free(self.ends)

    cpdef int add(self, double time) except -1:
        cdef Py_ssize_t at = self.count, up
        cdef double* ends
        if at == self.room:
            ends = <double*>realloc(self.ends, (2 * self.room if self.room else 4) * sizeof(double))
            if ends == NULL:
                raise MemoryError
            self.ends = ends
            self.room = 2 * self.room if self.room else 4
        self.count += 1
        ends = self.ends
        while at > 0:
            up = (at - 1) >> 1
            if not time < ends[up]:
                break
            ends[at] = ends[up]
            at = up
        ends[at] = time
        return 0

    cpdef int gone(self, double time) except -1:
        cdef double* ends = self.ends
        cdef Py_ssize_t at, down, size
        cdef double last
        cdef int gone = 0
        while self.count and ends[0] <= time:
            gone += 1
            self.count -= 1
            size = self.count
            if size:
                last = ends[size]
                at, down = 0, 1
                while down < size:
                    if down + 1 < size and ends[down + 1] < ends[down]:
                        down += 1
                    if not ends[down] < last:
                        break
                    ends[at] = ends[down]
                    at = down
                    down = 2 * at + 1
                ends[at] = last
        return gone

    cpdef double first(self) except? -1.0:
        return self.ends[0] if self.count else INFINITY


@cython.final
cdef class HeldTimes:
    """Scratch of one server."""

    def __cinit__(self):
        self.holder = [None] * 16
