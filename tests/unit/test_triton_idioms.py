"""What people write in Triton without a second thought, against numpy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import kernbench as kb
import kernbench.triton as triton
import kernbench.triton.language as tl
from kernbench.language import interpret
from kernbench.triton.language.extra import libdevice
from kernbench.triton.language.extra.cuda.libdevice import rsqrt
from kernbench.triton.random import philox

N = 16
X = np.random.default_rng(4).integers(0, 9, (N, N)).astype(np.float32)
LAST: tl.constexpr = tl.constexpr(N - 1)
Array = np.ndarray[Any, Any]


@triton.jit
def block(p):
    return p + tl.arange(0, N)[:, None] * N + tl.arange(0, N)[None, :]


def descriptor(x):
    desc = tl.make_tensor_descriptor(x, shape=[N, N], strides=[N, 1], block_shape=[N, N])
    return desc.load([0, 0])


def rows_by_while(x):
    total, row = tl.zeros((N,), dtype=tl.float32), 0
    while row < N:
        total += tl.load(x + row * N + tl.arange(0, N))
        row += 1
    return total


def rows_by_range(x):
    total = tl.zeros((N,), dtype=tl.float32)
    for row in tl.range(0, N, num_stages=3, warp_specialize=True, flatten=True):
        total += tl.load(x + row * N + tl.arange(0, N), cache_modifier=".cg", eviction_policy="evict_last")
    return total


def constants(x):
    scale: tl.constexpr = 2
    return tl.load(block(x)) * scale + LAST


def gathered(x):
    flat = tl.load(x + tl.arange(0, N)).to(tl.int32)
    return tl.gather(tl.load(x + tl.arange(0, N)), flat, 0)


def best(x):
    value, place = tl.max(tl.load(block(x)), axis=1, return_indices=True)
    return value * 100 + place


def by_type(x):
    value = tl.load(block(x))
    assert x.dtype.element_ty is tl.float32 is value.dtype
    assert not value.dtype.is_int64()
    assert tl.int8.is_int_signed()
    assert tl.float16.name == "fp16"
    return value + (1 if value.dtype.is_fp32() else 0) + value.numel


def constant_values(x):
    assert LAST.value == 15
    assert tl.float32.value is tl.float32
    return tl.load(block(x)) * LAST.value


def low_and_high_halves(x):
    bits = (tl.load(block(x)).to(tl.int32) - 3) * 1000
    return ((bits >> 4) & 0xF) - ((bits << 3) >> tl.arange(0, N)[None, :]) + (1 << (bits & 7))


def of_halves(x: Array) -> Array:
    bits = (x.astype(int) - 3) * 1000
    return ((bits >> 4) & 0xF) - ((bits << 3) >> np.arange(N)) + (1 << (bits & 7))


def magnitudes_by_bits(x):
    value = 4 - tl.load(block(x))
    bits = value.to(tl.int32, bitcast=True) & 0x7FFFFFFF
    return bits.to(tl.float32, bitcast=True) + tl.cast(tl.arange(0, N) * 0, tl.float32, bitcast=True)


def rounded(x):
    value = tl.load(block(x)) * 0.5 - 2.0
    return libdevice.round(value) + 100 * libdevice.rint(value) + 10000 * libdevice.trunc(value)


def of_rounded(x: Array) -> Array:
    value = x / 2 - 2
    away = np.sign(value) * np.floor(np.abs(value) + 0.5)
    return away + 100 * np.rint(value) + 10000 * np.trunc(value)


def near_zero(x):
    small = (tl.load(block(x)) - 4.0) * 1e-6
    return libdevice.log1p(small) * 1e6 + libdevice.expm1(small) * 1e6


CASES: dict[str, tuple[Callable[[Any], Any], Callable[[Array], Array]]] = {
    "descriptor": (descriptor, lambda x: x),
    "while": (rows_by_while, lambda x: x.sum(0)),
    "range": (rows_by_range, lambda x: x.sum(0)),
    "constants": (constants, lambda x: x * 2 + 15),
    "gather": (gathered, lambda x: x[0][x[0].astype(int)]),
    "max with its index": (best, lambda x: x.max(1) * 100 + x.argmax(1)),
    "methods": (lambda x: tl.load(block(x)).to(tl.float16).sum(axis=1).expand_dims(0), lambda x: x.sum(1)),
    "libdevice": (lambda x: tl.extra.cuda.libdevice.tanh(tl.load(block(x))), np.tanh),
    "tl.math": (lambda x: tl.math.exp2(tl.load(block(x))), np.exp2),
    "permute": (lambda x: tl.permute(tl.load(block(x)), (1, 0)), lambda x: x.T),
    "split": (lambda x: tl.split(tl.load(block(x)).reshape(N, N // 2, 2))[0], lambda x: x[:, ::2]),
    "a number from memory": (lambda x: tl.load(block(x)) * tl.load(x + 5), lambda x: x * x[0, 5]),
    "swizzle2d": (
        lambda x: tl.load(block(x)) + sum(tl.swizzle2d(tl.program_id(0), 1, 2, 2, 2)),
        lambda x: x + 1,
    ),
    "fp8 by name": (lambda x: tl.load(block(x)).to("fp8e4nv").to("fp32"), lambda x: x),
    "a mask that broadcasts": (
        lambda x: tl.load(block(x), mask=tl.arange(0, N)[None, :] < 7, other=-1.0),
        lambda x: np.where(np.arange(N) < 7, x, -1),
    ),
    "a type by itself": (by_type, lambda x: x + 257),
    "the value of a constant": (constant_values, lambda x: x * 15),
    "shifts": (low_and_high_halves, of_halves),
    "bits as another type": (magnitudes_by_bits, lambda x: np.abs(4 - x)),
    "rounding of libdevice": (rounded, of_rounded),
    "libdevice near zero": (
        near_zero,
        lambda x: (np.log1p((x - 4.0) * 1e-6) + np.expm1((x - 4.0) * 1e-6)) * 1e6,
    ),
    "a scalar with an axis": (
        lambda x: tl.load(x + (tl.num_programs(0)[None] * N)[:, None] + tl.arange(0, N)[None, :]),
        lambda x: x[1],
    ),
    "branch on the block": (lambda x: tl.load(block(x)) if tl.program_id(0) == 0 else 0.0, lambda x: x),
}


@pytest.mark.parametrize("name", CASES)
def test_an_idiom_is_what_numpy_makes_of_it(name: str) -> None:
    body, reference = CASES[name]
    expected = reference(X).ravel()

    @triton.jit
    def kernel(x, out, COUNT: tl.constexpr):
        tl.store(out + tl.arange(0, COUNT), tl.ravel(body(x)))

    out = np.zeros(expected.size, np.float32)
    done = kb.run_kernel(kernel[(1,)], X, out=out, topology="minimal", COUNT=expected.size)
    np.testing.assert_allclose(done.output, expected, rtol=1e-5)


def test_idioms_of_public_kernels() -> None:
    """Of TritonBench-G: ``float()`` and its methods, scalars with axes, a seed each, heuristics of warps."""

    @triton.heuristics({"num_warps": lambda given: 8, "B": lambda given: given["n"]})
    @triton.jit
    def kernel(x, seeds, out, drawn, whole, n, B: tl.constexpr):
        i = tl.arange(0, B)
        there = tl.make_block_ptr(out, (B,), (1,), (0,), (B,), (0,))
        below = float("-inf")
        every = n > 0
        value = tl.load(x + i)
        kept = tl.where((i < 5) & every[:, None], value, below.to(x.type.element_ty))
        tl.store(there, kept.to(there.type.element_ty))
        tl.store(drawn + i, tl.rand(tl.load(seeds + i), i))
        tl.store(whole + i, libdevice.llrint(value * 0.5) // 2)

    seeds = np.array([1, 2, -3, 1 << 40, 5, 6, 7, 8], np.int64)
    x = X.ravel()[:8].copy()
    out, drawn, whole = np.zeros(8, np.float16), np.zeros(8, np.float32), np.zeros(8, np.int32)
    interpret(kernel[(1,)], x, seeds, out, drawn, whole, 8)
    np.testing.assert_array_equal(out, np.where(np.arange(8) < 5, x, -np.inf).astype(np.float16))
    np.testing.assert_array_equal(whole, np.rint(x / 2).astype(int) // 2)
    words = [philox(int(seed), np.array([at]), 10)[0].view(np.int32)[0] for at, seed in enumerate(seeds)]
    np.testing.assert_allclose(drawn, [(~one if one < 0 else one) * 2.0**-31 for one in words], rtol=1e-6)
    assert len(set(drawn)) == 8


def test_arguments_that_are_floats_are_scalars_of_the_kernel() -> None:
    @triton.jit
    def kernel(x, out, eps, scale, n, COUNT: tl.constexpr):
        at = tl.arange(0, COUNT)
        short = (eps * 2).to(tl.float16)
        mean = tl.sum(tl.load(x + at)) / n.to(tl.float32).to(tl.float32)
        wide = tl.load(x + at) * rsqrt(mean + short) * (1.0 / scale).to(x.dtype.element_ty)
        tl.store(out + at, wide + (-scale).to(tl.int32) + scale.to(tl.int32, bitcast=True))

    done = kb.run_kernel(
        kernel[(1,)], X[0], out=np.zeros(N, np.float32), topology="minimal", eps=0.1, scale=2.5, n=N, COUNT=N
    )
    expected = X[0] / np.sqrt(X[0].mean() + np.float16(0.2)) / 2.5 - 2 + 0x40200000
    np.testing.assert_allclose(done.output, expected, rtol=1e-5)
