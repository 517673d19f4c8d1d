from kernbench.sim.holding cimport Departures, Runs
from kernbench.sim.node cimport Link
from kernbench.sim.port cimport PortLine, Port, PortRequest
from kernbench.sim.server cimport Server
from kernbench.sim.transaction cimport Packet, Transaction

cimport cython

cdef int _NAMED

cdef class LaneStay(PortRequest):
    cdef readonly double came, allocated
    cdef readonly VirtualChannel channel
    cdef list held

    cdef object prepare(self, Packet packet, Py_ssize_t hop, long long last, double since, long long order)
    cdef object forget(self)

cdef class Lane(PortLine):
    cdef readonly VirtualChannel channel
    cdef double free, head_since
    cdef Runs runs
    cdef readonly double blocked
    cdef readonly Transaction behind
    cdef readonly Buffer where

    @cython.locals(gone=PortRequest, following=PortRequest, runs=Runs)
    cdef object pass_on(self, double end)
    cdef object hold_up(self, double now, Transaction behind, Buffer where)
    @cython.locals(stay=LaneStay, since=double)
    cdef object let_go(self, double now)
    @cython.locals(
        runs=Runs, stop=double, begin=double, total=double, at=Py_ssize_t, named=int, holders="long long",
        seq="long long", holder=Transaction,
    )
    cdef double waits(self, Transaction transaction, Py_ssize_t resource, double since) except? -1.0

cdef class VirtualChannel:
    cdef readonly Buffer buffer
    cdef readonly int number
    cdef readonly bint taken
    cdef readonly Transaction holder
    cdef double free_from
    cdef long long left
    cdef Departures coming
    cdef bint wanted
    cdef readonly Lane lane

    cdef long long credits(self, double now) except? -1
    @cython.locals(port=Port)
    cdef object give_back(self, double time)

cdef class Buffer(Server):
    cdef readonly Link link
    cdef readonly long long flits
    cdef readonly double credit_ns, allocation_ns
    cdef readonly bint dateline
    cdef readonly Py_ssize_t spread
    cdef public object node
    cdef double reading
    cdef readonly list channels
