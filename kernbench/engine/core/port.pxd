from kernbench.engine.core.inputs cimport Buffer, InputQueue, QueueEntry
from kernbench.engine.core.queue cimport Queue
from kernbench.engine.core.server cimport ArbitratedServer, Server
from kernbench.engine.core.transaction cimport Packet, Transaction
from kernbench.engine.core.vc_allocation cimport VcAllocation

cimport cython

cdef int _DECIDE
cdef double _INFINITY

cdef class Arbiter:
    cdef readonly object link
    cdef public tuple inputs

    cpdef object reset(self)
    cpdef Py_ssize_t pick(self, list lines, Py_ssize_t last) except? -1

cdef class Port(ArbitratedServer):
    cdef readonly object link
    cdef readonly Arbiter arbiter
    cdef Queue queue
    cdef readonly Buffer buffer
    cdef VcAllocation allocation
    cdef readonly bint by_message
    cdef dict inputs
    cdef readonly list requesting
    cdef Py_ssize_t last_granted, spread
    cdef double next_due
    cdef long long requests
    cdef QueueEntry spare

    cdef int wake(self, double time) except -1
    @cython.locals(queue=InputQueue, entry=QueueEntry)
    cdef object request(self, Server source, Packet packet, Py_ssize_t hop, long long flit, long long last, double time)
    @cython.locals(queue=InputQueue, channels=list)
    cdef InputQueue input_of(self, Server source, Packet packet, Py_ssize_t hop)
    @cython.locals(entry=QueueEntry)
    cdef QueueEntry find(self, InputQueue queue, Packet packet)
    @cython.locals(before=InputQueue, requesting=list, place=Py_ssize_t)
    cdef int at_head(self, InputQueue queue, double time) except -1
    @cython.locals(queue=InputQueue, first=InputQueue, chosen=InputQueue, ready=list, when=double, again=double)
    cdef InputQueue arbitrate(self, double now)
    @cython.locals(place=Py_ssize_t, count=Py_ssize_t)
    cdef Py_ssize_t pick(self, list lines, Py_ssize_t last) except -1
    @cython.locals(entry=QueueEntry, inside=Buffer, channel=InputQueue, when=double)
    cdef double ready_from(self, InputQueue queue, double now) except? -1.0
    @cython.locals(entry=QueueEntry, port=Port)
    cdef Transaction blocker(self, InputQueue queue, Transaction transaction, double now)
    @cython.locals(
        entry=QueueEntry, packet=Packet, flit="long long", over=bint, taken=InputQueue, inside=Buffer,
        following=QueueEntry, port=Port, again=double,
    )
    cdef int sent(self, InputQueue queue, double now, double end, double arrival) except -1
    @cython.locals(requesting=list, place=Py_ssize_t)
    cdef int withdraw(self, InputQueue queue) except -1
    @cython.locals(queue=InputQueue, since=double, oldest=double)
    cdef int forget_past(self) except -1
    @cython.locals(entry=QueueEntry, transaction=Transaction, inside=Buffer, where=Buffer, here=double,
                   total=double, since=double, until=double, index=Py_ssize_t)
    cdef double note_waits(self, InputQueue queue, double now) except? -1.0
