from kernbench.engine.components.base cimport Component
from kernbench.engine.components.pe_tcm cimport PortAccess
from kernbench.engine.program.computing cimport CallSite
from kernbench.engine.program.operations cimport Op
from kernbench.engine.program.tile_plans cimport Stage, TilePlan
from kernbench.engine.core.ledger cimport Ledger
from kernbench.engine.core.node cimport Link
from kernbench.engine.core.rows cimport StageRows

cimport cython

cdef class Token(PortAccess):
    cdef readonly TilePlan plan
    cdef readonly Op parent, op
    cdef readonly object done
    cdef public object pipeline
    cdef readonly Py_ssize_t index
    cdef public tuple previous, fed_by
    cdef tuple after
    cdef readonly long long launch
    cdef PeComponent at
    cdef Op record
    cdef public CallSite site
    cdef long long row
    cdef readonly long long number
    cdef long long slot
    cdef double ready, begun, overhead

    cpdef object go(self, long long number)
    cpdef object through(self)

cdef class PeComponent(Component):
    cdef dict _siblings, _of_stage, _inward, _outward
    cdef PeComponent _feeder
    cdef bint _own
    cdef readonly object of_pe
    cdef readonly bint in_registers

    cpdef Component sibling(self, object part)
    cpdef object accept(self, Token token)
    cpdef object go_on(self, Token token)
    cpdef object token_over(self, Token token)
    @cython.locals(stage=Stage, op=Op, own=Op, site=CallSite, number="long long")
    cpdef object begin_stage(self, Token token)
    @cython.locals(
        stage=Stage, op=Op, own=Op, site=CallSite, moves=bint, access=int, system=Ledger, rows=StageRows, after=tuple
    )
    cpdef object end_stage(self, Token token, double t_ready, double t_start, double t_end)
    @cython.locals(op=Op)
    cpdef Op stage_op(self, Token token)
    @cython.locals(op=Op, parent=Op, stage=Stage)
    cdef Op _record(self, Token token)
    @cython.locals(stages=tuple, index=Py_ssize_t, stage=Stage, following=PeComponent)
    cpdef object pass_on(self, Token token)
    @cython.locals(found=PeComponent)
    cpdef PeComponent part_of(self, Stage stage)
    cpdef object hand(self, PeComponent following, Token token)
    @cython.locals(nbytes="long long", link=Link, gbs=double)
    cdef double _data_across(self, Stage fetched, Stage stored, Component following) except? -1.0
    cdef long long _through_tcm(self, Stage stage) except -1
    cdef tuple _between(self, Component following, bint write)
