"""Attention of a prefill: heads are dealt to the cubes, and each cube has its own keys and values of them.

The blocks of a cube's heads are dealt to its PEs; where there are more cubes than heads, some share one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kernbench.workloads.models.decode import item_bytes
from kernbench.workloads.models.layout import Strips
from kernbench.workloads.models.online import MASKED, Softmax
from kernbench.workloads.models.prefill import rows_of, turned
from kernbench.workloads.models.rotary import normed, rotated

if TYPE_CHECKING:
    from kernbench.language import Pointer


def heads_of(cube: int, cubes: int, heads: int) -> range:
    """The heads that a cube computes, alone or with others."""
    each = -(-heads // cubes)
    first = cube // max(1, cubes // heads) * each
    return range(min(first, heads), min(first + each, heads))


def kept(heads: int, kv_heads: int, cubes: int) -> int:
    """Heads of keys that a cube has a copy of at most."""
    group = heads // kv_heads
    own = [heads_of(cube, cubes, heads) for cube in range(cubes)]
    return max((of[-1] // group - of[0] // group + 1 for of in own if of), default=1)


def _place(cached: Pointer, made: Strips, cube: int, cubes: int, slot: int, row: int) -> int:
    """Where a cube's copy has a token's key (``slot`` 0, 2, ...) or value (1, 3, ...) of a head."""
    rows, d = cached.shape
    at = (rows // cubes) * cube + slot * made.groups * made.rows + row
    return cached + at * d * item_bytes(cached)


def keys(
    x: Pointer,
    made: Strips,
    cached: Pointer,
    heads: int,
    kv_heads: int,
    block: int,
    rope: float,
    norms: Pointer | None,
    eps: float,
    tl: Any,
) -> None:
    """Copy the cube's heads of keys, turned by positions, and of values; each PE some blocks of tokens.

    ``x`` has the strips of all heads of q, then k, then v. ``norms`` as in
    :func:`kernbench.workloads.models.decode.attend`.
    """
    cube, cubes, pe, pes = tl.program_id(1), tl.num_programs(1), tl.program_id(0), tl.num_programs(0)
    own = heads_of(cube, cubes, heads)
    if not own:
        return
    of_head, group = cached.shape[1] // made.width, heads // kv_heads
    of = None if norms is None else tl.load(norms.local)
    blocks = [(part, row) for part in range(made.groups) for row in range(0, made.filled(part), block)]
    for part, row in blocks[len(blocks) * pe // pes : len(blocks) * (pe + 1) // pes]:
        n, first = min(block, made.filled(part) - row), part * made.rows + row
        for slot, head in enumerate(range(own[0] // group, own[-1] // group + 1)):
            for kind in (0, 1):
                strip = (heads + kind * kv_heads + head) * of_head
                copied = rows_of(x, made, part, strip, of_head, row, n, tl)
                if not kind:
                    copied = rotated(normed(copied, of, 1, eps, tl), first, rope, tl)
                tl.store(_place(cached, made, cube, cubes, 2 * slot + kind, first), copied.to(cached.dtype))


def attend(
    x: Pointer,
    made: Strips,
    cached: Pointer,
    heads: int,
    kv_heads: int,
    out: Pointer,
    given: Strips,
    block_m: int,
    block_n: int,
    rope: float,
    norms: Pointer | None,
    eps: float,
    tl: Any,
) -> None:
    """Causal attention, ``block_m`` tokens of a head at a time; keys that none of them sees are left out.

    Blocks are dealt to the PEs forth and back, since later ones see more keys.
    """
    cube, cubes, pe, pes = tl.program_id(1), tl.num_programs(1), tl.program_id(0), tl.num_programs(0)
    own = heads_of(cube, cubes, heads)
    shared = max(1, cubes // heads)
    me, workers = cube % shared * pes + pe, shared * pes
    d, group = cached.shape[1], heads // kv_heads
    of_head = d // made.width
    of = None if norms is None else tl.load(norms.local)
    blocks = [
        (head, part, row)
        for head in own
        for part in range(made.groups)
        for row in range(0, made.filled(part), block_m)
    ]
    for turn, begin in enumerate(range(0, len(blocks), workers)):
        number = begin + (workers - 1 - me if turn % 2 else me)
        if number >= len(blocks):
            continue
        head, part, row = blocks[number]
        n, first = min(block_m, made.filled(part) - row), part * made.rows + row
        query = rows_of(x, made, part, head * of_head, of_head, row, n, tl)
        query = normed(query, of, 0, eps, tl)
        softmax = Softmax(rotated(query, first, rope, tl).to(tl.float16), tl)
        slot = 2 * (head // group - own[0] // group)
        order = turned(range(0, first + n, block_n), pe, pes)
        for i in tl.range(len(order), num_stages=2):
            key = order[i]
            wide = min(block_n, first + n - key)
            places = [_place(cached, made, cube, cubes, slot + kind, key) for kind in (0, 1)]
            scores = softmax.scores(tl.load(places[0], (wide, d), cached.dtype).to(tl.float16))
            if key + wide > first:
                seen = (first + tl.arange(0, n))[:, None] >= (key + tl.arange(0, wide))[None, :]
                scores = tl.where(seen, scores, MASKED)
            softmax.take(scores, tl.load(places[1], (wide, d), cached.dtype).to(tl.float16))
        result = tl.reshape((softmax.values / softmax.total).to(tl.float16), (n, of_head, given.width))
        strides = (given.rows * given.width, given.width, 1)
        tl.store(out + given.at(part, head * of_head, row), tl.trans(result, 1, 0, 2), strides=strides)
