"""Tile plans: the stages of a composite, tile by tile, as plain data.

Pure functions of shapes, addresses and the hardware's tile; no clock, no components. A GEMM goes M, then
N, then K. The accumulator of an output tile stays in the register file over K, so STORE and DMA_WRITE
come with the last K tile only. Pinned operands skip their DMA reads.

A tile that is narrower than the operand's rows is a strided piece of memory. With ``by_rows`` each of its
rows is a run of its own, as it is for a load. Otherwise its transfer is modelled as the same number of bytes
from the tile's first element on: as if every tile lay in one piece.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from math import ceil
from typing import TypeVar

from kernbench.engine.program.operations import Op, Operand
from kernbench.support.dtypes import DType, dtype

T = TypeVar("T")


class OperandBytes:
    """What a tile reads or writes of one operand: (address, bytes) of each run, and all bytes."""

    def __init__(self, runs: tuple[tuple[int, int], ...], nbytes: int) -> None:
        self.runs = runs
        self.nbytes = nbytes


PARTS = {
    "DMA_READ": "pe_dma",
    "FETCH": "pe_fetch_store",
    "GEMM": "pe_gemm",
    "MATH": "pe_math",
    "STORE": "pe_fetch_store",
    "DMA_WRITE": "pe_dma",
}


class Stage:
    """One stage of a tile: ``kind`` is DMA_READ, FETCH, GEMM, MATH, STORE or DMA_WRITE.

    ``transfers`` are those of a DMA stage, carried out one after the other; ``nbytes`` what the stage moves;
    ``block`` the (m, k, n) of a GEMM, ``partial`` where the next one adds to the same outputs; ``elements``
    of a MATH stage, ``name`` its operation. ``registers`` are the bytes of FETCH and STORE that stay
    in registers where the PE keeps operands there, ``reduced`` of a reduction the elements that become one,
    ``staged`` of a GEMM the bytes of operands that first go from registers to where it reads them.
    """

    def __init__(
        self,
        kind: str,
        nbytes: int = 0,
        transfers: tuple[OperandBytes, ...] = (),
        block: tuple[int, int, int] = (0, 0, 0),
        elements: int = 0,
        name: str = "",
        partial: bool = False,
        registers: int = 0,
        reduced: int = 0,
        dtype: str = "",
        precision: str = "",
        staged: int = 0,
    ) -> None:
        self.kind = kind
        self.computes, self.fetches, self.stores = kind in ("GEMM", "MATH"), kind == "FETCH", kind == "STORE"
        self.nbytes = nbytes
        self.transfers = transfers
        self.block = block
        self.elements = elements
        self.name = name
        self.label = name or kind.lower()
        """Name of the operation that it is recorded as."""
        self.partial = partial
        self.registers = registers
        self.reduced = reduced
        self.dtype = dtype
        """Of a GEMM the type of its operands, as ``precision`` is how it was asked for."""
        self.precision = precision
        self.staged = staged

    @property
    def part(self) -> str:
        """Name of the PE's component that carries it out."""
        return PARTS[self.kind]


class TilePlan:
    """One tile: its stages and the bytes of scheduler-reserved TCM that it holds from first to last."""

    def __init__(self, stages: tuple[Stage, ...], buffer_bytes: int = 0, writes: int = 0) -> None:
        self.stages = stages
        self.buffer_bytes = buffer_bytes
        self.writes = writes
        """Transfers to memory."""


class Matrix:
    """A row-major (rows, cols) operand; ``address`` is None where it is pinned in TCM."""

    def __init__(
        self, rows: int, cols: int, dtype: DType, address: int | None, by_rows: bool = False
    ) -> None:
        self.rows = rows
        self.cols = cols
        self.dtype = dtype.name
        self.itemsize = dtype.itemsize
        self.address = address
        self.by_rows = by_rows

    def tile(self, row: int, col: int, rows: int, cols: int) -> OperandBytes:
        """The transfer of the tile at (row, col) of at most (rows, cols), cut at the edges."""
        height, width = min(rows, self.rows - row), min(cols, self.cols - col)
        nbytes = height * width * self.itemsize
        first = (self.address or 0) + (row * self.cols + col) * self.itemsize
        if not self.by_rows or width == self.cols:
            return OperandBytes(((first, nbytes),), nbytes)
        pitch, run = self.cols * self.itemsize, width * self.itemsize
        return OperandBytes(tuple([(first + i * pitch, run) for i in range(height)]), nbytes)


class PlannedEpilogue:
    """An epilogue step as the planner sees it: its name, scope and, if it has one, its operand.

    With ``group`` the operand has a row for each so many elements along K.
    """

    def __init__(
        self, name: str, scope: str, operand: Matrix | None = None, group: int | None = None
    ) -> None:
        self.name = name
        self.scope = scope
        self.operand = operand
        self.group = group

    def transfer(self, row: int, col: int, rows: int, cols: int, k: int = 0) -> OperandBytes | None:
        """The transfer of the operand's share for an output tile; of a row or a column its part.

        ``k`` is where the K tile begins.
        """
        if self.operand is None:
            return None
        if self.group is not None:
            return self.operand.tile(k // self.group, col, 1, cols)
        return self.operand.tile(
            row if self.operand.rows > 1 else 0, col if self.operand.cols > 1 else 0, rows, cols
        )


@lru_cache(maxsize=1024)
def gemm(
    m: int,
    k: int,
    n: int,
    in_bytes: int,
    out_bytes: int,
    sum_bytes: int = 0,
    dtype: str = "",
    precision: str = "",
    staged: int = 0,
) -> TilePlan:
    """The plan of a product of operands in TCM: FETCH, GEMM, STORE.

    ``sum_bytes`` are of sums added to, ``staged`` of operands that pass through registers.
    """
    fetch = Stage("FETCH", in_bytes, registers=sum_bytes)
    product = Stage("GEMM", block=(m, k, n), dtype=dtype, precision=precision, staged=staged)
    return TilePlan((fetch, product, Stage("STORE", out_bytes, registers=out_bytes)))


@lru_cache(maxsize=1024)
def math(name: str, elements: int, in_bytes: int, out_bytes: int, reduced: int = 0) -> TilePlan:
    """The plan of a math operation on operands in TCM: FETCH, MATH, STORE."""
    stage = Stage("MATH", elements=elements, name=name, reduced=reduced)
    fetch, store = (
        Stage("FETCH", in_bytes, registers=in_bytes),
        Stage("STORE", out_bytes, registers=out_bytes),
    )
    return TilePlan((fetch, stage, store))


def tile_plans(
    a: Matrix,
    b: Matrix | None,
    out: Matrix,
    tile: tuple[int, ...],
    name: str = "",
    epilogue: Sequence[PlannedEpilogue] = (),
    outermost: bool = False,
) -> Iterator[TilePlan]:
    """Tiles of ``out = a @ b`` in the order M, N, K, or without ``b`` of the element-wise operation ``name``.

    ``tile`` is (M, K, N), or (M, N). ``outermost``: only the first and the last along each, among which the
    largest one is: tiles shrink at the edges, the last K tile is written as well, and a step over the whole
    output comes with the last of all.
    """
    tile_k = a.cols if b is None else tile[1]
    steps_k = ceil(a.cols / tile_k)
    corners = _corners(out, tile)
    last = corners[len(corners) - 1]
    for m, n in _ends(corners) if outermost else corners:
        for k in _ends(range(steps_k)) if outermost else range(steps_k):
            corner = (m, k * tile_k, n)
            yield _tile(a, b, out, tile, corner, name, epilogue, k == steps_k - 1, (m, n) == last)


def _corners(out: Matrix, tile: tuple[int, ...]) -> list[tuple[int, int]]:
    """Where the tiles of ``out`` begin, in the order M, N; ``tile`` begins with M and ends with N."""
    return [(m, n) for m in range(0, out.rows, tile[0]) for n in range(0, out.cols, tile[len(tile) - 1])]


def _ends(values: Sequence[T]) -> Sequence[T]:
    """The first and the last."""
    return values if len(values) <= 2 else (values[0], values[len(values) - 1])


def _tile(
    a: Matrix,
    b: Matrix | None,
    out: Matrix,
    tile: tuple[int, ...],
    corner: tuple[int, int, int],
    name: str,
    epilogue: Sequence[PlannedEpilogue],
    last_k: bool,
    last_tile: bool,
) -> TilePlan:
    tile_m, tile_n = tile[0], tile[len(tile) - 1]
    m, k, n = corner
    to_out = out.tile(m, n, tile_m, tile_n)
    height, width = min(tile_m, out.rows - m), min(tile_n, out.cols - n)
    if b is None:
        sources = [(a, a.tile(m, n, tile_m, tile_n))]
        work = Stage("MATH", elements=height * width, name=name)
    else:
        tile_k = tile[1]
        sources = [(a, a.tile(m, k, tile_m, tile_k)), (b, b.tile(k, n, tile_k, tile_n))]
        work = Stage(
            "GEMM", block=(height, min(tile_k, a.cols - k), width), partial=not last_k, dtype=a.dtype
        )
    reads = []
    fetch = 0
    for matrix, source in sources:
        fetch += source.nbytes
        if matrix.address is not None:
            reads.append(source)
    maths: list[Stage] = []
    for step in epilogue:
        if step.scope == "k_tile" or (step.scope == "output_tile" and last_k):
            transfer = step.transfer(m, n, tile_m, tile_n, k)
            elements = height * width
        elif step.scope == "kernel" and last_k and last_tile:
            transfer = step.transfer(0, 0, out.rows, out.cols)
            elements = out.rows * out.cols
        else:
            continue
        if transfer is not None:
            fetch += transfer.nbytes
            if step.operand is not None and step.operand.address is not None:
                reads.append(transfer)
        maths.append(Stage("MATH", 0, (), (0, 0, 0), elements, step.name))
    stages = [Stage("FETCH", fetch, registers=fetch if b is None else 0), work, *maths]
    return _with_transfers(reads, stages, to_out if last_k else None, out.address)


def _with_transfers(
    reads: list[OperandBytes], stages: list[Stage], write: OperandBytes | None, out_address: int | None
) -> TilePlan:
    """Put the DMA stages around ``stages`` and add up the tile's buffers."""
    buffers = 0
    for read in reads:
        buffers += read.nbytes
    if reads:
        stages.insert(0, Stage("DMA_READ", buffers, tuple(reads)))
    writes = 0
    if write is not None:
        buffers += write.nbytes
        stages.append(Stage("STORE", write.nbytes, registers=write.nbytes))
        if out_address is not None:
            writes = 1
            stages.append(Stage("DMA_WRITE", write.nbytes, (write,)))
    return TilePlan(tuple(stages), buffers, writes)


def _matrix(operand: Operand, by_rows: bool) -> Matrix:
    """An operand as rows and columns: 1-D is one row, leading dimensions fold into rows."""
    folded = len(operand.shape) - 1
    cols = operand.shape[folded] if operand.shape else 1
    rows = 1
    for at in range(folded):
        rows *= operand.shape[at]
    pinned = operand.handle is not None
    return Matrix(rows, cols, dtype(operand.dtype), None if pinned else operand.address, by_rows)


def tiles_of(
    op: Op, hardware_tile: tuple[int, int, int], outermost: bool = False, by_rows: bool = False
) -> Iterator[TilePlan]:
    """The tiles of composite ``op`` in feed order; ``hardware_tile`` (M, K, N) where it names none.

    ``outermost``: see :func:`tile_plans`; ``by_rows``: see above.
    """
    inputs, params = op.inputs, op.params
    assert op.output is not None
    epilogue = []
    for step in params.get("epilogue", ()):
        index = step["operand"]
        matrix = None if index is None else _matrix(inputs[index], by_rows)
        epilogue.append(PlannedEpilogue(step["op"], step["scope"], matrix, step.get("group")))
    out, a = _matrix(op.output, by_rows), _matrix(inputs[0], by_rows)
    b = _matrix(inputs[1], by_rows) if op.kind == "gemm" else None
    tile = params.get("tile") or (hardware_tile if b is not None else (hardware_tile[0], hardware_tile[2]))
    name = op.name.removeprefix("composite_")
    return tile_plans(a, b, out, tile, name, epilogue, outermost)
