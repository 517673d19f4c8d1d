from kernbench.components.dram_bus cimport PseudoChannel
from kernbench.components.dram_state cimport Bank, Burst, Pseudo
from kernbench.sim.transaction cimport Packet

cimport cython

cdef int _HIT, _MISS, _CONFLICT

cdef class Visit:
    cdef public Packet packet, answer
    cdef public double last_in, begun, inside, done, issued
    cdef public list parts, stays
    cdef public long long unserved, next
    cdef public PseudoChannel by

    @cython.locals(number=int, stay=DramStay)
    cpdef object wait_from(self, long long tick)

cdef class FlitAtSlice:
    cdef public Visit visit
    cdef public long long flit, left
    cdef public double done, issued
    cdef public PseudoChannel by

cdef class DramStay:
    cdef public long long last, hits, misses, conflicts, refreshes, refresh, row

    @cython.locals(found=int, pseudo=Pseudo, since="long long")
    cdef object serve(self, Burst burst, long long at, bint explained)
