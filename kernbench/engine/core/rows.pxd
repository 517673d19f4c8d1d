from kernbench.engine.program.computing cimport CallSite
from kernbench.engine.program.operations cimport Op
from kernbench.engine.core.columns cimport Hops, Numbers, Waits
from kernbench.engine.core.transaction cimport Transaction

cimport cython

cdef class StageRows:
    cdef public bint takes_computed

    cpdef long long add_part(
        self, long long row, int part, Op op, CallSite site, object component, long long id, long long held, int access,
        double t_ready, double t_start, double t_end,
    ) except -2
    cpdef object add_stage(
        self, long long id, Op parent, object stage, object name, object component, long long nbytes,
        long long transaction, double t_ready, double t_start, double t_end, tuple after, object hazard, long long slot,
    )

cdef class TransactionRows:
    cdef readonly list kind, src, dst, request, gathered, splits
    cdef readonly Numbers numbers
    cdef public Hops hops
    cdef public Waits waits
    cdef long long forgotten

    @cython.locals(t=Transaction, hops=Py_ssize_t, address="long long")
    cpdef int take(self, Transaction transaction) except -1
    cpdef int add_access(
        self, long long id, long long op, object kind, object src, object dst, long long nbytes, long long resource,
        int hops, double t_submit, double t_start, double t_done,
    ) except -1
