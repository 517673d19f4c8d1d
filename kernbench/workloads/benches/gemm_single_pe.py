"""The smallest GEMM: one PE loads two matrices, multiplies them and stores the product."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kernbench.workloads.benches._inputs import DTYPE, SEED, activations, matmul, weights
from kernbench.workloads.benches.params import Param
from kernbench.workloads.benches.registry import bench

if TYPE_CHECKING:
    from kernbench.host import Context
    from kernbench.language import Pointer


def gemm(a: Pointer, b: Pointer, out: Pointer, tl: Any) -> None:
    """``out = a @ b`` on whole operands in TCM."""
    x = tl.load(a.local)
    y = tl.load(b.local)
    tl.store(out.local, tl.dot(x, y))


@bench(
    name="gemm-single-pe",
    description="One PE loads two matrices, multiplies them with tl.dot and stores the product.",
    params=[
        Param("m", int, 64, "rows of a", minimum=1),
        Param("k", int, 128, "columns of a, rows of b", minimum=1),
        Param("n", int, 64, "columns of b", minimum=1),
        DTYPE,
        SEED,
    ],
)
def run(torch: Context) -> None:
    """Multiply (m, k) by (k, n) on PE 0 of cube 0."""
    p = torch.params
    rng = np.random.default_rng(p.seed)
    a, b = activations(rng, (p.m, p.k), p.dtype), weights(rng, (p.k, p.n), p.dtype)
    out = torch.empty(p.m, p.n, dtype=p.dtype, name="out")
    torch.launch("gemm", gemm, torch.from_numpy(a, name="a"), torch.from_numpy(b, name="b"), out)
    torch.check("out", out, lambda: matmul(a, b))
