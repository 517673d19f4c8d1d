from kernbench.components.dram_state cimport Bank, Burst, Group, Pseudo
from kernbench.components.dram_timing cimport Ticks

cimport cython

cdef long long _FAR
cdef int _HIT, _MISS, _CONFLICT
cdef int _COLUMN, _ACTIVATE, _PRECHARGE, _CLOSE_ALL, _REFRESH

cdef class DramChannel:
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
    cdef readonly long long hits, misses, conflicts, refreshes
    cdef public object log

    @cython.locals(burst=Burst)
    cpdef Burst add(self, long long came, Bank bank, long long row, long long mask, bint write, object part)
    cpdef object served(self, Burst burst, long long at)
    @cython.locals(at="long long", first=Burst, head=Burst)
    cpdef long long advance(self, long long to) except? -1
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
    cdef long long rising(self, long long at) except? -1
    @cython.locals(bank=Bank, pseudo=Pseudo, group=Group, at="long long", apart="long long")
    cdef long long column_at(self, Burst burst) except? -1
    @cython.locals(pseudo=Pseudo, at="long long")
    cdef long long activate_at(self, Bank bank) except? -1
    @cython.locals(at="long long", paired=bint)
    cdef long long precharge_at(self, Pseudo pseudo, Bank bank, long long earliest) except? -1
    @cython.locals(
        order="long long", burst=Burst, at="long long", writing=bint, active_at="long long", row_at="long long",
        row_what=int, row_order="long long", row_on=Burst, bank=Bank, hit=Burst, miss=Burst, older=Burst,
        looked_for=int,
    )
    cdef object choose(self)
    @cython.locals(bank=Bank, at="long long", closes=bint, earliest="long long")
    cdef object choose_refresh(self, Pseudo pseudo)
    @cython.locals(at="long long", what=int, burst=Burst)
    cdef object issue(self)
    cdef object note(self, long long at, str command, Pseudo pseudo, Bank bank, long long row)
    cdef object paired(self, long long at, Pseudo pseudo, Bank bank)
    @cython.locals(bank=Bank, pseudo=Pseudo, group=Group, t=Ticks)
    cdef object activate(self, Burst burst, long long at)
    @cython.locals(bank=Bank, pseudo=Pseudo, group=Group, t=Ticks, last=bint)
    cdef object column(self, Burst burst, long long at)
    @cython.locals(burst=Burst)
    cdef object close_if_done(self, Bank bank)
    @cython.locals(t=Ticks, pseudo=Pseudo)
    cdef object close(self, Bank bank, long long at)
    @cython.locals(pseudo=Pseudo)
    cdef object fall_due(self)
    @cython.locals(one=Bank, bank=Bank)
    cdef object close_for_refresh(self, Pseudo pseudo, long long at)
    @cython.locals(t=Ticks, bank=Bank)
    cdef object refresh(self, Pseudo pseudo, long long at)
    @cython.locals(many="long long", pseudo=Pseudo)
    cdef object rest(self, long long to)
