"""Numbers that grow, compiled: see ``columns.py``. Rows lie as structs one after the other."""

cimport cython
from cpython.buffer cimport PyBuffer_FillInfo
from libc.stdlib cimport calloc, free, malloc, realloc
from libc.string cimport memcpy, memset

import numpy as np

from kernbench.engine.core.records import HOPS, NUMBERS, WAITS


@cython.final
@cython.freelist(256)
cdef class Doubles:
    cpdef Doubles sized(self, Py_ssize_t size):
        free(self.at)
        self.at = <double*>calloc(size if size > 0 else 1, sizeof(double))
        if self.at == NULL:
            raise MemoryError
        self.size = size
        return self

    def __dealloc__(self):
        free(self.at)

    def __len__(self):
        return self.size

    def __iter__(self):
        return iter([one for one in self.at[:self.size]])


cdef class Block:
    """Bytes that grow; read as a buffer."""

    def __dealloc__(self):
        free(self.data)

    def __getbuffer__(self, Py_buffer* view, int flags):
        PyBuffer_FillInfo(view, self, self.data if self.data != NULL else <char*>"", self.used, 1, flags)
        self.readers += 1

    def __releasebuffer__(self, Py_buffer* view):
        self.readers -= 1

    cdef int reserve(self, size_t nbytes) except -1:
        cdef size_t room
        cdef char* grown
        if self.used + nbytes > self.room:
            if self.readers:
                raise BufferError("the rows of a trace are being read and cannot grow")
            room = max(self.used + nbytes, self.room + self.room // 2, 16 * nbytes)
            grown = <char*>realloc(self.data, room)
            if grown == NULL:
                raise MemoryError
            self.data, self.room = grown, room
        return 0

    cdef int append(self, void* data, size_t nbytes) except -1:
        self.reserve(nbytes)
        memcpy(self.data + self.used, data, nbytes)
        self.used += nbytes
        return 0

    def rows(self, layout):
        return np.frombuffer(self, layout)


@cython.final
cdef class Words(Block):
    def __init__(self, Py_ssize_t width):
        self.width = width

    @property
    def count(self):
        return self.used // (8 * self.width)

    cpdef int integer(self, long long value) except -1:
        if self.used + 8 > self.room:
            self.reserve(8)
        (<long long*>(self.data + self.used))[0] = value
        self.used += 8
        return 0

    def integers(self, values):
        cdef bytes data = values.tobytes()
        self.append(<char*>data, len(data))

    cpdef int number(self, double value) except -1:
        if self.used + 8 > self.room:
            self.reserve(8)
        (<double*>(self.data + self.used))[0] = value
        self.used += 8
        return 0

    cpdef int pair(self, int first, int second) except -1:
        cdef int* place
        if self.used + 8 > self.room:
            self.reserve(8)
        place = <int*>(self.data + self.used)
        place[0], place[1] = first, second
        self.used += 8
        return 0

    cpdef int blank(self, Py_ssize_t count) except -1:
        self.reserve(8 * count)
        memset(self.data + self.used, 0, 8 * count)
        self.used += 8 * count
        return 0

    cpdef int set_integer(self, Py_ssize_t place, long long value) except -1:
        (<long long*>self.data)[place] = value
        return 0

    cpdef int set_number(self, Py_ssize_t place, double value) except -1:
        (<double*>self.data)[place] = value
        return 0

    cpdef int set_pair(self, Py_ssize_t place, int first, int second) except -1:
        (<int*>self.data)[2 * place], (<int*>self.data)[2 * place + 1] = first, second
        return 0

    cpdef long long integer_at(self, Py_ssize_t place) except? -1:
        return (<long long*>self.data)[place]

    def column(self, Py_ssize_t number, str typecode):
        values = np.frombuffer(self, "f8" if typecode == "d" else "i8")[number::self.width]
        return values.astype(typecode).tobytes()


cdef class Rows(Block):
    """Rows of ``layout``; :mod:`kernbench.engine.core.records` has the fields, in their order."""

    cdef inline char* place(self, size_t nbytes) except NULL:
        """Room for one more row."""
        if self.used + nbytes > self.room:
            self.reserve(nbytes)
        self.used += nbytes
        self.count += 1
        return self.data + self.used - nbytes

    cpdef int extend(self, Rows more) except -1:
        if more.count:
            self.append(more.data, more.used)
            self.count += more.count
        return 0

    def tuples(self):
        return np.frombuffer(self, self.layout).tolist()

    def columns(self):
        rows = np.frombuffer(self, self.layout)
        return {name: rows[name] for name in self.layout.names}


@cython.final
cdef class Hops(Rows):
    layout = HOPS

    cpdef int add(
        self, long long resource, double t_in, double t_start, double t_out, double service_ns, double wait_ns,
        long long nbytes,
    ) except -1:
        cdef long long* row = <long long*>self.place(7 * 8)
        cdef double* times = <double*>row
        row[0], row[6] = resource, nbytes
        times[1], times[2], times[3], times[4], times[5] = t_in, t_start, t_out, service_ns, wait_ns
        return 0


@cython.final
cdef class Waits(Rows):
    layout = WAITS

    cpdef int add(
        self, long long of, long long holder, long long resource, double ns, long long holders, long long seq,
        double t_from, double t_to,
    ) except -1:
        cdef Wait* wait = <Wait*>self.place(sizeof(Wait))
        wait.of, wait.holder, wait.resource, wait.holders, wait.seq = of, holder, resource, holders, seq
        wait.ns, wait.t_from, wait.t_to = ns, t_from, t_to
        return 0

    cpdef int extend_joined(self, Waits more) except -1:
        cdef Wait* w = <Wait*>more.data
        cdef Py_ssize_t i, j, begin = 0, kept = 0
        # Those of one hop stand together.
        for i in range(more.count):
            if i and w[i].seq != w[kept - 1].seq:
                begin = kept
            for j in range(begin, kept):
                if w[j].holder == w[i].holder and w[j].resource == w[i].resource:
                    w[j].ns = w[j].ns + w[i].ns
                    w[j].holders = max(w[j].holders, w[i].holders)
                    w[j].t_from = min(w[j].t_from, w[i].t_from)
                    w[j].t_to = max(w[j].t_to, w[i].t_to)
                    break
            else:
                w[kept] = w[i]
                kept += 1
        if kept:
            self.append(w, kept * sizeof(Wait))
            self.count += kept
        return 0

    def times(self):
        return [w.ns for w in (<Wait*>self.data)[:self.count]]


@cython.final
cdef class Numbers(Rows):
    layout = NUMBERS

    cpdef int add(
        self, long long id, long long parent, long long op, long long launch, long long nbytes, long long hops,
        long long address, long long channel, double t_submit, double t_done,
    ) except -1:
        cdef long long* row = <long long*>self.place(10 * 8)
        row[0], row[1], row[2], row[3], row[4], row[5] = id, parent, op, launch, nbytes, hops
        row[6], row[7] = address, channel
        (<double*>row)[8], (<double*>row)[9] = t_submit, t_done
        return 0
