"""Query, key and value projections on one PE of one cube, as asynchronous composites."""

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
    name="qkv-gemm",
    description="Query, key and value projections on one PE, streamed by composites.",
    params=[
        Param("tokens", int, 32, "rows of the activation", minimum=1),
        Param("hidden", int, 128, "hidden size: the weights are hidden x hidden", minimum=1),
        DTYPE,
        SEED,
    ],
)
def run(torch: Context) -> None:
    """All on PE 0 of cube 0."""
    p = torch.params
    one = DPPolicy(num_cubes=1, num_pes=1)
    run_qkv(torch, tokens=p.tokens, hidden=p.hidden, dtype=p.dtype, seed=p.seed, copies=one, columns=one)
