from kernbench.engine.components.memory cimport Memory
from kernbench.engine.core.columns cimport Doubles
from kernbench.engine.core.server cimport Server
from kernbench.engine.core.transaction cimport Packet, Transaction

cimport cython

cdef int _COMMITS

cdef class HbmSlice(Memory):
    cdef readonly list channels
    cdef public double burst_ns, penalty_ns
    cdef int shift
    cdef long long mask, flit_bytes
    cdef public long long period
    cdef double entry_busy_ns
    cdef Doubles channels_busy, directions
    cdef bint stale

    cpdef double served(self, Packet packet, long long flit, double time, bint writing) except? -1.0
    cpdef long long channel_at(self, long long address) except -1
    @cython.locals(
        transaction=Transaction, channel=Server, index="long long", step="long long", done=double,
    )
    cpdef double burst(self, Packet packet, long long flit, double time, bint writing) except? -1.0
    @cython.locals(
        transaction=Transaction, channel=Server, index=Py_ssize_t, places=list, ends=list, number=Py_ssize_t, last=double, done=double,
    )
    cpdef double bursts(self, Packet packet, long long flit, double time, bint writing) except? -1.0
    @cython.locals(channel=Server, duration=double, direction=double, before=double, done=double)
    cpdef double serve(self, Py_ssize_t index, Transaction transaction, double time, bint writing) except? -1.0
    cpdef list tally(self)
    @cython.locals(one=HbmSlice)
    cpdef object grow(self, Server like, list before)
    cpdef object leave(self, double time, long long nbytes, double busy_ns, double wait_ns)
    @cython.locals(i=Py_ssize_t, channel=Server)
    cdef object _count_entry(self, double busy_ns)
