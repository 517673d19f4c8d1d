cimport cython

cdef class Burst:
    cdef public long long order, came, row, mask, opened
    cdef public int count, left, found
    cdef public bint write, begun
    cdef public Bank bank
    cdef public object part
    cdef public Burst behind

    cpdef object prepare(
        self, long long order, long long came, Bank bank, long long row, long long mask, bint write, object part
    )

cdef class Bank:
    cdef public Pseudo pseudo
    cdef public BankGroup group
    cdef public int rank, number
    cdef public long long row, act, read, write, pre
    cdef public list reads, writes
    cdef public Burst active, hit, miss
    cdef public int looked_for

    @cython.locals(burst=Burst)
    cpdef object look(self, bint writing)

cdef class BankGroup:
    cdef public long long read, write, act

cdef class Pseudo:
    cdef public int number, read_rank, write_rank, active, open, next_bank
    cdef public list banks
    cdef public long long read, write, act, pre, refresh, last_read, last_write, act1, act2, act3, act4
    cdef public long long due_at, hits, misses, conflicts, refreshes
    cdef public list refreshed

    @cython.locals(count="long long", ticks="long long", due="long long", issued="long long", over="long long", end="long long", start="long long")
    cpdef tuple held_up(self, long long since, long long until, Bank bank)
