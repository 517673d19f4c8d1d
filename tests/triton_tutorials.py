"""Five kernels of Triton's tutorials in ``tl``, as first written and after following ``kernbench advise``.

Each step names the rule of advice that led to it. All run on one PE.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import kernbench.tl as tl

RNG = np.random.default_rng(3)
Array = np.ndarray[Any, Any]


def normal(*shape: int) -> Array:
    return RNG.standard_normal(shape).astype(np.float16)


class Step(NamedTuple):
    """A version of a kernel, and the rule that was followed to come to it; the first has none."""

    kernel: Callable[..., None]
    rule: str = ""


class Tutorial(NamedTuple):
    """A kernel's inputs, scratch tensors and result as numpy has it, and its versions."""

    name: str
    inputs: tuple[Array, ...]
    expected: Callable[..., Array]
    steps: tuple[Step, ...]
    scratch: tuple[Array, ...] = ()


# -- softmax: the tutorial's naive_softmax, whose steps go through memory, and the fused one

ROWS, COLUMNS = 64, 256


def softmax_naive(x: Any, shifted: Any, weights: Any, out: Any) -> None:
    value = tl.load(x)
    tl.store(shifted, value - tl.max(value, axis=1))
    tl.store(weights, tl.exp(tl.load(shifted, volatile=True)))
    value = tl.load(weights, volatile=True)
    tl.store(out, value / tl.sum(value, axis=1))


def softmax_fused(x: Any, shifted: Any, weights: Any, out: Any) -> None:
    value = tl.load(x)
    value = tl.exp(value - tl.max(value, axis=1))
    tl.store(out, value / tl.sum(value, axis=1))


def softmax_of(x: Array) -> Array:
    weights = np.exp(x.astype(np.float32) - x.max(axis=1, keepdims=True))
    return weights / weights.sum(axis=1, keepdims=True)


# -- layer norm: three passes over the rows, as the tutorial's forward kernel has


def norm_three_passes(x: Any, w: Any, b: Any, out: Any) -> None:
    for m in range(ROWS):
        at = m * COLUMNS * 2
        mean = tl.sum(row(x, at).to(tl.float32), axis=1) / COLUMNS
        off = row(x, at) - mean
        scale = tl.rsqrt(tl.sum(off * off, axis=1) / COLUMNS + 1e-5)
        value = (row(x, at) - mean) * scale * tl.load(w) + tl.load(b)
        tl.store(out + at, value.to(out.dtype))


def norm_once(x: Any, w: Any, b: Any, out: Any) -> None:
    norm_rows(x, w, b, out, 1)


def norm_by_sixteen(x: Any, w: Any, b: Any, out: Any) -> None:
    norm_rows(x, w, b, out, 16)


def norm_rows(x: Any, w: Any, b: Any, out: Any, rows: int) -> None:
    weight, bias = tl.load(w), tl.load(b)
    for m in range(0, ROWS, rows):
        value = row(x, m * COLUMNS * 2, rows)
        tl.store(out + m * COLUMNS * 2, normed(value, weight, bias).to(out.dtype))


def row(x: Any, at: int, rows: int = 1) -> Any:
    return tl.load(x + at, shape=(rows, COLUMNS), dtype=x.dtype)


def normed(value: Any, weight: Any, bias: Any) -> Any:
    off = value - tl.sum(value.to(tl.float32), axis=1) / COLUMNS
    return off * tl.rsqrt(tl.sum(off * off, axis=1) / COLUMNS + 1e-5) * weight + bias


def norm_of(x: Array, w: Array, b: Array) -> Array:
    value = x.astype(np.float32)
    off = value - value.mean(axis=1, keepdims=True)
    return off / np.sqrt((off * off).mean(axis=1, keepdims=True) + 1e-5) * w + b


# -- grouped GEMM: a persistent kernel takes tile after tile of all problems

GROUPS, SIDE = 4, 64
BYTES = SIDE * SIDE * 2


def grouped_tiles(a: Any, b: Any, out: Any) -> None:
    """Tiles of 16 x 16: rows of a, and columns of b of 32 bytes."""
    for group in range(GROUPS):
        for m in range(0, SIDE, 16):
            for n in range(0, SIDE, 16):
                rows = tl.load(a + group * BYTES + m * SIDE * 2, shape=(16, SIDE), dtype=a.dtype)
                columns = tl.load(
                    b + group * BYTES + n * 2, shape=(SIDE, 16), strides=(SIDE, 1), dtype=b.dtype
                )
                to = out + group * BYTES + (m * SIDE + n) * 2
                tl.store(to, tl.dot(rows, columns), strides=(SIDE, 1))


def grouped_rows(a: Any, b: Any, out: Any) -> None:
    """All of b is read once in whole rows, and a strip of the result is made at a time."""
    for group in range(GROUPS):
        right = tl.load(b + group * BYTES, shape=(SIDE, SIDE), dtype=b.dtype)
        for m in range(0, SIDE, 32):
            at = group * BYTES + m * SIDE * 2
            rows = tl.load(a + at, shape=(32, SIDE), dtype=a.dtype)
            tl.store(out + at, tl.dot(rows, right))


def grouped_pipelined(a: Any, b: Any, out: Any) -> None:
    started = []
    for group in range(GROUPS):
        right = tl.load(b + group * BYTES, shape=(SIDE, SIDE), dtype=b.dtype)
        rows = tl.load(a + group * BYTES, shape=(SIDE, SIDE), dtype=a.dtype)
        to, tile = out + group * BYTES, (SIDE, SIDE, SIDE)
        started.append(tl.composite("gemm", rows, right, out_ptr=to, out_dtype="f16", tile_shape=tile))
    tl.wait(started)


def grouped_of(a: Array, b: Array) -> Array:
    shape = (GROUPS, SIDE, SIDE)
    product = a.astype(np.float32).reshape(shape) @ b.astype(np.float32).reshape(shape)
    return product.reshape(GROUPS * SIDE, SIDE)


# -- fused attention: online softmax over blocks of keys

TOKENS, HEAD = 64, 64
BLOCK_BYTES = 32 * HEAD * 2


def attend(
    queries: int, out: Any, loaded: list[Any], keys: Callable[[int], Any], values: Callable[[int], Any]
) -> None:
    for i, query in enumerate(loaded):
        best = tl.full((queries, 1), -1e30, tl.float32)
        total, acc = tl.zeros((queries, 1), tl.float32), tl.zeros((queries, HEAD), tl.float32)
        for n in range(TOKENS // 32):
            scores = tl.dot(query, tl.trans(keys(n)), out_dtype=tl.float32) * HEAD**-0.5
            highest = tl.maximum(best, tl.max(scores, axis=1))
            weights, shrink = tl.exp(scores - highest), tl.exp(best - highest)
            total = total * shrink + tl.sum(weights, axis=1)
            acc = acc * shrink + tl.dot(weights.to(tl.float16), values(n), out_dtype=tl.float32)
            best = highest
        tl.store(out + i * queries * HEAD * 2, (acc / total).to(tl.float16))


def blocks(x: Any, rows: int) -> list[Any]:
    return [tl.load(x + m * HEAD * 2, shape=(rows, HEAD), dtype=x.dtype) for m in range(0, TOKENS, rows)]


def block(x: Any, n: int) -> Any:
    return tl.load(x + n * BLOCK_BYTES, shape=(32, HEAD), dtype=x.dtype)


def attention_small(q: Any, k: Any, v: Any, out: Any) -> None:
    """Eight queries at a time; keys and values are read again for each of these blocks."""
    attend(8, out, blocks(q, 8), lambda n: block(k, n), lambda n: block(v, n))


def attention_kept(q: Any, k: Any, v: Any, out: Any) -> None:
    """Keys and values stay in TCM."""
    keys, values = blocks(k, 32), blocks(v, 32)
    attend(8, out, blocks(q, 8), keys.__getitem__, values.__getitem__)


def attention_tiles(q: Any, k: Any, v: Any, out: Any) -> None:
    """As many queries as the engine's tile has rows."""
    keys, values = blocks(k, 32), blocks(v, 32)
    attend(32, out, blocks(q, 32), keys.__getitem__, values.__getitem__)


def attention_of(q: Array, k: Array, v: Array) -> Array:
    scores = q.astype(np.float32) @ k.astype(np.float32).T * HEAD**-0.5
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    return weights / weights.sum(axis=1, keepdims=True) @ v.astype(np.float32)


# -- low-memory dropout: the mask comes from a hash of the place, not from memory

LENGTH, KEEP = 8192, 0.75


def dropped(value: Any, at: int, size: int) -> Any:
    """A Weyl sequence decides what is kept: no generator's state, and no mask in memory."""
    place = (tl.arange(0, size) + at).to(tl.float32) * 0.6180339887
    return tl.where(place - tl.floor(place) < KEEP, value / KEEP, 0.0).to(tl.float16)


def dropout_by(size: int, x: Any, out: Any) -> None:
    for at in range(0, LENGTH, size):
        value = tl.load(x + at * 2, shape=(size,), dtype=x.dtype)
        tl.store(out + at * 2, dropped(value, at, size))


def dropout_small(x: Any, out: Any) -> None:
    """Blocks of 64 elements, so of 128 bytes."""
    dropout_by(64, x, out)


def dropout_bursts(x: Any, out: Any) -> None:
    dropout_by(1024, x, out)


def dropout_of(x: Array) -> Array:
    place = np.arange(LENGTH, dtype=np.float32) * np.float32(0.6180339887)
    return np.where(place - np.floor(place) < KEEP, x.astype(np.float32) / KEEP, 0.0)


ROWS_OF = (ROWS, COLUMNS)
TUTORIALS = (
    Tutorial(
        "softmax",
        (normal(*ROWS_OF),),
        softmax_of,
        (Step(softmax_naive), Step(softmax_fused, "round-trip")),
        (np.zeros(ROWS_OF, np.float16), np.zeros(ROWS_OF, np.float16)),
    ),
    Tutorial(
        "layer norm",
        (normal(*ROWS_OF), normal(1, COLUMNS), normal(1, COLUMNS)),
        norm_of,
        (
            Step(norm_three_passes),
            Step(norm_once, "read-again"),
            Step(norm_by_sixteen, "small-blocks"),
        ),
    ),
    Tutorial(
        "grouped GEMM",
        (normal(GROUPS * SIDE, SIDE), normal(GROUPS * SIDE, SIDE)),
        grouped_of,
        (Step(grouped_tiles), Step(grouped_rows, "short-runs"), Step(grouped_pipelined, "overlap")),
    ),
    Tutorial(
        "fused attention",
        (normal(TOKENS, HEAD), normal(TOKENS, HEAD), normal(TOKENS, HEAD)),
        attention_of,
        (Step(attention_small), Step(attention_kept, "read-again"), Step(attention_tiles, "small-tiles")),
    ),
    Tutorial(
        "low-memory dropout",
        (normal(LENGTH),),
        dropout_of,
        (Step(dropout_small), Step(dropout_bursts, "short-runs")),
    ),
)
