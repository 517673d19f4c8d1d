"""Attention without the score matrix in memory: online softmax over blocks of keys (Dao et al., 2022)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kernbench.errors import UsageError
from kernbench.host import DPPolicy
from kernbench.workloads.benches._inputs import SEED, activations, attention
from kernbench.workloads.benches.params import Param
from kernbench.workloads.benches.registry import bench

if TYPE_CHECKING:
    from kernbench.host import Context
    from kernbench.language import Pointer

MASKED = -1e30
"""Score of a key that a query must not see: exp of it is 0, and unlike -inf its differences are numbers."""


def attend(
    q: Pointer, k: Pointer, v: Pointer, out: Pointer, block_m: int, block_n: int, causal: bool, tl: Any
) -> None:
    """Each PE takes its own rows of q, ``block_m`` at a time, past all blocks of ``block_n`` keys."""
    rows, d = tl.local_shape(q)
    keys = k.shape[0]
    first_row = tl.program_id(0) * rows
    for m in tl.static_range(0, rows, block_m):
        query = tl.load(tl.make_block_ptr(q.local, (rows, d), (d, 1), (m, 0), (block_m, d)))
        best = tl.full((block_m, 1), MASKED, tl.float32)
        total = tl.zeros((block_m, 1), tl.float32)
        acc = tl.zeros((block_m, d), tl.float32)
        last = min(keys, first_row + m + block_m) if causal else keys
        for n in tl.static_range(0, last, block_n):
            key = tl.load(tl.make_block_ptr(k.local, (keys, d), (d, 1), (n, 0), (block_n, d)))
            scores = tl.dot(query, tl.trans(key), out_dtype=tl.float32) * d**-0.5
            if causal and n + block_n > first_row + m:
                row = first_row + m + tl.arange(0, block_m)
                column = n + tl.arange(0, block_n)
                scores = tl.where(row[:, None] >= column[None, :], scores, MASKED)
            highest = tl.maximum(best, tl.max(scores, axis=1))
            weights = tl.exp(scores - highest)
            shrink = tl.exp(best - highest)
            total = total * shrink + tl.sum(weights, axis=1)
            value = tl.load(tl.make_block_ptr(v.local, (keys, d), (d, 1), (n, 0), (block_n, d)))
            acc = acc * shrink + tl.dot(weights.to(v.dtype), value, out_dtype=tl.float32)
            best = highest
        target = tl.make_block_ptr(out.local, (rows, d), (d, 1), (m, 0), (block_m, d))
        tl.store(target, (acc / total).to(out.dtype))


@bench(
    name="flash-attention",
    description="One head of attention with online softmax, rows of q over the PEs of one cube.",
    params=[
        Param("tokens", int, 128, "rows of q, k and v", minimum=1),
        Param("d_head", int, 64, "columns of q, k and v", minimum=1),
        Param("block_m", int, 16, "rows of q in TCM at once", minimum=1),
        Param("block_n", int, 32, "keys in TCM at once", minimum=1),
        Param("causal", bool, True, "whether a token sees only itself and those before it"),
        Param(
            "dtype", str, "f16", "element type of q, k and v; sums are f32", choices=("f16", "bf16", "f32")
        ),
        SEED,
    ],
)
def run(torch: Context) -> None:
    """Blocks of q are split over as many PEs of cube 0 as divide them; each has its own copy of k and v."""
    p = torch.params
    for name in ("block_m", "block_n"):
        if p.tokens % p[name]:
            raise UsageError(
                f"bench 'flash-attention', parameter 'tokens': {p.tokens} is not divisible by "
                f"{name} {p[name]}"
            )
    blocks = p.tokens // p.block_m
    pes = max(n for n in range(1, torch.pes_per_cube + 1) if blocks % n == 0)
    rng = np.random.default_rng(p.seed)
    q, k, v = (activations(rng, (p.tokens, p.d_head), p.dtype) for _ in range(3))
    copies, rows = DPPolicy(num_cubes=1, num_pes=pes), DPPolicy(pe="row_wise", num_cubes=1, num_pes=pes)
    placed = [
        torch.from_numpy(x, dp=dp, name=n)
        for n, x, dp in (("q", q, rows), ("k", k, copies), ("v", v, copies))
    ]
    out = torch.empty(p.tokens, p.d_head, dtype=p.dtype, dp=rows, name="out")
    torch.launch("attend", attend, *placed, out, p.block_m, p.block_n, p.causal)
    seen = np.tri(p.tokens, dtype=bool) if p.causal else None
    torch.check("out", out, lambda: attention(q, k, v, seen))
