"""One GEMM with the columns of b split over the PEs of a cube, in blocks of rows or streamed as tiles."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kernbench.benches._inputs import DTYPE, SEED, activations, matmul, weights
from kernbench.benches.params import Param
from kernbench.benches.registry import bench
from kernbench.runtime import DPPolicy

if TYPE_CHECKING:
    from kernbench.kernels import Pointer
    from kernbench.runtime import Context


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


@bench(
    name="gemm-multi-pe",
    description="One GEMM, columns over the PEs of one cube, in blocks of rows or streamed by composites.",
    params=[
        Param("m", int, 64, "rows of a", minimum=1),
        Param("k", int, 128, "columns of a, rows of b", minimum=1),
        Param("n", int, 256, "columns of b, divisible by the PEs of a cube", minimum=1),
        Param("block", int, 32, "rows of a in TCM at once; 0 streams tiles of a and b instead", minimum=0),
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
    torch.launch("gemm", gemm, left, torch.from_numpy(b, dp=columns, name="b"), out, p.block)
    torch.check("out", out, lambda: matmul(a, b))
