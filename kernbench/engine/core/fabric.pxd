from kernbench.engine.core.clock cimport Carrier, Loop
from kernbench.engine.core.columns cimport Doubles
from kernbench.engine.core.inputs cimport InputQueue, QueueEntry
from kernbench.engine.core.node cimport FabricNode, Link
from kernbench.engine.core.port cimport Port
from kernbench.engine.core.queue cimport Queue
from kernbench.engine.core.server cimport Server
from kernbench.engine.core.transaction cimport Packet, Path, Transaction

cimport cython

cdef int _REQUEST, _INJECT, _RECEIVE, _ANSWER, _DECIDE, _TRANSFORM
cdef double _UNKNOWN

cdef class Fabric(Carrier):
    cdef readonly Loop clock
    cdef Queue queue
    cdef readonly long long flit_bytes
    cdef public bint splits
    cdef public long long flit_crossings

    cpdef object send(self, Packet packet)
    @cython.locals(feed=Doubles)
    cpdef object stream(self, Packet packet, object times)
    @cython.locals(feed=Doubles, i="long long")
    cpdef object stream_singly(self, Packet packet)
    cpdef object stream_flit(self, Packet packet, long long flit, double time)
    cpdef object answer_at(self, double time, Packet packet)
    @cython.locals(packet=Packet, node=FabricNode, link=Link)
    cpdef object step(self, int what, object item, long long hop, long long flit)

    @cython.locals(flit="long long", feed=Doubles)
    cpdef object inject(self, Packet packet, Py_ssize_t hop)
    @cython.locals(path=Path, link=Link)
    cdef bint asks_port(self, Packet packet, Py_ssize_t hop, long long flit, long long last) except -1
    @cython.locals(feed=Doubles)
    cdef int feed(self, Packet packet, Py_ssize_t hop) except -1
    @cython.locals(link=Link, path=Path, last="long long", feed=Doubles, to="long long", one="long long")
    cdef int release(self, Packet packet, long long flit, double time) except -1
    @cython.locals(link=Link)
    cdef int request(self, Packet packet, Py_ssize_t hop, long long flit, double at) except -1
    @cython.locals(path=Path, link=Link, port=Port, source=Server)
    cdef int ask(self, Packet packet, Py_ssize_t hop, long long flit, long long last, double time) except -1
    @cython.locals(link=Link, times=Doubles, stride=Py_ssize_t, start=double, end=double, arrival=double)
    cdef double traverse(self, Packet packet, Py_ssize_t hop, long long flit, double at) except? -1.0
    @cython.locals(
        queue=InputQueue, entry=QueueEntry, packet=Packet, link=Link, hop=Py_ssize_t, flit="long long", _=double,
        end=double, arrival=double,
    )
    cdef object grant(self, Port port)
    cdef int deliver(self, Packet packet, Py_ssize_t hop, long long flit, double arrival) except -1
    @cython.locals(transaction=Transaction, times=Doubles)
    cdef int leave_link(self, Packet packet, Py_ssize_t hop, Link link, double last_in, double end, double wait) except -1
    @cython.locals(path=Path, node=FabricNode, transaction=Transaction, last="long long", times=Doubles, service=double)
    cpdef object flit_arrives(self, double time, Packet packet, long long hop, long long flit)
    @cython.locals(
        path=Path, link=Link, transaction=Transaction, times=Doubles, stride=Py_ssize_t, last="long long", out=double,
        service=double, more=double,
    )
    cdef object pass_pipelined(self, Packet packet, Py_ssize_t hop, FabricNode node, long long flit, double time)
    @cython.locals(legs=list, leg=Packet, link=Link, leaves=double, times=Doubles, place=Py_ssize_t)
    cdef object fork(
        self, Packet packet, Py_ssize_t hop, FabricNode node, long long flit, double time, double out
    )
    @cython.locals(link=Link)
    cdef bint may_book_ahead(self, Packet packet, Py_ssize_t hop, FabricNode node, long long flit) except -1
    @cython.locals(access=object, transaction=Transaction, leg=Packet)
    cdef object gather(self, Packet packet, Py_ssize_t hop, FabricNode node, long long flit, double time)
    @cython.locals(transaction=Transaction, times=Doubles)
    cpdef int leave_node(
        self, Packet packet, Py_ssize_t hop, FabricNode node, double last_in, double out, double begun, double wait,
    ) except -1
