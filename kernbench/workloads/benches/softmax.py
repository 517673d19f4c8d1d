"""Softmax over the rows of a matrix, as one operation or written out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kernbench.host import DPPolicy
from kernbench.workloads.benches._inputs import DTYPE, SEED, Bounded, activations, exponentials
from kernbench.workloads.benches.params import Param
from kernbench.workloads.benches.registry import bench

if TYPE_CHECKING:
    from kernbench.host import Context
    from kernbench.language import Pointer


def softmax(x: Pointer, out: Pointer, block: int, fused: bool, tl: Any) -> None:
    """Each PE takes its own rows, ``block`` at a time; the last block is masked."""
    rows, columns = tl.local_shape(x)
    for first in tl.static_range(0, rows, block):
        source = tl.make_block_ptr(x.local, (rows, columns), (columns, 1), (first, 0), (block, columns))
        target = tl.make_block_ptr(out.local, (rows, columns), (columns, 1), (first, 0), (block, columns))
        v = tl.load(source, boundary_check=(0,)).to(tl.float32)
        if fused:
            y = tl.softmax(v, axis=1)
        else:
            e = tl.exp(v - tl.max(v, axis=1))
            y = e / tl.sum(e, axis=1)
        tl.store(target, y.to(out.dtype), boundary_check=(0,))


@bench(
    name="softmax",
    description="Softmax of rows split over the PEs of one cube, as one operation or written out.",
    params=[
        Param("rows", int, 64, "rows", minimum=1),
        Param("columns", int, 256, "columns, the axis of the sums", minimum=1),
        Param("block", int, 8, "rows in TCM at once", minimum=1),
        Param("fused", bool, True, "tl.softmax (five passes) instead of max, sub, exp, sum and div"),
        DTYPE,
        SEED,
    ],
)
def run(torch: Context) -> None:
    """Rows are split over the PEs of cube 0."""
    p = torch.params
    x = activations(np.random.default_rng(p.seed), (p.rows, p.columns), p.dtype)
    dp = DPPolicy(pe="row_wise", num_cubes=1)
    out = torch.empty(p.rows, p.columns, dtype=p.dtype, dp=dp, name="out")
    torch.launch("softmax", softmax, torch.from_numpy(x, dp=dp, name="x"), out, p.block, p.fused)

    def expected() -> Bounded:
        weights, total = exponentials(Bounded(x))
        return weights / total

    torch.check("out", out, expected)
