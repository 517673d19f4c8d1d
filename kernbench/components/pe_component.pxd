from kernbench.components.base cimport Component
from kernbench.program.operations cimport Op
from kernbench.program.tile_plans cimport Stage, TilePlan
from kernbench.sim.node cimport Link

cimport cython

cdef class Token:
    cdef readonly TilePlan plan
    cdef readonly Op parent, op
    cdef public object done, written
    cdef public Py_ssize_t index
    cdef public tuple previous, fed_by
    cdef readonly long long launch

cdef class PeComponent(Component):
    cdef public list busy_by_direction
    cdef dict _siblings, _of_stage, _ways
    cdef bint _own

    cpdef Component sibling(self, object part)
    @cython.locals(first=double, second=double)
    cpdef object count_use(self, bint write, double busy_ns)
    cpdef object accept(self, Token token)
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
    cdef tuple _between(self, Component following, bint write)
