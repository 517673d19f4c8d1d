from kernbench.program.operations cimport Op, Operand
from kernbench.sim.columns cimport Words

cimport cython

cdef class OpRows:
    cdef dict kind_codes, name_codes, stage_codes, component_codes, source_codes, label_codes
    cdef dict shape_codes, dtype_codes, hazard_codes
    cdef object columns
    cdef readonly dict at
    cdef dict plain
    cdef Words ops, operands, regions, edges, moved
    cdef long long operand_count, region_count, edge_count, moved_count

    @cython.locals(rows=Words, number="long long", label="long long", transaction="long long", on="long long", made=list)
    cpdef object append(self, Op op, object dependencies=*)
    cpdef object append_stage(self, Op op)
    @cython.locals(shapes=list, position="long long", operand=Operand)
    cdef object add_operands(self, object name, object inputs, object output)
    @cython.locals(rows=Words, addr="long long", nbytes="long long")
    cdef object add_operand(self, long long position, Operand operand)

cdef object code(dict codes, object key)
