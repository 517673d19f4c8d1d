"""One GEMM with the columns of b split over the PEs of a cube, in blocks of rows or streamed as tiles."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kernbench.host import DPPolicy
from kernbench.workloads.benches._inputs import DTYPE, SEED, activations, matmul, weights
from kernbench.workloads.benches.params import Param
from kernbench.workloads.benches.registry import bench

if TYPE_CHECKING:
    from kernbench.host import Context
    from kernbench.language import Pointer


def gemm(a: Pointer, b: Pointer, out: Pointer, block: int, tl: Any) -> None:
    """Own columns of ``out = a @ b``: b waits in TCM while ``block`` rows of a at a time pass it."""
    (rows, k), columns = tl.local_shape(a), tl.local_shape(b)[1]
    if not block:
        tl.wait(tl.composite("gemm", a.local, b.local, out_ptr=out.local))
        return
    right = tl.load(b.local)
    for row in tl.static_range(0, rows, block):
        height = min(block, rows - row)
        left = tl.load(tl.make_block_ptr(a.local, (rows, k), (k, 1), (row, 0), (height, k)))
        target = tl.make_block_ptr(out.local, (rows, columns), (columns, 1), (row, 0), (height, columns))
        tl.store(target, tl.dot(left, right))


def gemm_in_parts(a: Pointer, b: Pointer, out: Pointer, block: int, width: int, depth: int, tl: Any) -> None:
    """The same with ``width`` columns and ``depth`` rows of b in TCM at a time; sums in f32."""
    (rows, k), columns = tl.local_shape(a), tl.local_shape(b)[1]
    for row, column in [(r, c) for r in range(0, rows, block) for c in range(0, columns, width)]:
        high, wide = min(block, rows - row), min(width, columns - column)
        total = None
        for first in tl.static_range(0, k, depth):
            deep = min(depth, k - first)
            left = tl.load(tl.make_block_ptr(a.local, (rows, k), (k, 1), (row, first), (high, deep)))
            right = tl.make_block_ptr(b.local, (k, columns), (columns, 1), (first, column), (deep, wide))
            part = tl.dot(left, tl.load(right), out_dtype=tl.float32)
            total = part if total is None else total + part
        target = tl.make_block_ptr(out.local, (rows, columns), (columns, 1), (row, column), (high, wide))
        tl.store(target, total)


def parts(
    rows: int, k: int, columns: int, block: int, itemsize: int, scratch: int
) -> tuple[int, int, int] | None:
    """Rows of a, and columns and rows of b, at a time with which a PE's share fits in scratch.

    None where all of its b fits beside ``block`` rows of a.
    """
    high, wide = min(block, rows), columns
    beside = max(high * (k + columns), (2 if rows > high else 1) * high * k)
    if (k * columns + beside) * itemsize <= scratch:
        return None
    while 3 * 4 * high * wide > scratch // 2:  # f32: the sum, the next product, the new sum
        high, wide = (-(-high // 2), wide) if high >= wide else (high, -(-wide // 2))
    left = (scratch - 3 * 4 * high * wide) * 3 // 4  # what is free need not be in one piece
    depth = left // (2 * (high + wide) * itemsize)  # operands, and the next ones
    return high, wide, max(1, depth // 64 * 64 or depth)


@bench(
    name="gemm-multi-pe",
    description="One GEMM, columns over the PEs of one cube, in blocks of rows or streamed by composites.",
    params=[
        Param("m", int, 64, "rows of a", minimum=1),
        Param("k", int, 128, "columns of a, rows of b", minimum=1),
        Param("n", int, 256, "columns of b", minimum=1),
        Param("block", int, 32, "rows of a in TCM at once, if they fit; 0 streams tiles instead", minimum=0),
        DTYPE,
        SEED,
    ],
)
def run(torch: Context) -> None:
    """Every PE of cube 0 has its own copy of a, and its own columns of b and of the product."""
    p = torch.params
    rng = np.random.default_rng(p.seed)
    a, b = activations(rng, (p.m, p.k), p.dtype), weights(rng, (p.k, p.n), p.dtype)
    columns = DPPolicy(pe="column_wise", num_cubes=1)
    out = torch.empty(p.m, p.n, dtype=p.dtype, dp=columns, name="out")
    left = torch.from_numpy(a, dp=DPPolicy(num_cubes=1), name="a")
    right = torch.from_numpy(b, dp=columns, name="b")
    own = max(shard.shape[1] for shard in out.shards)
    split = parts(p.m, p.k, own, p.block, out.itemsize, torch.scratch_bytes) if p.block else None
    if split is None:
        torch.launch("gemm", gemm, left, right, out, p.block)
    else:
        torch.launch("gemm", gemm_in_parts, left, right, out, *split)
    torch.check("out", out, lambda: matmul(a, b))
