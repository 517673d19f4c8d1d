from kernbench.engine.core.holding cimport HeldTimes, HolderShares, Runs

cimport cython

cdef int _NAMED

cdef class OccupancyLog:
    cdef readonly Runs runs
    cdef HolderShares shares
    cdef HeldTimes found

    cdef int add(self, double since, double until, object holder) except -1
    cdef int forget_until(self, double time) except -1
    cpdef object clear(self)
    @cython.locals(runs=Runs, found=HeldTimes, n=int, k=int, at=Py_ssize_t, others=Py_ssize_t)
    cdef int blockers(
        self, object owner, double begin, double end, object holder, double since, double until
    ) except -1
    @cython.locals(runs=Runs, found=HeldTimes, k=int, others=Py_ssize_t)
    cdef Py_ssize_t older(
        self, object owner, int n, Py_ssize_t at, double begin, double stop, double own, object holder, double start
    ) except -1
    @cython.locals(
        runs=Runs, shares=HolderShares, found=HeldTimes, over=Py_ssize_t, j=Py_ssize_t, k=int, last=Py_ssize_t,
        known=bint,
    )
    cdef Py_ssize_t others(self, object owner, int n, Py_ssize_t walked) except -1
    @cython.locals(runs=Runs, found=HeldTimes, i=Py_ssize_t)
    cdef int rest(self, object owner, int n, double begin, double stop, double own_walked) except -1
    @cython.locals(f=HeldTimes, k=int)
    cpdef list answer(self, int n)
