from kernbench.engine.components.pe_component cimport PeComponent
from kernbench.engine.components.pe_scheduler cimport PeScheduler
from kernbench.engine.program.computing cimport Command
from kernbench.engine.program.operations cimport Op

cimport cython

cdef class CommandIssue(PeComponent):
    cdef readonly object _kernel
    cdef object _launch, _ipcq
    cdef PeScheduler _scheduler
    cdef object _submit
    cdef list _started
    cdef long long _last_op, _resumed_by, _epoch
    cdef Op _blocked
    cdef object _unblock, _ahead
    cdef long long _blocked_in
    cdef bint _sending, _posted
    cdef double _cycle_ns

    cpdef object _run(self)
    cpdef object _idle(self)
    @cython.locals(last="long long", resumed_by="long long")
    cdef object _issued(self, Op op)
    cpdef bint block(self, Command command, Op op) except -1
    @cython.locals(scheduler=PeScheduler)
    cdef object _hand_on(self, object command, object done)
    cpdef object _blocked_over(self)
    cpdef object _command_done(self, object op, long long epoch)
