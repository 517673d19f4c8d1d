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

from kernbench.errors import AllocationError, UsageError
from kernbench.hardware.topology.neighbours import Neighbours, merge, ring
from kernbench.host import DPPolicy
from kernbench.support.bounded import Bounded, stack
from kernbench.workloads.benches._inputs import SEED, Array, activations, attention
from kernbench.workloads.benches.flash_attention import MASKED
from kernbench.workloads.benches.params import Param
from kernbench.workloads.benches.registry import bench

if TYPE_CHECKING:
    from kernbench.host import Context
    from kernbench.language import Pointer

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
    width: int,
    tl: Any,
) -> None:
    """Own queries past all blocks of keys, which arrive from the rank before and go to the next.

    A rank's number is its PE's (``axis`` 0) or its cube's (1). ``before`` is the number of keys ahead of the
    first new token, or None where every token sees all keys. A rank's keys go round ``width`` at a time.
    """
    rank = tl.device_id(axis)
    query = tl.load(q.local)
    rows, (block, d) = query.shape[0], tl.local_shape(k)
    state: Any = None
    for first in tl.static_range(0, block, width):
        key, value = (_keys(x, first, width, tl) for x in (k, v))
        for step in range(ranks):
            scores = tl.dot(query, tl.trans(key), out_dtype=tl.float32) * d**-0.5
            first_key, count = (rank - step) % ranks * block + first, key.shape[0]
            if before is not None and first_key + count - 1 > before + rank * rows // heads:
                row = rank * rows + tl.arange(0, rows)
                column = (first_key - before + tl.arange(0, count)) * heads  # the key's own first row
                scores = tl.where(row[:, None] >= column[None, :], scores, MASKED)
            state = _fold(state, scores, value, tl)
            if step < ranks - 1:
                tl.send("E", key)
                tl.send("E", value)
                key, value = tl.recv("W"), tl.recv("W")
    _best, total, acc = state
    tl.store(out.local, (acc / total).to(out.dtype))


def decode(
    q: Pointer, k: Pointer, v: Pointer, out: Pointer, ranks: int, axis: int, width: int, tl: Any
) -> None:
    """Partial attention to the own block, ``width`` keys at a time, then merged from rank to rank.

    The last rank has the result.
    """
    rank = tl.device_id(axis)
    query = tl.load(q.local)
    block, d = tl.local_shape(k)
    state: Any = None
    for first in tl.static_range(0, block, width):
        key, value = (_keys(x, first, width, tl) for x in (k, v))
        state = _fold(state, tl.dot(query, tl.trans(key), out_dtype=tl.float32) * d**-0.5, value, tl)
    best, total, acc = state
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


def _keys(x: Pointer, first: int, width: int, tl: Any) -> Any:
    """Rows of this rank's keys or values, from number ``first`` on, at most ``width``."""
    rows, d = tl.local_shape(x)
    if width >= rows:
        return tl.load(x.local)
    block = (min(width, rows - first), d)
    return tl.load(tl.make_block_ptr(x.local, (rows, d), (d, 1), (first, 0), block))


def _fold(state: Any, scores: Any, value: Any, tl: Any) -> Any:
    """Online softmax: highest score, sum and weighted values so far, with those of more keys."""
    highest = tl.max(scores, axis=1)
    if state is not None:
        highest = tl.maximum(state[0], highest)
    weights = tl.exp(scores - highest)
    added = tl.sum(weights, axis=1)
    part = tl.dot(weights.to(value.dtype), value, out_dtype=tl.float32)
    if state is None:
        return highest, added, part
    best, total, acc = state
    shrink = tl.exp(best - highest)
    return highest, total * shrink + added, acc * shrink + part


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
    own_rows = rows // ranks if prefilled else rows
    widths = _widths(p.kv_tokens // ranks, own_rows, p.d_head, not prefilled, torch.scratch_bytes)
    # Keys and values of a step are under way at once, and the next step's before a slow rank has read them.
    for width in widths:
        block = 2 * p.d_head * width if prefilled else 4 * p.d_head * rows
        try:
            torch.install_ipcq(layout.rings(), slots=4, slot_bytes=block, buffer_kind=p.buffer_kind or None)
        except AllocationError:
            if not prefilled or width == 1:
                raise
        else:
            break
    expected = partial(
        _expected, q, k, v, seen(rows, p.kv_tokens, p.q_heads) if prefilled and p.causal else None
    )
    if prefilled:
        out = torch.empty(p.kv_heads * rows, p.d_head, dtype="f16", dp=shared, name="out")
        before = p.kv_tokens - p.q_tokens if p.causal else None
        torch.launch("prefill", prefill, *placed, out, ranks, layout.axis, p.q_heads, before, width)
        torch.check("out", out, lambda: expected().moved(layout.rows))
        return
    out = torch.zeros(p.kv_heads * ranks * rows, p.d_head, dtype="f16", dp=shared, name="out")
    torch.launch("decode", decode, *placed, out, ranks, layout.axis, width)

    def of_last_ranks(by_head: Array) -> Array:
        whole = np.zeros((p.kv_heads, ranks, rows, p.d_head))
        whole[:, -1] = by_head
        return layout.rows(whole.reshape(p.kv_heads, ranks * rows, p.d_head))

    torch.check("out", out, lambda: expected().moved(of_last_ranks))


def _widths(keys: int, rows: int, d: int, alone: bool, scratch: int) -> list[int]:
    """How many of a rank's keys it can have in TCM at a time: the most that fit, and fewer.

    In scratch are blocks of keys and values, of scores (three on the way from product to weights) and what
    belongs to ``rows`` queries; free memory in pieces is good for another two blocks of scores, or, where the
    blocks of keys change, of keys. ``alone``: the rank sees no keys but its own.
    """
    widths = [keys]
    while widths[-1] > 1:
        widths.append(-(-widths[-1] // 2))
    always = 18 * rows * d + 32 * rows

    def need(width: int) -> int:
        blocks = 6 if width < keys else 2 if alone else 4
        return always + blocks * 2 * width * d + 5 * 4 * rows * width + 2 * 4 * width

    return [width for width in widths if need(width) <= scratch] or widths[-1:]


def _expected(q: Array, k: Array, v: Array, seen_keys: NDArray[np.bool_] | None) -> Bounded:
    """The result of each key-value head: (head, row, column)."""
    return stack([attention(*head, seen_keys) for head in zip(q, k, v, strict=True)])


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
