"""Query, key and value projections with the weights' columns split over all PEs of one cube."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kernbench.host import DPPolicy
from kernbench.workloads.benches._inputs import DTYPE, SEED
from kernbench.workloads.benches._qkv import run_qkv
from kernbench.workloads.benches.params import Param
from kernbench.workloads.benches.registry import bench

if TYPE_CHECKING:
    from kernbench.host import Context


@bench(
    name="qkv-gemm-multi-pe",
    description="Query, key and value projections, weights column-wise over the PEs of one cube.",
    params=[
        Param("tokens", int, 32, "rows of the activation", minimum=1),
        Param("hidden", int, 256, "hidden size", minimum=1),
        DTYPE,
        SEED,
    ],
)
def run(torch: Context) -> None:
    """Every PE of cube 0 has its own copy of the activation and its own columns of the weights."""
    p = torch.params
    run_qkv(
        torch,
        tokens=p.tokens,
        hidden=p.hidden,
        dtype=p.dtype,
        seed=p.seed,
        copies=DPPolicy(num_cubes=1),
        columns=DPPolicy(pe="column_wise", num_cubes=1),
    )
