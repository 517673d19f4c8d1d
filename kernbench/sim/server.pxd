from kernbench.sim.holding cimport Departures, HeldTimes as Parts, Runs, HolderShares

cimport cython

cdef int _NAMED
cdef double _INFINITY

cdef class Server:
    cdef public object resource, holder, watcher
    cdef public Py_ssize_t index
    cdef public double free, since, wait_ns
    cdef double _busy_ns
    cdef public long long bytes, transactions, max_queue
    cdef long long present
    cdef readonly Runs runs
    cdef bint queued
    cdef HolderShares shares
    cdef Departures departures
    cdef Py_ssize_t leaving
    cdef double left
    cdef Parts parts

    cpdef double occupy(self, double time, double duration, object owner) except? -1.0
    cpdef object end_run(self, double end)
    cpdef object forget_runs(self)
    @cython.locals(runs=Runs)
    cdef int drop_runs(self, double time) except -1
    @cython.locals(
        runs=Runs, parts=Parts, n=int, k=int, step=Py_ssize_t, count=Py_ssize_t, others=Py_ssize_t, known=bint,
    )
    cpdef int waits(self, object owner, double begin, double end) except -1
    @cython.locals(
        runs=Runs, shares=HolderShares, parts=Parts, over=Py_ssize_t, j=Py_ssize_t, k=int, last=Py_ssize_t, known=bint,
    )
    cdef Py_ssize_t others(self, object owner, int n, Py_ssize_t walked) except -1
    @cython.locals(runs=Runs, i=Py_ssize_t)
    cdef int rest(self, object owner, int n, double begin, double stop, double own_walked) except -1
    @cython.locals(present="long long", gone=int)
    cpdef object arrive(self, double time)
    cpdef object leave(self, double time, long long nbytes, double busy_ns, double wait_ns)
