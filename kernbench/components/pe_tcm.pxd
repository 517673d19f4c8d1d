from kernbench.components.base cimport Component
from kernbench.components.memory cimport Memory
from kernbench.program.operations cimport Op
from kernbench.sim.clock cimport QueuedStep
from kernbench.sim.ledger cimport Ledger
from kernbench.sim.node cimport Link
from kernbench.sim.server cimport Server
from kernbench.sim.transaction cimport Packet, Path, Transaction

cimport cython

cdef class PeTcm(Memory):
    cdef public Server _read_port, _write_port
    cdef public double read_gbs, write_gbs
    cdef list _busy_by_port
    cdef dict _ways

    @cython.locals(path=Path, link=Link, port=Server, own_gbs=double, transaction=Transaction)
    cpdef object access(
        self, Component caller, Op op, long long nbytes, bint write, object done, double gbs=*,
        double overhead_ns=*,
    )
    @cython.locals(link=Link)
    cdef tuple _way(self, Component caller, bint write)
    @cython.locals(first=double, second=double)
    cdef int _use(self, bint write, double busy_ns) except -1

cdef class TcmAccess(QueuedStep):
    cdef Ledger system
    cdef Transaction transaction
    cdef double start
    cdef object done
