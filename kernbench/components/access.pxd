from kernbench.address.requests cimport PhysicalRequest
from kernbench.components.base cimport Component
from kernbench.sim.fabric cimport Fabric
from kernbench.sim.ledger cimport Ledger
from kernbench.sim.transaction cimport Packet, Path, Transaction

cimport cython

@cython.locals(request=PhysicalRequest)
cpdef tuple regions_of(list requests)
@cython.locals(system=Ledger, path=Path, transaction=Transaction, part=Transaction, pieces=list, piece=list, request=PhysicalRequest)
cpdef list begin(
    Component source, object traffic, object kind, object requests, double t_submit, long long op, bint is_write, object ids=*
)
@cython.locals(one=Transaction, fabric=Fabric)
cpdef object send(Component source, list transactions)
