"""The query, key and value projections of GPT-3, scaled down, over every cube and PE of a SIP."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kernbench.errors import UsageError
from kernbench.host import DPPolicy
from kernbench.workloads.benches._inputs import DTYPE, SEED
from kernbench.workloads.benches._qkv import run_qkv
from kernbench.workloads.benches.params import Param
from kernbench.workloads.benches.registry import bench

if TYPE_CHECKING:
    from kernbench.host import Context

GPT3_HIDDEN = 12288
"""Hidden size of the 175-billion-parameter model (Brown et al., 2020, table 2.1)."""


@bench(
    name="gpt3-qkv",
    description="QKV projections with GPT-3's hidden size scaled down, column-wise over all cubes and PEs.",
    params=[
        Param("scale", int, 48, f"the hidden size is {GPT3_HIDDEN} / scale", minimum=1),
        Param("tokens", int, 8, "rows of the activation", minimum=1),
        DTYPE,
        SEED,
    ],
)
def run(torch: Context) -> None:
    """Columns are split over the cubes of a SIP, each cube's over its PEs; activations are replicated."""
    p = torch.params
    if GPT3_HIDDEN % p.scale:
        raise UsageError(f"bench 'gpt3-qkv', parameter 'scale': {p.scale} does not divide {GPT3_HIDDEN}")
    run_qkv(
        torch,
        tokens=p.tokens,
        hidden=GPT3_HIDDEN // p.scale,
        dtype=p.dtype,
        seed=p.seed,
        copies=DPPolicy(),
        columns=DPPolicy(cube="column_wise", pe="column_wise"),
    )
