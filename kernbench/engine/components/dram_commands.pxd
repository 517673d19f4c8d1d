from kernbench.engine.components.dram_state cimport Bank, Burst, BankGroup, Pseudo
from kernbench.engine.components.dram_timing cimport Ticks
from kernbench.engine.components.dram_window cimport DramWindow

cimport cython

cdef int _HIT, _MISS, _CONFLICT

cdef class DramCommands(DramWindow):
    cpdef object served(self, Burst burst, long long at)
    cdef long long rising(self, long long at) except? -1
    @cython.locals(bank=Bank, pseudo=Pseudo, group=BankGroup, at="long long", apart="long long")
    cdef long long column_at(self, Burst burst) except? -1
    @cython.locals(pseudo=Pseudo, at="long long")
    cdef long long activate_at(self, Bank bank) except? -1
    @cython.locals(at="long long", paired=bint)
    cdef long long precharge_at(self, Pseudo pseudo, Bank bank, long long earliest) except? -1
    @cython.locals(bank=Bank, pseudo=Pseudo, group=BankGroup, t=Ticks)
    cdef object activate(self, Burst burst, long long at)
    @cython.locals(bank=Bank, pseudo=Pseudo)
    cdef object precharge(self, Burst burst, long long at)
    @cython.locals(bank=Bank, pseudo=Pseudo, group=BankGroup, t=Ticks, last=bint)
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
    cdef object paired(self, long long at, Pseudo pseudo, Bank bank)
    cdef object note(self, long long at, str command, Pseudo pseudo, Bank bank, long long row)
