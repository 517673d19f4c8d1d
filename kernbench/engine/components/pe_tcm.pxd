from kernbench.engine.components.base cimport Component
from kernbench.engine.components.memory cimport Memory
from kernbench.engine.program.operations cimport Op
from kernbench.engine.core.clock cimport QueuedStep
from kernbench.engine.core.ledger cimport Ledger
from kernbench.engine.core.node cimport Link
from kernbench.engine.core.rows cimport TransactionRows
from kernbench.engine.core.server cimport Server
from kernbench.engine.core.transaction cimport Packet, Path, Transaction

cimport cython

cdef class PeTcm(Memory):
    cdef public Server _read_port, _write_port
    cdef public double read_gbs, write_gbs
    cdef dict _reads, _writes

    @cython.locals(access=TcmAccess)
    cpdef object access(
        self, Component caller, Op op, long long nbytes, bint write, object done, double gbs=*,
        double overhead_ns=*,
    )
    @cython.locals(system=Ledger, way=Way, port=Server, own_gbs=double, transaction=Transaction)
    cpdef object begin(
        self, PortAccess access, Component caller, long long op, long long nbytes, bint write, double gbs=*,
        double overhead_ns=*,
    )
    @cython.locals(system=Ledger, rows=TransactionRows, way=Way)
    cpdef object end(self, PortAccess access)
    @cython.locals(link=Link)
    cdef Way _way(self, Component caller, bint write)

@cython.final
cdef class Way:
    cdef PeTcm tcm
    cdef object kind, source
    cdef Path path
    cdef Link link
    cdef Server port
    cdef double gbs

cdef class PortAccess(QueuedStep):
    cdef readonly long long id
    cdef Way way
    cdef long long of_op, port_bytes
    cdef double asked, got
    cdef bint in_row
    cdef Transaction transaction

    @cython.locals(way=Way)
    cpdef object go(self, long long number)
    cpdef object through(self)

cdef class TcmAccess(PortAccess):
    cdef object done

    cpdef object through(self)
