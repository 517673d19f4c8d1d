cimport cython

@cython.final
cdef class OperandBytes:
    cdef readonly tuple runs
    cdef readonly long long nbytes

@cython.final
cdef class Stage:
    cdef readonly object kind, name, label, dtype, precision
    cdef readonly tuple transfers, block
    cdef readonly long long nbytes, elements, registers, reduced, staged
    cdef readonly bint partial, computes, fetches, stores

@cython.final
cdef class TilePlan:
    cdef readonly tuple stages
    cdef readonly long long buffer_bytes, writes

@cython.final
cdef class Matrix:
    cdef readonly long long rows, cols, itemsize
    cdef readonly object address, dtype
    cdef readonly bint by_rows

    @cython.locals(
        height="long long", width="long long", nbytes="long long", pitch="long long", run="long long", i="long long",
    )
    cpdef OperandBytes tile(self, long long row, long long col, long long rows, long long cols)

@cython.final
cdef class PlannedEpilogue:
    cdef readonly object name, scope, group
    cdef readonly Matrix operand

    cpdef OperandBytes transfer(self, long long row, long long col, long long rows, long long cols, long long k=*)

@cython.locals(
    tile_m="long long", tile_k="long long", tile_n="long long", m="long long", k="long long", n="long long",
    height="long long", width="long long", fetch="long long", elements="long long", step=PlannedEpilogue,
    reads=list, maths=list, sources=list, work=Stage, matrix=Matrix, source=OperandBytes, to_out=OperandBytes,
    transfer=OperandBytes,
)
cdef TilePlan _tile(
    Matrix a, Matrix b, Matrix out, tuple tile, tuple corner, object name, object epilogue, bint last_k, bint last_tile,
)
@cython.locals(buffers="long long", writes="long long", read=OperandBytes)
cdef TilePlan _with_transfers(list reads, list stages, OperandBytes write, object out_address)
cdef Matrix _matrix(object operand, bint by_rows)
