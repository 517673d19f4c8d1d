"""Numbers that grow, compiled: see ``columns.py``. Rows lie as structs one after the other."""

cimport cython
from cpython.buffer cimport PyBuffer_FillInfo
from libc.stdlib cimport calloc, free, malloc, realloc
from libc.string cimport memcpy, memset

import numpy as np


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

    def rows(self, layout):
        return np.frombuffer(self, layout)

    def column(self, Py_ssize_t number, str typecode):
        values = np.frombuffer(self, "f8" if typecode == "d" else "i8")[number::self.width]
        return values.astype(typecode).tobytes()


HOPS = np.dtype([("resource", "i8"), ("t_in", "f8"), ("t_start", "f8"), ("t_out", "f8"), ("service_ns", "f8"),
                 ("wait_ns", "f8"), ("nbytes", "i8")])
WAITS = np.dtype([("of", "i8"), ("holder", "i8"), ("resource", "i8"), ("holders", "i8"), ("seq", "i8"),
                  ("ns", "f8"), ("t_from", "f8"), ("t_to", "f8")])
NUMBERS = np.dtype([("id", "i8"), ("parent", "i8"), ("op", "i8"), ("launch", "i8"), ("nbytes", "i8"),
                    ("hops", "i8"), ("address", "i8"), ("channel", "i8"), ("t_submit", "f8"), ("t_done", "f8")])


def columns(block, layout):
    rows = np.frombuffer(block, dtype=layout)
    return {name: rows[name] for name in layout.names}


@cython.final
cdef class Hops(Block):
    cpdef int add(
        self, long long resource, double t_in, double t_start, double t_out, double service_ns, double wait_ns,
        long long nbytes,
    ) except -1:
        cdef Hop* hop
        if self.used + sizeof(Hop) > self.room:
            self.reserve(sizeof(Hop))
        hop = <Hop*>(self.data + self.used)
        hop.resource, hop.t_in, hop.t_start, hop.t_out = resource, t_in, t_start, t_out
        hop.service_ns, hop.wait_ns, hop.nbytes = service_ns, wait_ns, nbytes
        self.used += sizeof(Hop)
        self.count += 1
        return 0

    cpdef int extend(self, Hops more) except -1:
        if more.count:
            self.append(more.data, more.used)
            self.count += more.count
        return 0

    def tuples(self):
        return [
            (h.resource, h.t_in, h.t_start, h.t_out, h.service_ns, h.wait_ns, h.nbytes)
            for h in (<Hop*>self.data)[:self.count]
        ]

    def columns(self):
        return columns(self, HOPS)


@cython.final
cdef class Waits(Block):
    cpdef int add(
        self, long long of, long long holder, long long resource, long long holders, long long seq, double ns,
        double t_from, double t_to,
    ) except -1:
        cdef Wait* wait
        self.reserve(sizeof(Wait))
        wait = <Wait*>(self.data + self.used)
        wait.of, wait.holder, wait.resource, wait.holders, wait.seq = of, holder, resource, holders, seq
        wait.ns, wait.t_from, wait.t_to = ns, t_from, t_to
        self.used += sizeof(Wait)
        self.count += 1
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

    def tuples(self):
        return [
            (w.of, w.holder, w.resource, w.holders, w.seq, w.ns, w.t_from, w.t_to)
            for w in (<Wait*>self.data)[:self.count]
        ]

    def times(self):
        return [w.ns for w in (<Wait*>self.data)[:self.count]]

    def columns(self):
        return columns(self, WAITS)


@cython.final
cdef class Numbers(Block):
    cpdef int add(
        self, long long id, long long parent, long long op, long long launch, long long nbytes, long long hops,
        long long address, long long channel, double t_submit, double t_done,
    ) except -1:
        cdef Number n
        n.id, n.parent, n.op, n.launch, n.nbytes, n.hops = id, parent, op, launch, nbytes, hops
        n.address, n.channel, n.t_submit, n.t_done = address, channel, t_submit, t_done
        return self.append(&n, sizeof(n))

    def columns(self):
        return columns(self, NUMBERS)
