"""A layer as kernels of Triton over a grid: tensors are row-major, wherever their shards lie."""

from typing import Any

import kernbench.triton as triton
import kernbench.triton.language as tl


@triton.jit
def linear(
    x: Any, w: Any, bias: Any, out: Any, M: Any, N: Any, K: Any, eps: Any,
    NORM: tl.constexpr, BIAS: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
) -> None:  # fmt: skip
    """A block of ``x @ w``; with NORM each row of x is divided by its root mean square."""
    n = tl.program_id(0) * BN + tl.arange(0, BN)
    m = tl.program_id(1) * BM + tl.arange(0, BM)
    acc = tl.zeros((BM, BN), tl.float32)
    squares = tl.zeros((BM,), tl.float32)
    for first in tl.range(0, K, BK, num_stages=3):
        k = first + tl.arange(0, BK)
        rows = tl.load(x + m[:, None] * K + k[None, :], mask=(m[:, None] < M) & (k[None, :] < K), other=0.0)
        weights = tl.load(
            w + k[:, None] * N + n[None, :], mask=(k[:, None] < K) & (n[None, :] < N), other=0.0
        )
        acc = tl.dot(rows, weights, acc)
        if NORM:
            wide = rows.to(tl.float32)
            squares += tl.sum(wide * wide, axis=1)
    if NORM:
        acc = acc * tl.rsqrt(squares / K + eps)[:, None]
    if BIAS:
        acc += tl.load(bias + n, mask=n < N, other=0.0).to(tl.float32)[None, :]
    tl.store(out + m[:, None] * N + n[None, :], acc.to(tl.float16), mask=(m[:, None] < M) & (n[None, :] < N))


@triton.jit
def gated(
    x: Any, gate: Any, up: Any, out: Any, M: Any, N: Any, K: Any, eps: Any,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
) -> None:  # fmt: skip
    """A block of ``silu(x @ gate) * (x @ up)``, x normed."""
    n = tl.program_id(0) * BN + tl.arange(0, BN)
    m = tl.program_id(1) * BM + tl.arange(0, BM)
    of_gate = tl.zeros((BM, BN), tl.float32)
    of_up = tl.zeros((BM, BN), tl.float32)
    squares = tl.zeros((BM,), tl.float32)
    for first in tl.range(0, K, BK, num_stages=3):
        k = first + tl.arange(0, BK)
        rows = tl.load(x + m[:, None] * K + k[None, :], mask=(m[:, None] < M) & (k[None, :] < K), other=0.0)
        there = (k[:, None] < K) & (n[None, :] < N)
        of_gate = tl.dot(rows, tl.load(gate + k[:, None] * N + n[None, :], mask=there, other=0.0), of_gate)
        of_up = tl.dot(rows, tl.load(up + k[:, None] * N + n[None, :], mask=there, other=0.0), of_up)
        wide = rows.to(tl.float32)
        squares += tl.sum(wide * wide, axis=1)
    scale = tl.rsqrt(squares / K + eps)[:, None]
    of_gate = of_gate * scale
    result = of_gate * tl.sigmoid(of_gate) * of_up * scale
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
    qkv: Any, keys: Any, values: Any, T: Any, first: Any, slope: Any,
    HEADS: tl.constexpr, KV: tl.constexpr, DECODE: tl.constexpr, HALF: tl.constexpr,
) -> None:  # fmt: skip
    """Turn a head of a token by its position: of q in place, of k into the cache, where v goes as it is."""
    row = tl.program_id(0)
    head = tl.program_id(1)
    half = tl.arange(0, HALF)
    at = (row * (HEADS + 2 * KV) + head) * 2 * HALF + half
    a = tl.load(qkv + at).to(tl.float32)
    b = tl.load(qkv + at + HALF).to(tl.float32)
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
        tl.store(cache + to, a.to(tl.float16))
        tl.store(cache + to + HALF, b.to(tl.float16))


@triton.jit
def attend(
    qkv: Any, keys: Any, values: Any, out: Any, T: Any, scale: Any,
    HEADS: tl.constexpr, KV: tl.constexpr, DECODE: tl.constexpr, D: tl.constexpr,
    BM: tl.constexpr, BN: tl.constexpr,
) -> None:  # fmt: skip
    """DECODE: the heads that share a head of keys, of a sequence; else a head of some tokens, causal."""
    unit = tl.program_id(1)
    row = tl.program_id(0) * BM + tl.arange(0, BM)
    d = tl.arange(0, D)
    if DECODE:
        at = unit // KV * (HEADS + 2 * KV) + unit % KV * (HEADS // KV) + row
        to = unit * (HEADS // KV) + row
        there = row < HEADS // KV
        cached = unit * T
        end = T
    else:
        at = row * (HEADS + 2 * KV) + unit
        to = row * HEADS + unit
        there = row < T
        cached = unit // (HEADS // KV) * T
        end = min(T, (tl.program_id(0) + 1) * BM)
    query = tl.load(qkv + at[:, None] * D + d[None, :], mask=there[:, None], other=0.0)
    top = tl.full((BM,), -1e30, tl.float32)
    total = tl.zeros((BM,), tl.float32)
    acc = tl.zeros((BM, D), tl.float32)
    for first in tl.range(0, end, BN, num_stages=3):
        n = first + tl.arange(0, BN)
        key = tl.load(keys + (cached + n)[None, :] * D + d[:, None], mask=n[None, :] < end, other=0.0)
        scores = tl.dot(query, key) * scale
        seen = (n[None, :] < end) if DECODE else (n[None, :] <= row[:, None]) & (n[None, :] < end)
        scores = tl.where(seen, scores, -1e30)
        higher = tl.maximum(top, tl.max(scores, axis=1))
        weights = tl.exp(scores - higher[:, None])
        shrink = tl.exp(top - higher)
        total = total * shrink + tl.sum(weights, axis=1)
        value = tl.load(values + (cached + n)[:, None] * D + d[None, :], mask=n[:, None] < end, other=0.0)
        acc = tl.dot(weights.to(tl.float16), value, acc * shrink[:, None])
        top = higher
    tl.store(out + to[:, None] * D + d[None, :], (acc / total[:, None]).to(tl.float16), mask=there[:, None])
