"""A layer as kernels of Triton over a grid: tensors are row-major, wherever their shards lie."""

from typing import Any

import kernbench.triton as triton
import kernbench.triton.language as tl

GROUP: tl.constexpr = 8
"""Blocks of rows beside each other: a block of weights is read from memory once for all of them."""


@triton.jit
def block_of_product() -> Any:
    """The block of rows and that of columns of this program."""
    rows, columns = tl.num_programs(1), tl.num_programs(0)
    return tl.swizzle2d(tl.program_id(1), tl.program_id(0), rows, columns, GROUP)


@triton.jit
def norm(x: Any, y: Any, out: Any, N: Any, eps: Any, ADD: tl.constexpr, BLOCK: tl.constexpr) -> None:
    """A row of x, to which with ADD that of y is added, divided by its root mean square."""
    n = tl.arange(0, BLOCK)
    at = tl.program_id(0) * N + n
    row = tl.load(x + at, mask=n < N, other=0.0)
    if ADD:
        row += tl.load(y + at, mask=n < N, other=0.0)
        tl.store(x + at, row, mask=n < N)
    wide = row.to(tl.float32)
    scale = tl.rsqrt(tl.sum(wide * wide, axis=0) / N + eps)
    tl.store(out + at, (wide * scale).to(tl.float16), mask=n < N)


@triton.jit
def weights_of(w: Any, k: Any, across: Any, N: Any, K: Any, BN: tl.constexpr, FOUR: tl.constexpr) -> Any:
    """Rows k of a block of BN columns as f16, scales apart; FOUR: two neighbours share a byte."""
    if FOUR:
        both = across * (BN // 2) + tl.arange(0, BN // 2)
        there = (k[:, None] < K) & (both[None, :] < N // 2)
        bits = tl.load(w + k[:, None] * (N // 2) + both[None, :], mask=there, other=0)
        return tl.interleave(bits & 15, bits >> 4).to(tl.float16) - 8.0
    n = across * BN + tl.arange(0, BN)
    there = (k[:, None] < K) & (n[None, :] < N)
    return tl.load(w + k[:, None] * N + n[None, :], mask=there, other=0.0).to(tl.float16)


@triton.jit
def product(
    rows: Any, w: Any, scale: Any, first: Any, across: Any, N: Any, K: Any, acc: Any,
    BN: tl.constexpr, BK: tl.constexpr, GROUP_ROWS: tl.constexpr, FOUR: tl.constexpr,
) -> Any:  # fmt: skip
    """``acc`` and the product with BK rows of w, which with GROUP_ROWS have a scale of their own a column."""
    weights = weights_of(w, first + tl.arange(0, BK), across, N, K, BN, FOUR)
    if GROUP_ROWS:
        n = across * BN + tl.arange(0, BN)
        factor = tl.load(scale + first // GROUP_ROWS * N + n, mask=n < N, other=0.0)
        return acc + tl.dot(rows, weights) * factor.to(tl.float32)[None, :]
    return tl.dot(rows, weights, acc)


@triton.jit
def scaled(acc: Any, scale: Any, n: Any, N: Any, SCALED: tl.constexpr) -> Any:
    """``acc`` times the scales of its columns, if there is one for all rows of each."""
    if SCALED:
        acc *= tl.load(scale + n, mask=n < N, other=0.0).to(tl.float32)[None, :]
    return acc


@triton.jit
def linear(
    x: Any, w: Any, scale: Any, bias: Any, out: Any, M: Any, N: Any, K: Any, part: Any,
    BIAS: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
    SCALED: tl.constexpr, GROUP_ROWS: tl.constexpr, FOUR: tl.constexpr,
) -> None:  # fmt: skip
    """A block of ``x @ w``, or of one of its sums over ``part`` rows of w, which lie one behind the other."""
    down, across = block_of_product()
    m = down * BM + tl.arange(0, BM)
    n = across * BN + tl.arange(0, BN)
    split = tl.program_id(2)
    acc = tl.zeros((BM, BN), tl.float32)
    for first in tl.range(split * part, min(K, (split + 1) * part), BK, num_stages=3):
        k = first + tl.arange(0, BK)
        rows = tl.load(x + m[:, None] * K + k[None, :], mask=(m[:, None] < M) & (k[None, :] < K), other=0.0)
        acc = product(rows, w, scale, first, across, N, K, acc, BN, BK, GROUP_ROWS, FOUR)
    acc = scaled(acc, scale, n, N, SCALED)
    if BIAS:
        acc += tl.load(bias + n, mask=n < N, other=0.0).to(tl.float32)[None, :]
    to = out + (split * M + m[:, None]) * N + n[None, :]
    tl.store(to, acc.to(out.dtype.element_ty), mask=(m[:, None] < M) & (n[None, :] < N))


@triton.jit
def total(
    sums: Any, bias: Any, out: Any, size: Any, N: Any,
    SPLITS: tl.constexpr, BIAS: tl.constexpr, WIDE: tl.constexpr, BLOCK: tl.constexpr,
) -> None:  # fmt: skip
    """Add up what ``linear`` made of its parts of w, and the bias."""
    split = tl.arange(0, WIDE)[:, None]
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    there = (split < SPLITS) & (at < size)[None, :]
    acc = tl.sum(tl.load(sums + split * size + at[None, :], mask=there, other=0.0), axis=0)
    if BIAS:
        acc += tl.load(bias + at % N, mask=at < size, other=0.0).to(tl.float32)
    tl.store(out + at, acc.to(tl.float16), mask=at < size)


@triton.jit
def gated(
    x: Any, gate: Any, gate_scale: Any, up: Any, up_scale: Any, out: Any, M: Any, N: Any, K: Any,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
    SCALED: tl.constexpr, GROUP_ROWS: tl.constexpr, FOUR: tl.constexpr,
) -> None:  # fmt: skip
    """A block of ``silu(x @ gate) * (x @ up)``."""
    down, across = block_of_product()
    m = down * BM + tl.arange(0, BM)
    n = across * BN + tl.arange(0, BN)
    of_gate = tl.zeros((BM, BN), tl.float32)
    of_up = tl.zeros((BM, BN), tl.float32)
    for first in tl.range(0, K, BK, num_stages=3):
        k = first + tl.arange(0, BK)
        rows = tl.load(x + m[:, None] * K + k[None, :], mask=(m[:, None] < M) & (k[None, :] < K), other=0.0)
        of_gate = product(rows, gate, gate_scale, first, across, N, K, of_gate, BN, BK, GROUP_ROWS, FOUR)
        of_up = product(rows, up, up_scale, first, across, N, K, of_up, BN, BK, GROUP_ROWS, FOUR)
    of_gate = scaled(of_gate, gate_scale, n, N, SCALED)
    of_up = scaled(of_up, up_scale, n, N, SCALED)
    result = of_gate * tl.sigmoid(of_gate) * of_up
    tl.store(
        out + m[:, None] * N + n[None, :], result.to(tl.float16), mask=(m[:, None] < M) & (n[None, :] < N)
    )


@triton.jit
def add(x: Any, y: Any, n: Any, BLOCK: tl.constexpr) -> None:
    """``x += y``."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    total = tl.load(x + at, mask=at < n, other=0.0) + tl.load(y + at, mask=at < n, other=0.0)
    tl.store(x + at, total, mask=at < n)


@triton.jit
def place(
    qkv: Any, keys: Any, values: Any, norms: Any, T: Any, first: Any, slope: Any, eps: Any,
    HEADS: tl.constexpr, KV: tl.constexpr, DECODE: tl.constexpr, HALF: tl.constexpr, NORM: tl.constexpr,
) -> None:  # fmt: skip
    """Turn a head of a token by its position: of q in place, of k into the cache, where v goes as it is."""
    row = tl.program_id(0)
    head = tl.program_id(1)
    half = tl.arange(0, HALF)
    at = (row * (HEADS + 2 * KV) + head) * 2 * HALF + half
    a = tl.load(qkv + at).to(tl.float32)
    b = tl.load(qkv + at + HALF).to(tl.float32)
    if NORM and head < HEADS + KV:
        scale = tl.rsqrt((tl.sum(a * a, axis=0) + tl.sum(b * b, axis=0)) / (2 * HALF) + eps)
        of = norms + (head >= HEADS) * 2 * HALF + half
        a = a * scale * tl.load(of).to(tl.float32)
        b = b * scale * tl.load(of + HALF).to(tl.float32)
    if head < HEADS + KV:
        angle = tl.exp2(half.to(tl.float32) * slope) * (first if DECODE else row)
        cos = tl.cos(angle)
        sin = tl.sin(angle)
        a, b = a * cos - b * sin, b * cos + a * sin
    if head < HEADS:
        tl.store(qkv + at, a.to(tl.float16))
        tl.store(qkv + at + HALF, b.to(tl.float16))
    else:
        unit = (row if DECODE else 0) * KV + (head - HEADS) % KV
        to = (unit * T + (first if DECODE else row)) * 2 * HALF + half
        cache = keys if head < HEADS + KV else values
        tl.store(cache + to, a.to(cache.dtype.element_ty))
        tl.store(cache + to + HALF, b.to(cache.dtype.element_ty))


@triton.jit
def attend(
    qkv: Any, keys: Any, values: Any, out: Any, sums: Any, T: Any, part: Any, scale: Any,
    HEADS: tl.constexpr, KV: tl.constexpr, DECODE: tl.constexpr, D: tl.constexpr,
    SPLITS: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr,
) -> None:  # fmt: skip
    """DECODE: heads of a sequence that share a head of keys, and ``part`` of these, as in flash-decoding
    (Dao et al., 2023); else a head of some tokens, causal."""
    unit = tl.program_id(1)
    d = tl.arange(0, D)
    if DECODE:
        row = tl.arange(0, BM)
        at = unit // KV * (HEADS + 2 * KV) + unit % KV * (HEADS // KV) + row
        to = (unit * (HEADS // KV) + row) * SPLITS + tl.program_id(0)
        there = row < HEADS // KV
        cached = unit * T
        begin = tl.program_id(0) * part
        end = min(T, begin + part)
    else:
        row = tl.program_id(0) * BM + tl.arange(0, BM)
        at = row * (HEADS + 2 * KV) + unit
        to = row * HEADS + unit
        there = row < T
        cached = unit // (HEADS // KV) * T
        begin = 0
        end = min(T, (tl.program_id(0) + 1) * BM)
    query = tl.load(qkv + at[:, None] * D + d[None, :], mask=there[:, None], other=0.0)
    top = tl.full((BM,), -1e30, tl.float32)
    total = tl.zeros((BM,), tl.float32)
    acc = tl.zeros((BM, D), tl.float32)
    for first in tl.range(begin, end, BN, num_stages=3):
        n = first + tl.arange(0, BN)
        key = tl.load(keys + (cached + n)[None, :] * D + d[:, None], mask=n[None, :] < end, other=0.0)
        scores = tl.dot(query, key.to(tl.float16)) * scale
        seen = (n[None, :] < end) if DECODE else (n[None, :] <= row[:, None]) & (n[None, :] < end)
        scores = tl.where(seen, scores, -1e30)
        higher = tl.maximum(top, tl.max(scores, axis=1))
        weights = tl.exp(scores - higher[:, None])
        shrink = tl.exp(top - higher)
        total = total * shrink + tl.sum(weights, axis=1)
        value = tl.load(values + (cached + n)[:, None] * D + d[None, :], mask=n[:, None] < end, other=0.0)
        acc = tl.dot(weights.to(tl.float16), value.to(tl.float16), acc * shrink[:, None])
        top = higher
    result = (acc / total[:, None]).to(out.dtype.element_ty)
    tl.store(out + to[:, None] * D + d[None, :], result, mask=there[:, None])
    if SPLITS > 1:
        tl.store(sums + to, top + tl.log(total), mask=there)


@triton.jit
def merge(parts: Any, sums: Any, out: Any, SPLITS: tl.constexpr, D: tl.constexpr, WIDE: tl.constexpr) -> None:
    """What ``attend`` made of the parts of a head's keys, each by its share in the sum of all weights."""
    head = tl.program_id(0)
    split = tl.arange(0, WIDE)
    d = tl.arange(0, D)
    at = head * SPLITS + split
    log = tl.load(sums + at, mask=split < SPLITS, other=-1e30)
    share = tl.exp(log - tl.max(log, axis=0))
    part = tl.load(parts + at[:, None] * D + d[None, :], mask=split[:, None] < SPLITS, other=0.0)
    result = tl.sum(part * share[:, None], axis=0) / tl.sum(share, axis=0)
    tl.store(out + head * D + d, result.to(tl.float16))
