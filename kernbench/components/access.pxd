from kernbench.address.requests cimport PhysicalRequest
from kernbench.components.base cimport Component
from kernbench.sim.fabric cimport Fabric
from kernbench.sim.ledger cimport Ledger
from kernbench.sim.node cimport FabricNode
from kernbench.sim.transaction cimport Packet, Path, Transaction

cimport cython

cdef class ChannelRequests:
    cdef public long long first, unanswered, open, size
    cdef dict _held, _leads

    cpdef double follow(self, long long node, double out, bint leads) except? -1.0
    @cython.locals(last=Transaction, other=Packet, held=list, overhead=double, start=double, out=double, wait=double, last_in=double, transaction=Transaction)
    cpdef object gather(self, object fabric, FabricNode node, Packet packet, Py_ssize_t hop, double time)

@cython.locals(request=PhysicalRequest)
cpdef tuple regions_of(list requests)
@cython.locals(system=Ledger, path=Path, transaction=Transaction, part=Transaction, pieces=list, piece=list, request=PhysicalRequest)
cpdef list begin(
    Component source, object traffic, object kind, object requests, double t_submit, long long op, bint is_write, object ids=*
)
@cython.locals(one=Transaction, fabric=Fabric)
cpdef object send(Component source, list transactions)
