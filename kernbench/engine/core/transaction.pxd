from kernbench.engine.core.columns cimport Doubles, Hops, Waits
from kernbench.engine.core.holding cimport HeldTimes
from kernbench.engine.core.occupancy cimport OccupancyLog
from kernbench.engine.core.server cimport Server

cimport cython

cdef class Transaction:
    cdef readonly long long id
    cdef public object kind, src, dst, message, ids, on_done, on_served, access, gathered
    cdef public long long nbytes, parent, split_from, op, address, channel
    cdef public double t_submit, t_done, t_first, wait_ns
    cdef public Path path
    cdef public bint is_write, traced
    cdef readonly Hops hop_rows
    cdef readonly Waits wait_rows

    cpdef int prepare(
        self, long long id, object kind, object src, object dst, long long nbytes, double t_submit, Path path
    ) except -1
    cpdef double waited(self) except? -1.0
    cpdef int hop(
        self, long long resource, double t_in, double t_start, double t_out, double service_ns, double wait_ns,
        long long nbytes,
    ) except -1
    @cython.locals(seq="long long")
    cpdef int wait(
        self, long long holder, long long resource, double ns, long long holders, double t_from, double t_to
    ) except -1
    cpdef double wait_for(self, long long holder, long long resource, double t_from, double t_to) except? -1.0
    @cython.locals(n=int)
    cpdef double note_waits(self, long long resource, Server server, double begin, double end) except? -1.0
    @cython.locals(found=HeldTimes, k=int, holder="long long", other=Transaction)
    cdef double note_blockers(self, long long resource, OccupancyLog log, int n) except? -1.0

cdef class Path:
    cdef readonly tuple nodes, links, reassembles, sinks
    cdef public double weight
    cdef public object make_reverse
    cdef Path _reverse
    cdef readonly Py_ssize_t hops

cdef class Packet:
    cdef readonly Transaction transaction
    cdef readonly Path path
    cdef public bint pays
    cdef readonly long long nbytes, last, last_bytes
    cdef public object state
    cdef public list channels
    cdef public dict branches
    cdef public Server entered
    cdef public Doubles feed
    cdef public Py_ssize_t feed_hop
    cdef Doubles times
    cdef Py_ssize_t stride
    cdef public double done
    cdef public Server done_by

    @cython.locals(flits="long long")
    cpdef int prepare(self, Transaction transaction, Path path, long long nbytes, long long flit_bytes) except -1
    cpdef Doubles feeds(self)
    cpdef double time_at(self, Py_ssize_t place, Py_ssize_t i) except? -1.0
