cdef class Burst:
    cdef public long long order, came, row, mask
    cdef public int count, left
    cdef public bint write, begun
    cdef public Bank bank
    cdef public object part
    cdef public Burst behind

cdef class Bank:
    cdef public Pseudo pseudo
    cdef public Group group
    cdef public int rank, number
    cdef public long long row, act, read, write, pre
    cdef public list reads, writes
    cdef public Burst active

cdef class Group:
    cdef public long long read, write, act

cdef class Pseudo:
    cdef public int number, read_rank, write_rank, active, open, next_bank
    cdef public list banks
    cdef public long long read, write, act, pre, refresh, last_read, last_write, act1, act2, act3, act4
    cdef public long long refreshing_from, refreshing_to
