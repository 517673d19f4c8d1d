from kernbench.engine.components.command_issue cimport CommandIssue
from kernbench.engine.program.computing cimport Command

cimport cython

cdef class PeCpu(CommandIssue):
    cdef object _queue, _above
    cdef tuple _device_counts, _scratch
    cdef public object failure
    cdef long long _cause
    cdef bint _ending
    cdef double _dispatch_ns
    cdef long long _pes_of_package

    @cython.locals(system=object)  # its methods are given away
    cpdef object _begin(self)
    @cython.locals(_=int, command=Command)
    cpdef object _run(self)
    cdef object _check(self, Command command, object kernel)
