from kernbench.program.operations cimport Op, Operand
from kernbench.sim.columns cimport Words
from kernbench.sim.rows cimport StageRows

cimport cython

cdef class OpRows(StageRows):
    cdef dict kind_codes, name_codes, stage_codes, component_codes, source_codes, label_codes
    cdef dict shape_codes, dtype_codes, hazard_codes
    cdef object columns
    cdef long long length, waiting, tile_code, stage_code
    cdef bytearray seen
    cdef dict plain
    cdef Words ops, operands, regions, edges, moved
    cdef long long operand_count, region_count, edge_count, moved_count

    @cython.locals(operand=Operand, found=list, made=tuple)
    cpdef object add_computed(self, Op op)
    @cython.locals(place=Py_ssize_t, bit=int, rows=Words, number="long long", label="long long", transaction="long long", on="long long", made=list)
    cpdef object append(self, Op op, object dependencies=*)
    @cython.locals(rows=Words, on="long long", found=set)
    cpdef object add_stage(
        self, long long id, Op parent, object stage, object name, object component, long long nbytes,
        long long transaction, double t_ready, double t_start, double t_end, tuple after, object hazard, long long slot,
    )
    cdef object plain_label(self, object name)
    cpdef object append_stage(self, Op op)
    @cython.locals(shapes=list, position="long long", operand=Operand)
    cdef object add_operands(self, object name, object inputs, object output)
    @cython.locals(rows=Words, addr="long long", nbytes="long long")
    cdef object add_operand(self, long long position, Operand operand)

cdef object code(dict codes, object key)
