from kernbench.sim.channels cimport ChannelPort
from kernbench.sim.lanes cimport Buffer, Lane, LaneStay, VirtualChannel
from kernbench.sim.node cimport Link
from kernbench.sim.port cimport PortLine, Port
from kernbench.sim.server cimport Server
from kernbench.sim.transaction cimport Packet, Path, Transaction

cimport cython

cdef double _INFINITY

cdef class BufferedPort(ChannelPort):
    @cython.locals(lane=Lane, stay=LaneStay)
    cdef object enter(self, Server source, Packet packet, Py_ssize_t hop, long long flit, long long last, double time)
    @cython.locals(channel=VirtualChannel, lane=Lane, channels=list)
    cdef Lane lane_of(self, Server source, Packet packet, Py_ssize_t hop)
    @cython.locals(stay=LaneStay)
    cdef LaneStay find(self, Lane lane, Packet packet)
    @cython.locals(before=PortLine, place=Py_ssize_t)
    cdef object at_head(self, Lane lane, double time)
    @cython.locals(lane=Lane, chosen=Lane, when=double, again=double)
    cdef Lane choose(self, double now)
    @cython.locals(stay=LaneStay, own=VirtualChannel, inside=Buffer, channel=VirtualChannel, when=double)
    cdef double possible(self, Lane lane, double now) except? -1.0
    @cython.locals(stay=LaneStay, port=Port, link=Link)
    cdef Transaction blocker(self, Lane lane, Transaction transaction, double now)
    @cython.locals(
        stay=LaneStay, packet=Packet, flit="long long", hop=Py_ssize_t, taken=VirtualChannel, own=VirtualChannel,
        inside=Buffer, following=LaneStay, port=BufferedPort, path=Path, link=Link,
    )
    cdef object go(self, Lane lane, double now, double end, double arrival)
    @cython.locals(stay=LaneStay, transaction=Transaction, own=VirtualChannel, where=Buffer, here=double, total=double,
                   since=double, until=double, index=Py_ssize_t)
    cdef double note_waits(self, Lane lane, double now) except? -1.0
    @cython.locals(lane=Lane, oldest=double)
    cdef object settle(self)
