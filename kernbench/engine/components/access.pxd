from kernbench.hardware.address.requests cimport PhysicalRequest
from kernbench.engine.components.base cimport Component
from kernbench.engine.core.columns cimport Doubles
from kernbench.engine.core.fabric cimport Fabric
from kernbench.engine.core.ledger cimport Ledger
from kernbench.engine.core.node cimport FabricNode, Link
from kernbench.engine.core.transaction cimport Packet, Path, Transaction

cimport cython

cdef class Requests:
    cdef readonly object done, served
    cdef readonly Py_ssize_t open, unserved
    cdef public double wait_ns, t_first

    @cython.locals(transaction=Transaction)
    cpdef object await_all(self, list sent)
    cpdef object transaction_served(self)
    cpdef object transaction_done(self, Transaction transaction)
    cpdef object answered(self)

cdef class ChannelRequests:
    cdef public long long first, unanswered, open, size
    cdef dict _held, _leads

    cpdef double follow(self, long long node, double out, bint leads) except? -1.0
    @cython.locals(last=Transaction, other=Packet, held=list, overhead=double, start=double, out=double, wait=double, last_in=double, transaction=Transaction)
    cpdef object gather(self, Fabric fabric, FabricNode node, Packet packet, Py_ssize_t hop, double time)

@cython.locals(packet=Packet, link=Link, most="long long", flit="long long", feed=Doubles)
cpdef object inject_together(Fabric fabric, list packets, Py_ssize_t hop)
@cython.locals(request=PhysicalRequest)
cpdef tuple regions_of(list requests)
@cython.locals(system=Ledger, path=Path, transaction=Transaction, part=Transaction, pieces=list, piece=list, request=PhysicalRequest)
cpdef list begin(
    Component source, object traffic, object kind, object requests, double t_submit, long long op, bint is_write, object ids=*
)
@cython.locals(one=Transaction, fabric=Fabric, packet=Packet)
cpdef object send(Component source, list transactions, object branches=*)
@cython.locals(packet=Packet, packets=list, group=list, leaves=list, times=Doubles, fabric=Fabric, fed="long long")
cpdef list send_fed(Component source, list transactions, double head, double gbs, object branches=*)
@cython.locals(packet=Packet, link=Link, times=Doubles, most="long long", flit="long long", nbytes="long long", out=double)
cpdef long long feed(Fabric fabric, list packets, long long fed, double head, double gbs) except -1
