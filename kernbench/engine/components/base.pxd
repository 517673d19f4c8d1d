from kernbench.engine.program.operations cimport Op
from kernbench.engine.core.clock cimport Loop
from kernbench.engine.core.ledger cimport Ledger
from kernbench.engine.core.node cimport FabricNode, Link
from kernbench.engine.core.server cimport Server

cimport cython

cdef class Component(FabricNode):
    cdef readonly Ledger system
    cdef readonly Loop clock
    cdef public dict _direct
    cdef public list parts
    cdef readonly double read_ns, write_ns
    cdef Component _last_to
    cdef Link _last_link
    cdef object _location

    @cython.locals(now=double, overhead=double, begun=double)
    cpdef double take_turn(self, object owner) except? -1.0
    cpdef object count_use(self, bint write, double busy_ns)
    cpdef list tally(self)
    @cython.locals(one=Component)
    cpdef object grow(self, Server like, list before)

    @cython.locals(link=Link)
    cpdef double crossed(self, Component to) except? -1.0
    cpdef double crossing(self, Component to) except? -1.0
    @cython.locals(link=Link)
    cdef Link _link_to(self, Component to)
    cpdef object finish(self, Op op, double t_ready, double t_start, double t_end)
