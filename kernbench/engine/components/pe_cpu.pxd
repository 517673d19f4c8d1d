from kernbench.engine.components.pe_component cimport PeComponent
from kernbench.engine.components.pe_scheduler cimport PeScheduler
from kernbench.engine.program.computing cimport Command
from kernbench.engine.program.operations cimport Op

cimport cython

cdef class PeCpu(PeComponent):
    cdef readonly object _kernel
    cdef object _queue, _launch, _above, _ipcq
    cdef PeScheduler _scheduler
    cdef object _submit
    cdef list _started
    cdef tuple _device_counts, _scratch
    cdef public object failure
    cdef long long _cause, _last_op, _resumed_by, _epoch
    cdef Op _blocked
    cdef object _unblock, _ahead
    cdef long long _blocked_in
    cdef bint _ending, _sending, _posted
    cdef double _cycle_ns, _dispatch_ns
    cdef long long _pes_of_package

    @cython.locals(system=object)  # its methods are given away
    cpdef object _begin(self)
    @cython.locals(turn=int, command=Command)
    cpdef object _run(self)
    cdef object _check(self, Command command, object kernel)
    @cython.locals(last="long long", resumed_by="long long")
    cdef object _issued(self, Op op)
    cpdef bint block(self, Command command, Op op) except -1
    @cython.locals(scheduler=PeScheduler)
    cdef object _hand_on(self, object command, object done)
    cpdef object _blocked_over(self)
    cpdef object _command_done(self, object op, long long epoch)
