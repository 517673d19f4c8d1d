from kernbench.engine.program.operations cimport Op
from kernbench.engine.core.clock cimport Loop
from kernbench.engine.core.columns cimport Words
from kernbench.engine.core.fabric cimport Fabric
from kernbench.engine.core.rows cimport StageRows, TransactionRows
from kernbench.engine.core.transaction cimport Path, Transaction

cimport cython

cdef class Ledger:
    cdef readonly Loop clock
    cdef public bint traced
    cdef public Fabric fabric
    cdef readonly dict paths, in_flight, busy_intervals
    cdef long long transactions, ops
    cdef readonly TransactionRows access_rows
    cdef readonly StageRows stage_rows
    cdef readonly bint accesses_seen, stages_seen
    cdef readonly tuple when_ended, when_served, when_done, when_staged

    cpdef object forget(self)
    cpdef Transaction open(self, object kind, Path path, long long nbytes, double t_submit, long long op, bint is_write)
    @cython.locals(nodes=tuple, transaction=Transaction)
    cpdef Transaction opened(
        self, long long number, object kind, Path path, long long nbytes, double t_submit, long long op, bint is_write
    )
    @cython.locals(path=Path)
    cpdef Path path(self, object source, object target, object traffic, object via=*)
    cpdef object end(self, Transaction transaction)
    @cython.locals(done=tuple)
    cpdef object report(self, Op op)
    @cython.locals(of_launch=dict, intervals=Words)
    cdef object note_work(self, long long launch, object component, double begin, double end)
    cdef long long next_transaction(self) except? -1
    cpdef long long next_op_id(self) except? -1
