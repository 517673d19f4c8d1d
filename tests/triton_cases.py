"""Launches of the kernels of ``triton_kernels.py``, each with its result by numpy; for several folders.

All arrays have a multiple of 128 elements, so that up to 128 PEs can share them; blocks are ragged.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tests import triton_kernels as kernels
from tests.triton_kernels import measured, shipped

Array = np.ndarray[Any, Any]


@dataclass
class Case:
    """``kernel[grid](*args, out, **constants)`` writes ``expected``, to ``tolerance`` of the largest."""

    kernel: Any
    grid: tuple[int, ...]
    args: tuple[Array, ...]
    out: Array
    expected: Array
    constants: dict[str, Any] = field(default_factory=dict)
    tolerance: float = 1e-3


_random = np.random.default_rng(7)


def _half(*shape: int) -> Array:
    return _random.standard_normal(shape).astype(np.float16)


def _single(*shape: int) -> Array:
    return np.abs(_random.standard_normal(shape)).astype(np.float32)


def _wide(array: Array) -> Array:
    return array.astype(np.float32)


def _times(count: int, step: Callable[[Array], Array], x: Array) -> Array:
    for _ in range(count):
        x = step(x)
    return x


def _softmax2(x: Array) -> Array:
    e = np.exp2(x - x.max(-1, keepdims=True))
    return np.asarray(e / e.sum(-1, keepdims=True))


MATH: dict[str, Callable[[Array], Array]] = {
    "fma": lambda x: x * 1.0001 + 0.5,
    "exp": lambda x: np.exp(x * 0.001),
    "exp2": lambda x: np.exp2(x * 0.001),
    "rsqrt": lambda x: 1 / np.sqrt(x + 2),
    "div": lambda x: 1.5 / (x + 2),
    "sum": lambda x: x * 0.5 + x.sum() * 1e-6,
    "max": lambda x: x * 0.5 + x.max() * 1e-6,
}
ROWS: dict[str, Callable[[Array], Array]] = {
    "sum": lambda x: x * 0.5 + x.sum(1)[:, None] * 1e-6,
    "max": lambda x: x * 0.5 + x.max(1)[:, None] * 1e-6,
    "softmax": lambda x: _softmax2(x) + 0.1,
}


def vadd() -> Case:
    x, y = _single(1152), _single(1152)
    return Case(shipped.vadd, (5,), (x, y), np.zeros_like(x), x + y, {"n": 1152, "BLOCK": 256}, 0)


def sm_load(stages: int = 3) -> Case:
    p = _half(4 * 96)
    expected = _wide(p).reshape(4, 3, 32).sum(1)
    constants = {"n": 96, "BLOCK": 32, "STAGES": stages}
    return Case(measured.sm_load, (4,), (p,), np.zeros((4, 32), np.float32), expected, constants)


def sm_dot() -> Case:
    a, b = _half(32, 16), _half(16, 32)
    expected = np.stack([3 * (_wide(a) @ _wide(b))] * 2)
    constants = {"rounds": 3, "M": 32, "N": 32, "K": 16}
    return Case(measured.sm_dot, (2,), (a, b), np.zeros((2, 32, 32), np.float32), expected, constants)


def sm_math(op: str) -> Case:
    p = _single(128)
    expected = np.stack([_times(3, MATH[op], p)] * 2)
    constants = {"rounds": 3, "OP": op, "BLOCK": 128}
    return Case(measured.sm_math, (2,), (p,), np.zeros((2, 128), np.float32), expected, constants, 1e-5)


def sm_rows(op: str) -> Case:
    p = _single(16, 32)
    constants = {"rounds": 2, "OP": op, "R": 16, "C": 32}
    return Case(kernels.sm_rows, (1,), (p,), np.zeros_like(p), _times(2, ROWS[op], p), constants, 1e-5)


def _of_rows() -> tuple[Array, Array, dict[str, Any]]:
    x = _half(7, 128)
    return x, _wide(x), {"cols": 128, "BLOCK": 256}


def softmax_rows() -> Case:
    x, v, constants = _of_rows()
    e = np.exp(v - v.max(1, keepdims=True))
    return Case(shipped.softmax_rows, (7,), (x,), np.zeros_like(x), e / e.sum(1, keepdims=True), constants)


def rmsnorm_rows() -> Case:
    x, v, constants = _of_rows()
    w = _half(128)
    expected = v / np.sqrt((v * v).mean(1, keepdims=True) + 1e-5) * w
    return Case(shipped.rmsnorm_rows, (7,), (x, w), np.zeros_like(x), expected, constants)


def layernorm_rows() -> Case:
    x, v, constants = _of_rows()
    w, b = _half(128), _half(128)
    expected = (v - v.mean(1, keepdims=True)) / np.sqrt(v.var(1, keepdims=True) + 1e-5) * w + b
    return Case(shipped.layernorm_rows, (7,), (x, w, b), np.zeros_like(x), expected, constants)


def silu_mul() -> Case:
    g, u = _half(1152), _half(1152)
    expected = _wide(g) / (1 + np.exp(-_wide(g))) * u
    return Case(shipped.silu_mul, (5,), (g, u), np.zeros_like(g), expected, {"n": 1152, "BLOCK": 256})


def matmul_blocks(stages: int = 3, size: tuple[int, int, int] = (100, 64, 96)) -> Case:
    m, n, k = size
    a, b = _half(m, k), _half(k, n)
    constants = {"M": m, "N": n, "K": k, "BM": 32, "BN": 32, "BK": 32, "GROUP": 2, "STAGES": stages}
    grid = (math.ceil(m / 32) * (n // 32),)
    out = np.zeros((m, n), np.float16)
    return Case(shipped.matmul_blocks, grid, (a, b), out, _wide(a) @ _wide(b), constants)


def attend(causal: bool, stages: int = 3) -> Case:
    h, t, d = 2, 64, 32
    q, k, v = _half(h, t, d), _half(h, t, d), _half(h, t, d)
    scores = np.einsum("htd,hsd->hts", _wide(q), _wide(k)) * 0.2
    if causal:
        scores = np.where(np.arange(t)[:, None] >= np.arange(t)[None], scores, -1e30)
    expected = np.einsum("hts,hsd->htd", _softmax2(scores), _wide(v))
    constants = {"T": t, "scale": 0.2, "D": d, "BM": 32, "BN": 16, "CAUSAL": causal, "STAGES": stages}
    return Case(shipped.attend, (t // 32, h), (q, k, v), np.zeros_like(q), expected, constants, 2e-3)


def decode_attend() -> Case:
    b, g, t, d = 3, 16, 64, 32
    q, k, v = _half(b, g, d), _half(b, t, d), _half(b, t, d)
    scores = np.einsum("bgd,btd->bgt", _wide(q), _wide(k)) * 0.2
    expected = np.einsum("bgt,btd->bgd", _softmax2(scores), _wide(v))
    constants = {"T": t, "scale": 0.2, "D": d, "G": g, "BN": 32, "STAGES": 3}
    return Case(shipped.decode_attend, (b,), (q, k, v), np.zeros_like(q), expected, constants, 2e-3)


def transpose_blocks() -> Case:
    x = _half(64, 96)
    constants = {"R": 64, "C": 96, "B": 32}
    return Case(shipped.transpose_blocks, (2, 3), (x,), np.zeros((96, 64), np.float16), x.T, constants, 0)


def gemv_rows() -> Case:
    w, x = _half(128, 128), _half(128)
    constants = {"K": 128, "BN": 16, "BK": 32, "STAGES": 3}
    expected = _wide(w) @ _wide(x)
    return Case(shipped.gemv_rows, (8,), (w, x), np.zeros(128, np.float16), expected, constants)


def sm_copy() -> Case:
    p = _half(4 * 96)
    return Case(kernels.sm_copy, (4,), (p,), np.zeros_like(p), p, {"n": 96, "BLOCK": 32, "STAGES": 3}, 0)


def sm_fill() -> Case:
    out = np.zeros(384, np.float16)
    return Case(kernels.sm_fill, (4,), (), out, np.ones(384), {"n": 96, "BLOCK": 32}, 0)


CASES: dict[str, Callable[[], Case]] = {
    **{one.__name__: one for one in (vadd, sm_load, sm_dot, softmax_rows, rmsnorm_rows, layernorm_rows)},
    **{one.__name__: one for one in (silu_mul, matmul_blocks, decode_attend, transpose_blocks, gemv_rows)},
    **{one.__name__: one for one in (sm_copy, sm_fill)},
    "attend": lambda: attend(False),
    "attend causal": lambda: attend(True),
    **{f"sm_math {op}": (lambda op=op: sm_math(op)) for op in MATH},
    **{f"sm_rows {op}": (lambda op=op: sm_rows(op)) for op in ROWS},
}
"""All 16 kernels."""
