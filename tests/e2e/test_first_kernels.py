"""Thirty kernels such as people write first who know Triton: each runs and is right, or its error leads on.

Written before the language was extended, from the side of the user: what they expect is the specification.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

import kernbench as kb
import kernbench.tl as tl
from kernbench.errors import KernBenchError

RNG = np.random.default_rng(7)
F32 = RNG.standard_normal((16, 32)).astype(np.float32)
F16 = RNG.standard_normal((16, 32)).astype(np.float16)
VEC = RNG.standard_normal(100).astype(np.float32)
INT = RNG.integers(-50, 50, (8, 16)).astype(np.int32)
CASES: dict[str, Case] = {}


@dataclass
class Case:
    """A kernel with its arrays, constants and what comes of it: ``expected`` arrays or words of an error."""

    kernel: Callable[..., Any]
    args: tuple[Any, ...] = ()
    out: Any = None
    constants: dict[str, Any] = field(default_factory=dict)
    expected: Callable[[], Any] | None = None
    error: str = ""
    dp: Any = None


def case(
    *args: Any, out: Any = None, expected: Any = None, error: str = "", dp: Any = None, **constants: Any
):
    def register(kernel: Callable[..., Any]) -> Callable[..., Any]:
        CASES[kernel.__name__] = Case(kernel, args, out, constants, expected, error, dp)
        return kernel

    return register


def like(array: Any, dtype: Any = None, shape: Any = None) -> Any:
    return np.zeros(array.shape if shape is None else shape, array.dtype if dtype is None else dtype)


# -- elementwise ------------------------------------------------------------------------------------------


@case(F32, F32, out=like(F32), expected=lambda: F32 + F32)
def add(x, y, out, tl):
    tl.store(out, tl.load(x) + tl.load(y))


@case(VEC, out=like(VEC), expected=lambda: VEC * 2, n=100, BLOCK=128)
def masked_tail(x, out, n, BLOCK: tl.constexpr, tl):
    offsets = tl.arange(0, BLOCK)
    mask = offsets < n
    values = tl.load(x, shape=(BLOCK,), mask=mask, other=0.0)
    tl.store(out, values * 2.0, mask=mask)


@case(F16, out=like(F32), expected=lambda: F16.astype(np.float32) * np.float32(0.1))
def cast_then_scale(x, out, tl):
    tl.store(out, tl.load(x).to(tl.float32) * 0.1)


@case(F32, out=like(F32), expected=lambda: np.where(F32 > 0, F32, 0.01 * F32))
def leaky_relu(x, out, tl):
    v = tl.load(x)
    tl.store(out, tl.where(v > 0, v, v * 0.01))


@case(INT, INT[::-1].copy() | 1, out=like(INT), expected=lambda: (INT // (INT[::-1] | 1)) % 7 + (INT & 3))
def integers(x, y, out, tl):
    a, b = tl.load(x), tl.load(y)
    tl.store(out, a // b % 7 + (a & 3))


@case(
    np.abs(F32) + 1, out=like(F32), expected=lambda: 1 / np.sqrt(np.abs(F32) + 1) + np.tanh(np.abs(F32) + 1)
)
def rsqrt_and_tanh(x, out, tl):
    v = tl.load(x)
    tl.store(out, tl.rsqrt(v) + tl.tanh(v))


def gelu_of(x):
    from scipy.special import erf

    return 0.5 * x * (1 + erf(x / np.sqrt(2)))


@case(F32, out=like(F32), expected=lambda: gelu_of(F32))
def gelu(x, out, tl):
    v = tl.load(x)
    tl.store(out, 0.5 * v * (1.0 + tl.erf(v * 0.70710678)))


@case(F32, out=like(F32), expected=lambda: F32**2 + 2.0 ** np.floor(F32))
def powers(x, out, tl):
    v = tl.load(x)
    tl.store(out, v**2 + tl.exp2(tl.floor(v)))


# -- shapes -----------------------------------------------------------------------------------------------


@case(F32, out=like(F32, shape=(32, 16)), expected=lambda: F32.T)
def transpose(x, out, tl):
    tl.store(out, tl.trans(tl.load(x)))


@case(F32, VEC[:32].copy(), out=like(F32), expected=lambda: F32 + VEC[:32][None, :])
def add_bias_row(x, bias, out, tl):
    tl.store(out, tl.load(x) + tl.load(bias)[None, :])


@case(VEC[:16].copy(), VEC[16:48].copy(), out=like(F32), expected=lambda: np.outer(VEC[:16], VEC[16:48]))
def outer_product(x, y, out, tl):
    tl.store(out, tl.load(x)[:, None] * tl.load(y)[None, :])


@case(F32, out=like(F32, shape=(16, 16)), expected=lambda: F32[:, 16:] - F32[:, :16])
def halves(x, out, tl):
    v = tl.load(x)
    tl.store(out, v[:, 16:] - v[:, :16])


@case(F32, out=like(F32, shape=(64, 8)), expected=lambda: F32.reshape(64, 8))
def reshape(x, out, tl):
    tl.store(out, tl.reshape(tl.load(x), (64, 8)))


@case(VEC[:32].copy(), out=like(F32), expected=lambda: np.broadcast_to(VEC[:32], (16, 32)))
def broadcast(x, out, tl):
    tl.store(out, tl.broadcast_to(tl.load(x), (16, 32)))


# -- reductions -------------------------------------------------------------------------------------------


def softmax_of(x):
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


@case(F32, out=like(F32), expected=lambda: softmax_of(F32))
def softmax_by_hand(x, out, tl):
    v = tl.load(x)
    e = tl.exp(v - tl.max(v, axis=1))
    tl.store(out, e / tl.sum(e, axis=1))


@case(F32, out=like(F32, np.int32, (16,)), expected=lambda: F32.argmax(axis=1))
def argmax(x, out, tl):
    tl.store(out, tl.argmax(tl.load(x), axis=1, keep_dims=False))


@case(INT, out=like(INT), expected=lambda: INT.cumsum(axis=1))
def cumsum(x, out, tl):
    tl.store(out, tl.cumsum(tl.load(x), axis=1))


SIGNS = np.where(INT % 2, -1, 1).astype(INT.dtype)


@case(SIGNS, out=like(SIGNS), expected=lambda: SIGNS.cumprod(axis=1))
def cumprod(x, out, tl):
    tl.store(out, tl.cumprod(tl.load(x), axis=1))


WEIGHT, COLUMN = np.eye(32, 48, dtype=np.float32), np.arange(1, 17, dtype=np.float32).reshape(16, 1)


@case(
    F32,
    WEIGHT,
    COLUMN,
    out=like(F32, np.float32, (16, 48)),
    expected=lambda: (F32 @ WEIGHT) * COLUMN,
)
def rows_scaled_by_a_column(x, w, column, out, tl):
    scaled = [{"op": "mul", "value": tl.ref(column)}]
    tl.wait(tl.composite("gemm", tl.ref(x), tl.ref(w), out, tile_shape=(8, 32, 16), epilogue=scaled))


def layer_norm_of(x, w, b):
    m = x.mean(axis=1, keepdims=True)
    return (x - m) / np.sqrt(((x - m) ** 2).mean(axis=1, keepdims=True) + 1e-5) * w + b


@case(
    F32,
    VEC[:32].copy(),
    VEC[32:64].copy(),
    out=like(F32),
    expected=lambda: layer_norm_of(F32, VEC[:32], VEC[32:64]),
)
def layer_norm(x, w, b, out, tl):
    v = tl.load(x)
    mean = tl.sum(v, axis=1) / v.shape[1]
    centred = v - mean
    variance = tl.sum(centred * centred, axis=1) / v.shape[1]
    tl.store(out, centred * tl.rsqrt(variance + 1e-5) * tl.load(w) + tl.load(b))


# -- memory -----------------------------------------------------------------------------------------------


@case(F32, out=like(F32, shape=(8, 8)), expected=lambda: F32[4:12, 8:16])
def strided_tile(x, out, tl):
    tile = tl.load(x + (4 * 32 + 8) * 4, shape=(8, 8), strides=(32, 1), dtype=x.dtype)
    tl.store(out, tile)


@case(F32, out=like(F32), expected=lambda: F32 + 1, BM=8, BN=8)
def block_pointers(x, out, BM: tl.constexpr, BN: tl.constexpr, tl):
    rows, columns = x.shape
    for m in tl.static_range(0, rows, BM):
        source = tl.make_block_ptr(
            x, shape=(rows, columns), strides=(columns, 1), offsets=(m, 0), block_shape=(BM, BN), order=(1, 0)
        )
        target = tl.make_block_ptr(
            out,
            shape=(rows, columns),
            strides=(columns, 1),
            offsets=(m, 0),
            block_shape=(BM, BN),
            order=(1, 0),
        )
        for _ in range(0, columns, BN):
            tl.store(target, tl.load(source) + 1.0)
            source, target = tl.advance(source, (0, BN)), tl.advance(target, (0, BN))


@case(F32[:10, :20].copy(), out=like(F32, shape=(10, 20)), expected=lambda: F32[:10, :20] * 3)
def boundary_check(x, out, tl):
    source = tl.make_block_ptr(x, x.shape, (20, 1), (0, 0), (16, 32), (1, 0))
    target = tl.make_block_ptr(out, out.shape, (20, 1), (0, 0), (16, 32), (1, 0))
    tl.store(
        target, tl.load(source, boundary_check=(0, 1), padding_option="zero") * 3.0, boundary_check=(0, 1)
    )


@case(F32, out=like(F32, shape=(32, 16)), expected=lambda: F32.T)
def transpose_by_strides(x, out, tl):
    tl.store(out, tl.load(x, shape=(32, 16), strides=(1, 32)))


# -- products ---------------------------------------------------------------------------------------------


@case(
    F16,
    F16.T.copy(),
    out=like(F32, shape=(16, 16)),
    expected=lambda: F16.astype(np.float32) @ F16.T.astype(np.float32),
)
def matmul_operator(a, b, out, tl):
    tl.store(out, tl.load(a).to(tl.float32) @ tl.load(b).to(tl.float32))


A, B = (RNG.standard_normal(s).astype(np.float16) for s in ((32, 64), (64, 32)))


@case(
    A,
    B,
    out=np.zeros((32, 32), np.float32),
    expected=lambda: A.astype(np.float32) @ B.astype(np.float32),
    BK=16,
)
def tiled_matmul(a, b, c, BK: tl.constexpr, tl):
    a_ptr = tl.make_block_ptr(a, (32, 64), (64, 1), (0, 0), (32, BK), (1, 0))
    b_ptr = tl.make_block_ptr(b, (64, 32), (32, 1), (0, 0), (BK, 32), (1, 0))
    acc = tl.zeros((32, 32), dtype=tl.float32)
    for _ in range(0, 64, BK):
        acc += tl.dot(tl.load(a_ptr), tl.load(b_ptr), out_dtype=tl.float32)
        a_ptr, b_ptr = tl.advance(a_ptr, (0, BK)), tl.advance(b_ptr, (BK, 0))
    tl.store(c, acc)


def attention_of(q, k, v, causal):
    s = q.astype(np.float32) @ k.astype(np.float32).T / np.sqrt(q.shape[1])
    if causal:
        s = np.where(np.arange(len(q))[:, None] >= np.arange(len(k))[None, :], s, -np.inf)
    return softmax_of(s) @ v.astype(np.float32)


Q, K, V = (RNG.standard_normal((32, 16)).astype(np.float16) for _ in range(3))


@case(
    Q, K, V, out=np.zeros((32, 16), np.float32), expected=lambda: attention_of(Q, K, V, causal=True), BLOCK=8
)
def flash_attention(q, k, v, out, BLOCK: tl.constexpr, tl):
    n, d = q.shape
    for start_m in tl.static_range(0, n, BLOCK):
        rows = start_m + tl.arange(0, BLOCK)
        query = tl.load(tl.make_block_ptr(q, (n, d), (d, 1), (start_m, 0), (BLOCK, d), (1, 0)))
        m = tl.full((BLOCK, 1), -1e30, tl.float32)
        total = tl.zeros((BLOCK, 1), tl.float32)
        acc = tl.zeros((BLOCK, d), tl.float32)
        for start_n in range(0, start_m + BLOCK, BLOCK):
            key = tl.load(tl.make_block_ptr(k, (n, d), (d, 1), (start_n, 0), (BLOCK, d), (1, 0)))
            value = tl.load(tl.make_block_ptr(v, (n, d), (d, 1), (start_n, 0), (BLOCK, d), (1, 0)))
            scores = tl.dot(query, tl.trans(key), out_dtype=tl.float32) * d**-0.5
            columns = start_n + tl.arange(0, BLOCK)
            scores = tl.where(rows[:, None] >= columns[None, :], scores, -1e30)
            new_m = tl.maximum(m, tl.max(scores, axis=1))
            p = tl.exp(scores - new_m)
            scale = tl.exp(m - new_m)
            total = total * scale + tl.sum(p, axis=1)
            acc = acc * scale + tl.dot(p.to(tl.float16), value, out_dtype=tl.float32)
            m = new_m
        tl.store(tl.make_block_ptr(out, (n, d), (d, 1), (start_m, 0), (BLOCK, d), (1, 0)), acc / total)


# -- what is done differently here ------------------------------------------------------------------------


@case(VEC, out=like(VEC), error=r"no tensors of pointers.*make_block_ptr")
def tensor_of_pointers(x, out, tl):
    offsets = tl.arange(0, 64)
    tl.store(out + offsets, tl.load(x + offsets))


@case(VEC, out=like(VEC), error=r"tl\.atomic_max.*tl\.atomic_add.*tl\.store")
def other_atomics(x, out, tl):
    tl.atomic_max(out, tl.load(x))


@case(F32, out=like(F32), error=r"tl has no 'softmx'; did you mean 'softmax'")
def a_typing_error(x, out, tl):
    tl.store(out, tl.softmx(tl.load(x)))


@case(F32, out=like(F32), expected=lambda: F32 * (F32.sum() > 0))
def branch_on_a_computed_value(x, out, tl):
    v = tl.load(x)
    if tl.sum(tl.sum(v, axis=1), axis=0)[0, 0] > 0:
        tl.store(out, v)


@case(F32, out=like(F32), error=r"num_warps.*no warps", num_warps=4)
def warps(x, out, tl):
    tl.store(out, tl.load(x))


@case(F32, out=like(F32), expected=lambda: F32 * 2)
def without_tl_as_an_argument(x, out):
    tl.store(out, tl.load(x) * 2.0)


@pytest.mark.parametrize("name", CASES)
def test_first_kernels(name: str) -> None:
    wanted = CASES[name]
    if wanted.error:
        with pytest.raises(KernBenchError, match=wanted.error):
            kb.run_kernel(wanted.kernel, *wanted.args, out=wanted.out, topology="minimal", **wanted.constants)
        return
    done = kb.run_kernel(wanted.kernel, *wanted.args, out=wanted.out, topology="minimal", **wanted.constants)
    assert wanted.expected is not None
    tolerance = 2e-2 if any(getattr(a, "dtype", None) == np.float16 for a in wanted.args) else 1e-5
    np.testing.assert_allclose(done.output, wanted.expected(), rtol=tolerance, atol=tolerance)
    assert done.latency_ns > 0


def test_there_are_thirty() -> None:
    assert len(CASES) >= 30
