from kernbench.sim.holding cimport Departures, Runs
from kernbench.sim.node cimport Link
from kernbench.sim.port cimport Arbiter, Line, Port, Request
from kernbench.sim.queue cimport Queue
from kernbench.sim.server cimport Server
from kernbench.sim.transaction cimport Packet, Path, Transaction

cimport cython

cdef int _DECIDE, _NAMED
cdef double _INFINITY

cdef class Stay(Request):
    cdef readonly double came, allocated
    cdef readonly VirtualChannel channel
    cdef list held

    cdef object prepare(self, Packet packet, Py_ssize_t hop, long long last, double since, long long order)

cdef class Lane(Line):
    cdef readonly VirtualChannel channel
    cdef double free, head_since
    cdef Runs runs
    cdef readonly double blocked
    cdef readonly Transaction behind
    cdef readonly Buffer where

    @cython.locals(gone=Request, following=Request, runs=Runs)
    cdef object pass_on(self, double end)
    cdef object hold_up(self, double now, Transaction behind, Buffer where)
    @cython.locals(stay=Stay, since=double)
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
    @cython.locals(port=BufferedPort)
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

cdef class BufferedPort(Port):
    cdef Queue queue
    cdef readonly Buffer buffer
    cdef double next_due
    cdef Py_ssize_t allocated
    cdef list ready
    cdef Py_ssize_t spread
    cdef bint crossing
    cdef Py_ssize_t half

    @cython.locals(lane=Lane, stay=Stay)
    cdef object enter(self, Server source, Packet packet, Py_ssize_t hop, long long flit, long long last, double time)
    @cython.locals(channel=VirtualChannel, lane=Lane, channels=list)
    cdef Lane lane_of(self, Server source, Packet packet, Py_ssize_t hop)
    @cython.locals(stay=Stay)
    cdef Stay find(self, Lane lane, Packet packet)
    @cython.locals(before=Line, place=Py_ssize_t)
    cdef object at_head(self, Lane lane, double time)
    cdef object wake(self, double time)
    @cython.locals(lane=Lane, chosen=Lane, when=double, again=double)
    cdef Lane choose(self, double now)
    @cython.locals(place=Py_ssize_t, count=Py_ssize_t)
    cdef Py_ssize_t pick(self, list lines, Py_ssize_t last) except -1
    @cython.locals(stay=Stay, own=VirtualChannel, inside=Buffer, channel=VirtualChannel, when=double)
    cdef double possible(self, Lane lane, double now) except? -1.0
    @cython.locals(stay=Stay, port=Port, link=Link)
    cdef Transaction blocker(self, Lane lane, Transaction transaction)
    @cython.locals(buffer=Buffer, best=VirtualChannel, channel=VirtualChannel, most="long long", credits="long long",
                   number=Py_ssize_t)
    cdef VirtualChannel free_channel(self, Stay stay, double now)
    cdef Py_ssize_t low(self, Stay stay) except -1
    cdef Py_ssize_t high(self, Stay stay) except -1
    cdef bint beyond(self, Stay stay) except -1
    @cython.locals(lane=Lane, stay=Stay, chosen=Lane, asking=list)
    cdef object allocate(self, double now)
    @cython.locals(buffer=Buffer, channel=VirtualChannel, packet=Packet)
    cdef object give(self, Lane lane, Stay stay, double now)
    @cython.locals(buffer=Buffer, first=VirtualChannel)
    cdef double without_channel(self, Lane lane, Stay stay, double now) except? -1.0
    @cython.locals(buffer=Buffer, channel=VirtualChannel, number=Py_ssize_t, again=double)
    cdef double next_channel(self, Stay stay) except? -1.0
    @cython.locals(
        stay=Stay, packet=Packet, flit="long long", hop=Py_ssize_t, taken=VirtualChannel, own=VirtualChannel,
        inside=Buffer, following=Stay, port=BufferedPort, path=Path, link=Link,
    )
    cdef object go(self, Lane lane, double now, double end, double arrival)
    @cython.locals(stay=Stay, transaction=Transaction, own=VirtualChannel, where=Buffer, here=double, total=double,
                   since=double, until=double, index=Py_ssize_t)
    cdef double note_waits(self, Lane lane, double now) except? -1.0
    @cython.locals(lane=Lane, oldest=double)
    cdef object settle(self)
