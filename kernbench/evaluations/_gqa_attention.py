"""Grouped-query attention over ranks that each hold a block of keys and values: the bench of its evaluation.

A key-value head serves several query heads, whose rows are stacked: one product for all of them. In prefill
each rank has its own rows of queries, and the blocks of keys and values go round the ring; in decode every
rank attends with the same rows to its own block alone, and the partial results (highest score, sum, weighted
values) are merged along the ring.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kernbench.benches._inputs import SEED, Array, activations
from kernbench.benches.params import Param
from kernbench.benches.registry import bench
from kernbench.errors import UsageError
from kernbench.runtime import DPPolicy
from kernbench.topology.neighbours import ring

if TYPE_CHECKING:
    from kernbench.kernels import Pointer
    from kernbench.runtime import Context

BENCH = "kernbench.evaluations._gqa_attention:gqa-attention"
RANKS = {"single": "the PEs of cube 0", "multi": "PE 0 of four cubes"}
MULTI_CUBES = 4


def prefill(q: Pointer, k: Pointer, v: Pointer, out: Pointer, ranks: int, tl: Any) -> None:
    """Own queries past all blocks of keys, which arrive from the rank before and go to the next."""
    query, key, value = tl.load(q.local), tl.load(k.local), tl.load(v.local)
    scale = query.shape[1] ** -0.5
    best: Any = None
    total: Any = None
    acc: Any = None
    for step in range(ranks):
        scores = tl.dot(query, tl.trans(key), out_dtype=tl.float32) * scale
        highest = tl.max(scores, axis=1)
        if best is not None:
            highest = tl.maximum(best, highest)
        weights = tl.exp(scores - highest)
        added = tl.sum(weights, axis=1)
        part = tl.dot(weights.to(value.dtype), value, out_dtype=tl.float32)
        if best is None:
            total, acc = added, part
        else:
            shrink = tl.exp(best - highest)
            total, acc = total * shrink + added, acc * shrink + part
        best = highest
        if step < ranks - 1:
            tl.send("E", key)
            tl.send("E", value)
            key, value = tl.recv("W"), tl.recv("W")
    tl.store(out.local, (acc / total).to(out.dtype))


def decode(q: Pointer, k: Pointer, v: Pointer, out: Pointer, ranks: int, first: int, tl: Any) -> None:
    """Partial attention to the own block, then merged from rank to rank; the last one has the result."""
    rank = tl.device_id(first)
    query, key, value = tl.load(q.local), tl.load(k.local), tl.load(v.local)
    scores = tl.dot(query, tl.trans(key), out_dtype=tl.float32) * query.shape[1] ** -0.5
    best = tl.max(scores, axis=1)
    weights = tl.exp(scores - best)
    total = tl.sum(weights, axis=1)
    acc = tl.dot(weights.to(value.dtype), value, out_dtype=tl.float32)
    if rank > 0:
        other_best, other_total, other_acc = tl.recv("W"), tl.recv("W"), tl.recv("W")
        highest = tl.maximum(best, other_best)
        mine, theirs = tl.exp(best - highest), tl.exp(other_best - highest)
        total = total * mine + other_total * theirs
        acc = acc * mine + other_acc * theirs
        best = highest
    if rank < ranks - 1:
        tl.send("E", best)
        tl.send("E", total)
        tl.send("E", acc)
    else:
        tl.store(out.local, (acc / total).to(out.dtype))


def attention(q: Array, k: Array, v: Array) -> Array:
    """The same by numpy in f32, with the whole score matrix."""
    scores = q.astype(np.float32) @ k.astype(np.float32).T / np.float32(np.sqrt(q.shape[1]))
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    found: Array = weights / weights.sum(axis=1, keepdims=True) @ v.astype(np.float32)
    return found


@bench(
    name="gqa-attention",
    description="Grouped-query attention, keys and values spread over ranks: ring prefill, merged decode.",
    params=[
        Param("users", str, "single", "ranks: PEs of a cube, or PE 0 of four cubes", choices=tuple(RANKS)),
        Param("phase", str, "prefill", "prefill or decode", choices=("prefill", "decode")),
        Param("q_tokens", int, 16, "new tokens", minimum=1),
        Param("q_heads", int, 1, "query heads of the key-value head", minimum=1),
        Param("kv_tokens", int, 256, "keys", minimum=1),
        Param("d_head", int, 64, "columns of q, k and v", minimum=1),
        Param("buffer_kind", str, "", "memory of the queues' slots; the topology's when empty",
              choices=("", "tcm", "sram", "hbm")),
        SEED,
    ],
)  # fmt: skip
def run(torch: Context) -> None:
    """One key-value head; every rank is checked by the result that it, or the last rank, stores."""
    p = torch.params
    single = p.users == "single"
    ranks = torch.pes_per_cube if single else MULTI_CUBES
    if not single and torch.cubes_per_sip < MULTI_CUBES:
        raise UsageError(
            f"bench 'gqa-attention': users=multi needs {MULTI_CUBES} cubes; the topology has fewer"
        )
    rows = p.q_tokens * p.q_heads
    split = {"kv_tokens": p.kv_tokens, **({"q_tokens * q_heads": rows} if p.phase == "prefill" else {})}
    for name, size in split.items():
        if size % ranks:
            raise UsageError(f"bench 'gqa-attention': {name} = {size} is not divisible by {ranks} ranks")
    rng = np.random.default_rng(p.seed)
    q, k, v = (activations(rng, (n, p.d_head), "f16") for n in (rows, p.kv_tokens, p.kv_tokens))
    shared = (
        DPPolicy(pe="row_wise", num_cubes=1) if single else DPPolicy("row_wise", num_cubes=ranks, num_pes=1)
    )
    copies = DPPolicy(num_cubes=1) if single else DPPolicy(num_cubes=ranks, num_pes=1)
    own = shared if p.phase == "prefill" else copies
    placed = [
        torch.from_numpy(x, dp=dp, name=name)
        for name, x, dp in (("q", q, own), ("k", k, shared), ("v", v, shared))
    ]
    locations = [(0, 0, rank) if single else (0, rank, 0) for rank in range(ranks)]
    block = 2 * p.d_head * p.kv_tokens // ranks if p.phase == "prefill" else 4 * p.d_head * rows
    # Keys and values of a step are under way at once, and the next step's before a slow rank has read them.
    torch.install_ipcq(ring(locations), slots=4, slot_bytes=block, buffer_kind=p.buffer_kind or None)
    if p.phase == "prefill":
        out = torch.empty(rows, p.d_head, dtype="f16", dp=shared, name="out")
        torch.launch("prefill", prefill, *placed, out, ranks)
        torch.check("out", out, lambda: attention(q, k, v), tolerance=1e-2)
        return
    out = torch.zeros(ranks * rows, p.d_head, dtype="f16", dp=shared, name="out")
    torch.launch("decode", decode, *placed, out, ranks, 0 if single else 1)

    def expected() -> Array:
        whole = np.zeros((ranks * rows, p.d_head), np.float32)
        whole[-rows:] = attention(q, k, v)
        return whole

    torch.check("out", out, expected, tolerance=1e-2)
