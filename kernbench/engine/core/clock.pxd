from kernbench.engine.core.queue cimport Queue
from kernbench.engine.core.transaction cimport Packet

cimport cython

cdef int _EVENT, _CALL, _STEP
cdef long long _REPORT_EVERY

cdef class QueuedStep:
    cpdef object go(self, long long number)

cdef class Carrier:
    cpdef object flit_arrives(self, double time, Packet packet, long long hop, long long flit)
    cpdef object step(self, int what, object item, long long hop, long long flit)

cdef class Loop:
    cdef readonly Queue entries
    cdef readonly double time
    cdef bint begun
    cdef public bint touched       # something in Python has run, so the goal may have been reached
    cdef public Carrier carrier
    cdef public object on_progress
    cdef public long long events, patience, scheduled
    cdef public double max_ns, max_events
    cdef bint interrupted

    cpdef object reset(self)
    cpdef int step_at(self, double time, object step, long long number) except -1
    cpdef object carry_out(self, object item)
    @cython.locals(
        queue=Queue, carrier=Carrier, pending="long long", turns="long long", alone="long long", asked=bint, ticked=bint,
    )
    cpdef bint run_for(self, object goal) except -1
