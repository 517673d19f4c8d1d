from kernbench.engine.components.dram_commands cimport DramCommands
from kernbench.engine.components.dram_state cimport Bank, Burst, Pseudo

cimport cython

cdef long long _FAR
cdef int _COLUMN, _ACTIVATE, _PRECHARGE, _CLOSE_ALL, _REFRESH

cdef class DramChannel(DramCommands):
    @cython.locals(at="long long", first=Burst, head=Burst)
    cpdef long long advance(self, long long to) except? -1
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
    @cython.locals(many="long long", pseudo=Pseudo)
    cdef object rest(self, long long to)
