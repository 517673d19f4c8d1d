from kernbench.engine.components.dram_bus cimport PseudoChannel
from kernbench.engine.components.dram_state cimport Bank, Burst, Pseudo
from kernbench.engine.core.transaction cimport Packet

cimport cython

cdef int _HIT, _MISS, _CONFLICT

cdef class MemoryRequest:
    cdef public Packet packet, answer
    cdef public double last_in, begun, inside, done, issued
    cdef public list parts, states
    cdef public long long unserved, next
    cdef public PseudoChannel by

    @cython.locals(number=int, state=ChannelState)
    cpdef object wait_from(self, long long tick)

cdef class FlitRequest:
    cdef public MemoryRequest asked
    cdef public long long flit, left
    cdef public double done, issued
    cdef public PseudoChannel by

cdef class ChannelState:
    cdef public long long last, hits, misses, conflicts, refreshes, refresh, row

    @cython.locals(found=int, pseudo=Pseudo, since="long long")
    cdef object serve(self, Burst burst, long long at, bint explained)
