from kernbench.hardware.address.extent_map cimport Extent
from kernbench.engine.program.computing cimport CallSite
from kernbench.engine.program.operations cimport Op, Operand
from kernbench.engine.program.tile_plans cimport Stage
from kernbench.engine.core.columns cimport Words
from kernbench.engine.core.rows cimport StageRows

cimport cython

cdef class Recorder(StageRows):
    cdef readonly dict codes, forms
    cdef readonly long long length, run
    cdef long long command_count, command_words, head_words, part_words
    cdef bytearray seen
    cdef readonly Words ops, operands, regions, edges, moved, accesses, commands

    @cython.locals(made=list, transaction="long long", on="long long", operands=int, moved=int, edges=int, label="long long")
    cpdef object append(self, Op op, object dependencies=*)
    @cython.locals(rows=Words, codes=dict)
    cdef object add_row(
        self, long long id, long long parent, long long nbytes, double t_ready, double t_start, double t_end,
        long long launch, object kind, object name, object stage, object component, object source, long long label,
        int moved, int operands, int edges,
    )
    @cython.locals(rows=Words, place=Py_ssize_t, later="long long")
    cpdef long long add_part(
        self, long long row, int part, Op op, CallSite site, object component, long long id, long long held, int access,
        double t_ready, double t_start, double t_end,
    ) except -2
    @cython.locals(
        rows=Words, codes=dict, inputs=tuple, given=int, number="long long", issue="long long", wait="long long",
        on="long long",
    )
    cdef long long begin_command(self, Op op, CallSite site, object component) except -2
    @cython.locals(codes=dict, fetch=Stage, work=Stage, store=Stage, output=Operand)
    cdef long long form(self, CallSite site, Op op) except -1
    @cython.locals(place=Py_ssize_t, bit=int, number="long long")
    cdef object mark(self, Op op)
    @cython.locals(found=set, on="long long", moved=int)
    cpdef object add_stage(
        self, long long id, Op parent, object stage, object name, object component, long long nbytes,
        long long transaction, double t_ready, double t_start, double t_end, tuple after, object hazard, long long slot,
    )
    @cython.locals(shapes=list, position="long long", operand=Operand)
    cdef object add_operands(self, object name, object inputs, object output)
    @cython.locals(rows=Words, addr="long long", nbytes="long long", regions=int)
    cdef object add_operand(self, long long position, Operand operand)
    @cython.locals(operand=Operand, output=Operand)
    cpdef object follow(self, Op op, object names)
    @cython.locals(rows=Words, found=dict, part=Extent)
    cdef object add_access(self, long long op, object regions, object names, bint is_write)

@cython.locals(operand=Operand, made="long long")
cdef int _away(Op op, int position) except? -1
cpdef long long code(dict codes, object key) except -1
