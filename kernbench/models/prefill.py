"""The kernels of a prefill: the tokens of one sequence pass a layer together.

An activation is a list of groups of rows, one for each PE of a cube, and each group a list of strips of
columns, (rows, width) and row-major. A PE computes the rows of its group, for the strips of its cube.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kernbench.models.decode import by_loads
from kernbench.models.layout import Strips, depth
from kernbench.models.online import MASKED, Softmax

if TYPE_CHECKING:
    from kernbench.kernels import Pointer


def add(x: Pointer, y: Pointer | None, squares: Pointer, at_once: int, tl: Any) -> None:
    """``x += y`` in own rows, and the sum of the squares of each."""
    rows, width = tl.local_shape(x)
    for first in range(0, rows, at_once):
        shape = (min(at_once, rows - first), width)
        at = first * width * 2
        h = tl.load(x.local + at, shape, "f16")
        if y is not None:
            h = h + tl.load(y.local + at, shape, "f16")
            tl.store(x.local + at, h)
        wide = h.to(tl.float32)
        tl.store(squares.local + first * 4, tl.reshape(tl.sum(wide * wide, axis=1), (shape[0], 1)))


def project(
    x: Pointer,
    given: Strips,
    w: Pointer,
    out: Pointer,
    made: Strips,
    squares: Pointer | None,
    eps: float,
    at_once: int,
    block: int,
    tl: Any,
) -> None:
    """The strips of ``x @ w`` that this cube has weights of, which pass ``at_once`` rows of x in TCM.

    With ``squares``, x is normed: its rows are divided by their root mean square, after the product.
    ``block``: as in :func:`kernbench.models.decode.project`.
    """
    cube, group = tl.program_id(1), tl.program_id(0)
    size = given.columns
    for row in range(0, given.filled(group), at_once):
        n = min(at_once, given.filled(group) - row)
        rows = _rows(x, given, group, 0, given.count, row, n, tl)
        scale: Any = None
        if squares is not None:
            at = squares + (group * given.count * given.rows + row) * 4
            parts = tl.load(at, (given.count, n), "f32", strides=(given.rows, 1))
            scale = tl.reshape(tl.rsqrt(tl.sum(parts, axis=0) * (1 / size) + eps), (n, 1))
        for strip in turned(made.of(cube, tl.num_programs(1)), group, tl.num_programs(0)):
            at = w + made.weights_at(strip, size, tl.num_programs(1))
            target = out + made.at(group, strip, row)
            if block:
                total = by_loads(rows, at, made.width, block, None, tl)
                tl.store(target, (total if scale is None else total * scale).to(tl.float16))
                continue
            weights = tl.ref(at, (size, made.width), "f16")
            steps = [] if scale is None else [{"op": "mul", "value": scale}]
            tile = (n, depth(made.width), made.width)
            tl.composite(
                "gemm", rows, weights, out_ptr=target, epilogue=steps, tile_shape=tile, out_dtype="f16"
            )
        tl.wait()
        del rows  # before the next are loaded


def attend(
    x: Pointer,
    made: Strips,
    out: Pointer,
    given: Strips,
    heads: int,
    group: int,
    block_m: int,
    block_n: int,
    tl: Any,
) -> None:
    """Causal attention, ``block_m`` tokens of a head at a time; keys that none of them sees are left out.

    ``x`` has the strips of all heads of q, then k, then v. Blocks are dealt to the PEs forth and back, since
    later ones see more keys.
    """
    pes, cubes = tl.num_programs(0), tl.num_programs(1)
    me, workers = tl.program_id(1) * pes + tl.program_id(0), pes * cubes
    of_head = given.count // heads
    in_group = -(-made.rows // block_m)
    blocks = heads * made.groups * in_group
    for turn, begin in enumerate(range(0, blocks, workers)):
        number = begin + (workers - 1 - me if turn % 2 else me)
        if number >= blocks:
            continue
        head, own = divmod(number, made.groups * in_group)
        part, inner = divmod(own, in_group)
        row = inner * block_m
        n = min(block_m, made.filled(part) - row)
        if n <= 0:
            continue
        first = part * made.rows + row
        kv = heads * of_head + head // group * of_head
        values = kv + heads // group * of_head
        softmax = Softmax(_rows(x, made, part, head * of_head, of_head, row, n, tl), tl)
        for key in tl.range(0, first + n, block_n, num_stages=2):
            there, at = divmod(key, made.rows)
            wide = min(block_n, first + n - key)
            scores = softmax.scores(_rows(x, made, there, kv, of_head, at, wide, tl))
            if key + wide > first:
                seen = (first + tl.arange(0, n))[:, None] >= (key + tl.arange(0, wide))[None, :]
                scores = tl.where(seen, scores, MASKED)
            softmax.take(scores, _rows(x, made, there, values, of_head, at, wide, tl))
        result = tl.reshape((softmax.values / softmax.total).to(tl.float16), (n, of_head, given.width))
        strides = (given.rows * given.width, given.width, 1)
        tl.store(out + given.at(part, head * of_head, row), tl.trans(result, 1, 0, 2), strides=strides)


def gated(x: Pointer, made: Strips, out: Pointer, given: Strips, at_once: int, tl: Any) -> None:
    """``silu(gate) * up`` of this PE's group, for its cube's part of the strips; ``x`` has gate, then up."""
    group = tl.program_id(0)
    for strip in given.of(tl.program_id(1), tl.num_programs(1)):
        for row in range(0, given.filled(group), at_once):
            shape = (min(at_once, given.filled(group) - row), given.width)
            of_gate, of_up = made.at(group, strip, row), made.at(group, given.count + strip, row)
            gate, up = (tl.load(x + at, shape, "f16").to(tl.float32) for at in (of_gate, of_up))
            tl.store(out + given.at(group, strip, row), (gate * tl.sigmoid(gate) * up).to(tl.float16))


def turned(strips: range, pe: int, pes: int) -> list[int]:
    """The strips, beginning with another one on each PE of a cube: what they read lies apart."""
    first = len(strips) * pe // pes
    return [*strips[first:], *strips[:first]]


def _rows(x: Pointer, strips: Strips, group: int, first: int, count: int, row: int, n: int, tl: Any) -> Any:
    """``n`` rows of ``count`` strips from ``first`` on, as (n, count * width)."""
    shape = (count, n, strips.width)
    block = tl.load(
        x + strips.at(group, first, row), shape, "f16", strides=(strips.rows * strips.width, strips.width, 1)
    )
    return tl.reshape(tl.trans(block, 1, 0, 2), (n, count * strips.width))
