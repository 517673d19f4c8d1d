"""Grouped-query attention over ranks that each hold a block of keys and values: the bench of its evaluation.

A key-value head serves several query heads, whose rows are stacked token by token: one product for all of
them. In prefill each rank has its own rows of queries, and the blocks of keys and values go round the ring;
in decode every rank attends with the same rows to its own block alone, and the partial results (highest
score, sum, weighted values) are merged along the ring. The new tokens are the last of the keys: in prefill
none sees those after it.

Each key-value head has a ring of its own. With ranks on the PEs of a cube the heads are on different cubes,
with ranks on cubes they are on different PEs of these.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, NoReturn

import numpy as np
from numpy.typing import NDArray

from kernbench.benches._inputs import SEED, Array, activations, attention
from kernbench.benches.flash_attention import MASKED
from kernbench.benches.params import Param
from kernbench.benches.registry import bench
from kernbench.errors import UsageError
from kernbench.replay.bounded import Bounded, stacked
from kernbench.runtime import DPPolicy
from kernbench.topology.neighbours import Neighbours, merge, ring

if TYPE_CHECKING:
    from kernbench.kernels import Pointer
    from kernbench.runtime import Context

BENCH = "kernbench.evaluations._gqa_attention:gqa-attention"
RANKS = {"single": "the PEs of cube 0", "multi": "PE 0 of four cubes"}
MULTI_CUBES = 4


def prefill(
    q: Pointer,
    k: Pointer,
    v: Pointer,
    out: Pointer,
    ranks: int,
    axis: int,
    heads: int,
    before: int | None,
    tl: Any,
) -> None:
    """Own queries past all blocks of keys, which arrive from the rank before and go to the next.

    A rank's number is its PE's (``axis`` 0) or its cube's (1). ``before`` is the number of keys ahead of the
    first new token, or None where every token sees all keys.
    """
    rank = tl.device_id(axis)
    query, key, value = tl.load(q.local), tl.load(k.local), tl.load(v.local)
    rows, block = query.shape[0], key.shape[0]
    scale = query.shape[1] ** -0.5
    best: Any = None
    total: Any = None
    acc: Any = None
    for step in range(ranks):
        scores = tl.dot(query, tl.trans(key), out_dtype=tl.float32) * scale
        first_key = (rank - step) % ranks * block
        if before is not None and first_key + block - 1 > before + rank * rows // heads:
            row = rank * rows + tl.arange(0, rows)
            column = (first_key - before + tl.arange(0, block)) * heads  # the key's own first row
            scores = tl.where(row[:, None] >= column[None, :], scores, MASKED)
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


def decode(q: Pointer, k: Pointer, v: Pointer, out: Pointer, ranks: int, axis: int, tl: Any) -> None:
    """Partial attention to the own block, then merged from rank to rank; the last one has the result."""
    rank = tl.device_id(axis)
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


def seen(rows: int, keys: int, heads: int) -> NDArray[np.bool_]:
    """Which keys each row of queries sees: none after its own; ``heads`` rows for each token."""
    token = keys - rows // heads + np.arange(rows) // heads
    return np.asarray(token[:, None] >= np.arange(keys))


@dataclass(frozen=True, slots=True)
class Layout:
    """Where the ranks of each key-value head are."""

    on_pes: bool
    """Ranks are the PEs of a cube, heads are cubes; else ranks are cubes, heads are PEs."""
    ranks: int
    kv_heads: int

    @property
    def axis(self) -> int:
        """Of a PE's address, what is the rank: 0 for its number in the cube, 1 for that of the cube."""
        return 0 if self.on_pes else 1

    def spread(self, copies: bool) -> DPPolicy:
        """Rows of a head split over its ranks; with ``copies`` each has all."""
        rank: Literal["replicate", "row_wise"] = "replicate" if copies else "row_wise"
        if self.on_pes:
            return DPPolicy("row_wise", rank, num_cubes=self.kv_heads)
        return DPPolicy(rank, "row_wise", num_cubes=self.ranks, num_pes=self.kv_heads)

    def rows(self, by_head: Array, copies: bool = False) -> Array:
        """An array (head, row, column) as rows in the order of :meth:`spread`."""
        heads, rows, columns = by_head.shape
        if not self.on_pes and not copies:
            by_head = by_head.reshape(heads, self.ranks, rows // self.ranks, columns).swapaxes(0, 1)
        return by_head.reshape(heads * rows, columns)

    def rings(self) -> Neighbours:
        """A ring for each head."""
        return merge(
            *(
                ring([(0, head, rank) if self.on_pes else (0, rank, head) for rank in range(self.ranks)])
                for head in range(self.kv_heads)
            )
        )


@bench(
    name="gqa-attention",
    description="Grouped-query attention, keys and values spread over ranks: ring prefill, merged decode.",
    params=[
        Param("users", str, "single", "ranks: PEs of a cube, or PE 0 of four cubes", choices=tuple(RANKS)),
        Param("phase", str, "prefill", "prefill or decode", choices=("prefill", "decode")),
        Param("q_tokens", int, 16, "new tokens", minimum=1),
        Param("q_heads", int, 1, "query heads of a key-value head", minimum=1),
        Param("kv_heads", int, 1, "key-value heads, each with a ring of its own", minimum=1),
        Param("kv_tokens", int, 256, "keys", minimum=1),
        Param("d_head", int, 64, "columns of q, k and v", minimum=1),
        Param("causal", bool, True, "whether a new token sees only itself and those before it"),
        Param("buffer_kind", str, "", "memory of the queues' slots; the topology's when empty",
              choices=("", "tcm", "sram", "hbm")),
        SEED,
    ],
)  # fmt: skip
def run(torch: Context) -> None:
    """Every rank of every key-value head is checked by the result that it, or the last rank, stores."""
    p = torch.params
    single = p.users == "single"
    layout = Layout(single, torch.pes_per_cube if single else MULTI_CUBES, p.kv_heads)
    rows, ranks = p.q_tokens * p.q_heads, layout.ranks
    _check(p, layout, torch.cubes_per_sip, torch.pes_per_cube)
    rng = np.random.default_rng(p.seed)
    q, k, v = (
        np.stack([activations(rng, (n, p.d_head), "f16") for _ in range(p.kv_heads)])
        for n in (rows, p.kv_tokens, p.kv_tokens)
    )
    prefilled = p.phase == "prefill"
    shared, own = layout.spread(copies=False), layout.spread(copies=not prefilled)
    placed = [
        torch.from_numpy(layout.rows(q, copies=not prefilled), dp=own, name="q"),
        torch.from_numpy(layout.rows(k), dp=shared, name="k"),
        torch.from_numpy(layout.rows(v), dp=shared, name="v"),
    ]
    block = 2 * p.d_head * p.kv_tokens // ranks if prefilled else 4 * p.d_head * rows
    # Keys and values of a step are under way at once, and the next step's before a slow rank has read them.
    torch.install_ipcq(layout.rings(), slots=4, slot_bytes=block, buffer_kind=p.buffer_kind or None)
    expected = partial(
        _expected, q, k, v, seen(rows, p.kv_tokens, p.q_heads) if prefilled and p.causal else None
    )
    if prefilled:
        out = torch.empty(p.kv_heads * rows, p.d_head, dtype="f16", dp=shared, name="out")
        before = p.kv_tokens - p.q_tokens if p.causal else None
        torch.launch("prefill", prefill, *placed, out, ranks, layout.axis, p.q_heads, before)
        torch.check("out", out, lambda: expected().moved(layout.rows))
        return
    out = torch.zeros(p.kv_heads * ranks * rows, p.d_head, dtype="f16", dp=shared, name="out")
    torch.launch("decode", decode, *placed, out, ranks, layout.axis)

    def of_last_ranks(by_head: Array) -> Array:
        whole = np.zeros((p.kv_heads, ranks, rows, p.d_head))
        whole[:, -1] = by_head
        return layout.rows(whole.reshape(p.kv_heads, ranks * rows, p.d_head))

    torch.check("out", out, lambda: expected().moved(of_last_ranks))


def _expected(q: Array, k: Array, v: Array, seen_keys: NDArray[np.bool_] | None) -> Bounded:
    """The result of each key-value head: (head, row, column)."""
    return stacked([attention(*head, seen_keys) for head in zip(q, k, v, strict=True)])


def _check(p: Any, layout: Layout, cubes: int, pes: int) -> None:
    """``UsageError`` for what the machine lacks, and for what cannot be split over the ranks."""

    def refuse(reason: str) -> NoReturn:
        raise UsageError(f"bench 'gqa-attention': {reason}")

    if not layout.on_pes and cubes < MULTI_CUBES:
        refuse(f"users=multi needs {MULTI_CUBES} cubes; the topology has fewer")
    places, what = (cubes, "cubes") if layout.on_pes else (pes, "PEs in a cube")
    if p.kv_heads > places:
        refuse(f"kv_heads = {p.kv_heads} are more than the {places} {what} of the topology")
    split = {"kv_tokens": p.kv_tokens}
    if p.phase == "prefill":
        split["q_tokens * q_heads"] = p.q_tokens * p.q_heads
        if p.causal and p.kv_tokens < p.q_tokens:
            refuse(
                f"kv_tokens = {p.kv_tokens} are fewer than the new tokens, {p.q_tokens}, which are among them"
            )
    for name, size in split.items():
        if size % layout.ranks:
            refuse(f"{name} = {size} is not divisible by {layout.ranks} ranks")
