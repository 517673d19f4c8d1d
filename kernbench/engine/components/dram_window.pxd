from kernbench.engine.components.dram_state cimport Bank, Burst, BankGroup, Pseudo
from kernbench.engine.components.dram_timing cimport Ticks
from kernbench.engine.core.clock cimport QueuedStep

cimport cython

cdef long long _FAR

cdef class DramWindow(QueuedStep):
    cdef readonly Ticks t
    cdef readonly double tick_ns
    cdef bint halves, closes, single, draining
    cdef long long act_len, row_len, col_len, burst, read_ticks, write_ticks, ccd_s, ccd_r, faw
    cdef readonly list pseudos, banks, read_banks, write_banks, active
    cdef readonly object waiting, due
    cdef long long period, next_refresh, read_window, write_window
    cdef double high, low
    cdef readonly long long reads, writes, held_reads, held_writes
    cdef readonly long long now
    cdef long long col_free, row_free, pair_at, at, ordered
    cdef Pseudo pair_pseudo
    cdef Bank pair_bank
    cdef int what
    cdef object on
    cdef public object log


    @cython.locals(burst=Burst)
    cpdef Burst add(self, long long came, Bank bank, long long row, long long mask, bint write, object part)
    cdef bint has_room(self, Burst burst) except -1
    @cython.locals(burst=Burst)
    cdef object admit(self)
    @cython.locals(bank=Bank, active=Burst, other=Burst, older=list, held=int, other_way=bint)
    cdef object enter(self, Burst burst)
    @cython.locals(bank=Bank)
    cdef object leave(self, Burst burst)
    @cython.locals(bank=Bank, other=Burst, others=list)
    cdef object free_those_behind(self, Burst burst)
    @cython.locals(free_reads="long long", free_writes="long long")
    cdef bint drains(self) except -1
