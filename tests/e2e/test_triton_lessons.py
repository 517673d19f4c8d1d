"""Kernels of the kinds that Triton's tutorials teach, written anew, against numpy."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import kernbench as kb
import kernbench.triton as triton
import kernbench.triton.language as tl
from kernbench.host import DPPolicy

pytestmark = pytest.mark.slow
RNG = np.random.default_rng(11)
EIGHT = DPPolicy(pe="row_wise", num_cubes=1)
Array = np.ndarray[Any, Any]


def near(got: Any, expected: Array, tolerance: float) -> None:
    wide = np.asarray(got).astype(np.float64)
    np.testing.assert_allclose(wide, expected, rtol=0, atol=tolerance * np.abs(expected).max())


@triton.jit
def softmax_persistent(out, x, rows, columns, BLOCK: tl.constexpr, STAGES: tl.constexpr):
    at = tl.arange(0, BLOCK)
    for row in tl.range(tl.program_id(0), rows, tl.num_programs(0), num_stages=STAGES):
        values = tl.load(x + row * columns + at, mask=at < columns, other=-float("inf"))
        weights = tl.exp(values - tl.max(values, axis=0))
        tl.store(out + row * columns + at, weights / tl.sum(weights, axis=0), mask=at < columns)


@pytest.mark.parametrize("blocks", [1, 3, 8])
def test_a_persistent_softmax(blocks: int) -> None:
    x = RNG.standard_normal((24, 100)).astype(np.float32)
    out = np.zeros_like(x)
    done = kb.run_kernel(
        softmax_persistent[(blocks,)], out, x, dp=EIGHT, rows=24, columns=100, BLOCK=128, STAGES=3
    )
    weights = np.exp(x - x.max(1, keepdims=True))
    near(done.arrays[0], weights / weights.sum(1, keepdims=True), 1e-6)


@triton.jit
def leaky(x):
    return tl.where(x >= 0, x, 0.01 * x)


@triton.jit
def product(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr):
    row, column = tl.swizzle2d(
        tl.program_id(0) // tl.cdiv(N, BN),
        tl.program_id(0) % tl.cdiv(N, BN),
        tl.cdiv(M, BM),
        tl.cdiv(N, BN),
        GROUP,
    )
    m, n = row * BM + tl.arange(0, BM), column * BN + tl.arange(0, BN)
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for first in range(0, K, BK):
        k = first + tl.arange(0, BK)
        x = tl.load(a + m[:, None] * K + k[None, :], mask=(m[:, None] < M) & (k[None, :] < K), other=0.0)
        y = tl.load(b + k[:, None] * N + n[None, :], mask=(k[:, None] < K) & (n[None, :] < N), other=0.0)
        total = tl.dot(x, y, total)
    inside = (m[:, None] < M) & (n[None, :] < N)
    tl.store(c + m[:, None] * N + n[None, :], leaky(total).to(c.dtype.element_ty), mask=inside)


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.float8_e5m2, ml_dtypes.float8_e4m3fn])
def test_a_product_in_groups_of_rows_with_an_epilogue(dtype: Any) -> None:
    m, n, k = 70, 50, 90
    a, b = RNG.standard_normal((m, k)).astype(dtype), RNG.standard_normal((k, n)).astype(dtype)
    out = np.zeros((m, n), np.float16)
    sizes = {"M": m, "N": n, "K": k, "BM": 32, "BN": 16, "BK": 32, "GROUP": 2}
    done = kb.run_kernel(product[(3 * 4,)], a, b, out=out, residents=2, **sizes)
    exact = a.astype(np.float64) @ b.astype(np.float64)
    near(done.output, np.where(exact >= 0, exact, 0.01 * exact), 1e-3)


@triton.jit
def dropout(x, out, n, p, seed, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    kept = tl.rand(seed, at) > p
    value = tl.load(x + at, mask=at < n)
    tl.store(out + at, tl.where(kept, value / (1 - p), 0.0), mask=at < n)


def test_seeded_dropout() -> None:
    x = np.ones(1000, np.float32)

    def dropped(seed: int) -> Array:
        return kb.run_kernel(
            dropout[(8,)], x, out=np.zeros_like(x), n=1000, p=0.25, seed=seed, BLOCK=128
        ).output

    one = dropped(1)
    assert set(np.unique(one)) == {np.float32(0), np.float32(1) / np.float32(0.75)}
    assert 0.7 < (one > 0).mean() < 0.8
    assert (dropped(1) == one).all()
    assert (dropped(2) != one).any()


@triton.jit
def norm_backward(x, dy, w, mean, rstd, dx, dw, locks, N, GROUPS: tl.constexpr, BLOCK: tl.constexpr):
    row, at = tl.program_id(0), tl.arange(0, BLOCK)
    inside = at < N
    value = tl.load(x + row * N + at, mask=inside, other=0.0).to(tl.float32)
    grad = tl.load(dy + row * N + at, mask=inside, other=0.0).to(tl.float32)
    scale = tl.load(rstd + row)
    hat = tl.where(inside, (value - tl.load(mean + row)) * scale, 0.0)
    weighted = tl.where(inside, tl.load(w + at, mask=inside) * grad, 0.0)
    one, two = tl.sum(hat * weighted, axis=0) / N, tl.sum(weighted, axis=0) / N
    tl.store(dx + row * N + at, (weighted - (hat * one + two)) * scale, mask=inside)
    group = row % GROUPS
    lock, used, part = locks + group, locks + GROUPS + group, dw + group * N + at
    share = grad * hat
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    if tl.load(used) == 0:
        tl.atomic_xchg(used, 1)
    else:
        share += tl.load(part, mask=inside)
    tl.store(part, share, mask=inside)
    tl.debug_barrier()
    tl.atomic_xchg(lock, 0)


@pytest.mark.parametrize("pes", [1, 8])
def test_a_backward_pass_whose_blocks_share_sums_under_locks(pes: int) -> None:
    rows, columns, groups = 16, 72, 8
    x, dy = (RNG.standard_normal((rows, columns)).astype(np.float32) for _ in range(2))
    w = RNG.standard_normal(columns).astype(np.float32)
    mean, rstd = x.mean(1), 1 / np.sqrt(x.var(1) + 1e-5)
    dx, dw, locks = np.zeros_like(x), np.zeros((groups, columns), np.float32), np.zeros(2 * groups, np.int32)
    dp = EIGHT if pes > 1 else None
    done = kb.run_kernel(
        norm_backward[(rows,)], x, dy, w, mean, rstd, out=[dx, dw, locks], dp=dp, N=columns, GROUPS=groups,
        BLOCK=128, residents=2,
    )  # fmt: skip
    assert done.run.verdict != "race", done.run.problem
    hat = (x - mean[:, None]) * rstd[:, None]
    grad = w * dy
    one, two = (hat * grad).mean(1, keepdims=True), grad.mean(1, keepdims=True)
    near(done.outputs[0], (grad - (hat * one + two)) * rstd[:, None], 1e-5)
    near(done.outputs[1].sum(0), (dy * hat).sum(0), 1e-5)
    assert (done.outputs[2] == [0] * groups + [1] * groups).all()


@triton.jit
def attend(
    q, k, v, out, tokens, scale, HEAD: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, CAUSAL: tl.constexpr
):
    first = tl.program_id(0) * BM
    side = [tokens, HEAD]
    queries = tl.make_tensor_descriptor(q, side, [HEAD, 1], [BM, HEAD]).load([first, 0])
    keys = tl.make_tensor_descriptor(k, side, [HEAD, 1], [BN, HEAD])
    values = tl.make_tensor_descriptor(v, side, [HEAD, 1], [BN, HEAD])
    best = tl.full([BM], float("-inf"), dtype=tl.float32)
    total, acc = tl.zeros([BM], dtype=tl.float32), tl.zeros([BM, HEAD], dtype=tl.float32)
    rows = first + tl.arange(0, BM)
    for start in tl.range(0, first + BM if CAUSAL else tokens, BN, num_stages=2):
        scores = tl.dot(queries, keys.load([start, 0]).T) * (scale * 1.44269504)
        columns = start + tl.arange(0, BN)
        if CAUSAL:
            scores = tl.where(rows[:, None] >= columns[None, :], scores, float("-inf"))
        highest = tl.maximum(best, tl.max(scores, 1))
        weights, shrink = tl.math.exp2(scores - highest[:, None]), tl.math.exp2(best - highest)
        acc = tl.dot(weights.to(v.dtype.element_ty), values.load([start, 0]), acc * shrink[:, None])
        total, best = total * shrink + tl.sum(weights, 1), highest
    tl.make_tensor_descriptor(out, side, [HEAD, 1], [BM, HEAD]).store([first, 0], acc / total[:, None])


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float16, 2e-3), (ml_dtypes.float8_e5m2, 0.1)])
def test_attention_by_descriptors(dtype: Any, tolerance: float, causal: bool) -> None:
    tokens, head = 128, 32
    q, k, v = (RNG.standard_normal((tokens, head)).astype(dtype) for _ in range(3))
    out = np.zeros((tokens, head), np.float32)
    sizes = {"tokens": tokens, "scale": head**-0.5, "HEAD": head, "BM": 32, "BN": 32, "CAUSAL": causal}
    done = kb.run_kernel(attend[(4,)], q, k, v, out=out, **sizes)
    wide = [one.astype(np.float64) for one in (q, k, v)]
    scores = wide[0] @ wide[1].T * head**-0.5
    if causal:
        scores = np.where(np.tril(np.ones((tokens, tokens))) > 0, scores, -np.inf)
    weights = np.exp(scores - scores.max(1, keepdims=True))
    near(done.output, weights / weights.sum(1, keepdims=True) @ wide[2], tolerance)
