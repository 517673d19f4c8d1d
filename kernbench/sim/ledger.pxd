from kernbench.program.operations cimport Op
from kernbench.sim.clock cimport Loop
from kernbench.sim.fabric cimport Fabric
from kernbench.sim.transaction cimport Path, Transaction

cimport cython

cdef class Ledger:
    cdef readonly Loop clock
    cdef readonly bint traced
    cdef public Fabric fabric
    cdef readonly dict paths, in_flight, worked
    cdef long long transactions, ops
    cdef readonly object observers
    cdef tuple when_ended, when_done, when_staged

    @cython.locals(nodes=tuple, number="long long", transaction=Transaction)
    cpdef Transaction open(self, object kind, Path path, long long nbytes, double t_submit, long long op, bint is_write)
    @cython.locals(path=Path)
    cpdef Path path(self, object source, object target, object traffic, object via=*)
    cpdef object end(self, Transaction transaction)
    @cython.locals(key=tuple, intervals=list, launch="long long")
    cpdef object report(self, Op op)
    cpdef long long next_op_id(self) except? -1
