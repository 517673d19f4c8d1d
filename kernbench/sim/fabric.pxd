from kernbench.sim.buffers cimport BufferedPort
from kernbench.sim.lanes cimport Lane, LaneStay
from kernbench.sim.clock cimport Carrier, Loop
from kernbench.sim.columns cimport Doubles
from kernbench.sim.node cimport FabricNode, Link
from kernbench.sim.port cimport Port, PortRequest
from kernbench.sim.queue cimport Queue
from kernbench.sim.server cimport Server
from kernbench.sim.transaction cimport Packet, Path, Transaction

cimport cython

cdef int _DEPART, _INJECT, _RECEIVE, _ANSWER, _DECIDE
cdef double _UNKNOWN

cdef class Fabric(Carrier):
    cdef readonly Loop clock
    cdef Queue queue
    cdef readonly long long flit_bytes
    cdef public bint splits
    cdef public long long flit_crossings

    cpdef object send(self, Packet packet)
    cpdef object send_together(self, object packets)
    @cython.locals(feed=Doubles)
    cpdef object stream(self, Packet packet, object times)
    @cython.locals(feed=Doubles, i="long long")
    cpdef object stream_singly(self, Packet packet)
    cpdef object stream_flit(self, Packet packet, long long flit, double time)
    cpdef object answer_at(self, double time, Packet packet)
    @cython.locals(packet=Packet, node=FabricNode, link=Link)
    cpdef object step(self, int what, object item, long long hop, long long flit)

    @cython.locals(
        link=Link, last="long long", i="long long", feed=Doubles, path=Path, transaction=Transaction,
    )
    cpdef object inject(self, Packet packet, Py_ssize_t hop)
    @cython.locals(
        packet=Packet, link=Link, last="long long", most="long long", flit="long long", mine=Doubles,
    )
    cpdef object inject_together(self, object packets, Py_ssize_t hop)
    @cython.locals(
        link=Link, path=Path, last="long long", stride=Py_ssize_t, times=Doubles, feed=Doubles, whole=bint,
        to="long long",
    )
    cdef object release(self, Packet packet, long long flit, double time)
    @cython.locals(path=Path, link=Link, port=Port, source=Server, limited=BufferedPort)
    cdef object stand(self, Packet packet, Py_ssize_t hop, long long flit, long long last, double time)
    @cython.locals(
        request=PortRequest, packet=Packet, path=Path, link=Link, hop=Py_ssize_t, flit="long long", last="long long",
        stride=Py_ssize_t, times=Doubles,
    )
    cdef object decide(self, Port port)
    @cython.locals(
        lane=Lane, stay=LaneStay, packet=Packet, path=Path, link=Link, hop=Py_ssize_t, flit="long long",
        last="long long", stride=Py_ssize_t, times=Doubles,
    )
    cdef object let_on(self, BufferedPort port, double now)
    @cython.locals(server=Server)
    cdef object leave_link(
        self, Packet packet, Link link, double t_in, double t_start, double last_in, double last_start, double end,
    )
    @cython.locals(transaction=Transaction)
    cdef object cross(
        self, Packet packet, Link link, double t_in, double t_start, double last_in, double end, double wait,
    )
    @cython.locals(
        path=Path, node=FabricNode, transaction=Transaction, last="long long", times=Doubles,
    )
    cpdef object flit_arrives(self, double time, Packet packet, long long hop, long long flit)
    @cython.locals(
        path=Path, link=Link, transaction=Transaction, times=Doubles, stride=Py_ssize_t, last="long long",
        alone=bint, out=double,
    )
    cdef object overlap(self, Packet packet, Py_ssize_t hop, FabricNode node, long long flit, double time)
    @cython.locals(link=Link, path=Path, times=Doubles, stride=Py_ssize_t, last="long long")
    cdef object put(self, Packet packet, Py_ssize_t hop, long long flit, double out)
    @cython.locals(access=object, transaction=Transaction)
    cdef object whole(self, Packet packet, Py_ssize_t hop, FabricNode node, long long flit, double time)
    @cython.locals(last=Transaction, packet=Packet, last_in=double)
    cdef object forward_together(self, list whole, Py_ssize_t hop, FabricNode node, double time)
    @cython.locals(transaction=Transaction, times=Doubles)
    cdef object leave_node(
        self, Packet packet, Py_ssize_t hop, FabricNode node, double last_in, double out, double begun, double wait,
    )
