"""Kernels on numpy arrays, without hardware."""

from __future__ import annotations

import tracemalloc

import ml_dtypes
import numpy as np
import pytest

from kernbench.errors import KernelError, UsageError
from kernbench.language import interpret
from kernbench.support.dtypes import DTYPES, INDICES

RNG = np.random.default_rng(8)


def matmul(a, b, out, tl):
    tl.store(out, tl.dot(tl.load(a), tl.load(b)))


def composite(a, b, out, tl, epilogue=None, **options):
    tl.wait(tl.composite("gemm", a, b, out, epilogue=epilogue, **options))


@pytest.mark.parametrize("dtype", [name for name in DTYPES if name not in INDICES])
@pytest.mark.parametrize("kernel", [matmul, composite])
def test_products_in_every_type(dtype, kernel):
    kind = DTYPES[dtype]
    if kind.is_float:
        a, b = (RNG.standard_normal(shape).astype(kind.numpy) for shape in ((17, 100), (100, 9)))
        out = np.zeros((17, 9), kind.numpy)
        expected = (a.astype(float) @ b.astype(float)).astype(kind.numpy)
    else:
        a, b = (RNG.integers(-50, 50, shape).astype(kind.numpy) for shape in ((17, 100), (100, 9)))
        out = np.zeros((17, 9), np.int32)
        expected = a.astype(np.int64) @ b.astype(np.int64)
    assert interpret(kernel, a, b, out=out) is out
    np.testing.assert_allclose(
        out.astype(float), expected.astype(float), rtol=kind.tolerance, atol=10 * kind.tolerance
    )


def test_every_program_runs_with_its_ids():
    def kernel(out, width, tl):
        index = [tl.program_id(axis) for axis in range(3)]
        pes, cubes, sips = (tl.num_programs(axis) for axis in range(3))
        flat = (index[2] * cubes + index[1]) * pes + index[0]
        assert sips == 2
        tl.store(out + flat * width * 4, tl.full((width,), 100 * index[2] + 10 * index[1] + index[0], "i32"))

    out = np.zeros((2, 3, 4, 5), np.int32)
    interpret(kernel, out, 5, grid=(4, 3, 2))
    for sip, cube, pe in np.ndindex(2, 3, 4):
        assert (out[sip, cube, pe] == 100 * sip + 10 * cube + pe).all()


def test_later_programs_see_what_earlier_ones_wrote():
    def kernel(out, tl):
        tl.store(out, tl.load(out) * 2 + tl.program_id())

    out = np.ones(3, np.float32)
    interpret(kernel, out, grid=3)
    np.testing.assert_array_equal(out, np.full(3, ((1 * 2 + 0) * 2 + 1) * 2 + 2))


def test_computed_values_can_be_looked_at():
    seen = []

    def kernel(x, tl):
        y = tl.exp(tl.load(x))
        assert not y.pending
        seen.append(y.data.copy())
        if (tl.sum(y, 0) > 3)[0]:
            tl.store(x, y)

    x = np.ones(3, np.float32)
    interpret(kernel, x)
    np.testing.assert_array_equal(seen[0], np.exp(np.ones(3, np.float32)))
    np.testing.assert_array_equal(x, seen[0])


def test_only_written_arrays_are_touched_and_layout_does_not_matter():
    def kernel(x, out, tl):
        tl.store(out, tl.trans(tl.load(x)))

    x = np.arange(12, dtype=np.float32).reshape(4, 3).T
    x.flags.writeable = False
    out = np.zeros((8, 6), np.float32)[::2, ::2]
    interpret(kernel, x, out)
    np.testing.assert_array_equal(out, x.T)


def test_several_outputs_and_constants_by_name():
    def kernel(x, low, high, tl, limit):
        value = tl.load(x)
        tl.store(low, tl.minimum(value, limit))
        tl.store(high, tl.maximum(value, limit))

    x = np.arange(6, dtype=np.int8)
    low, high = interpret(kernel, x, out=(np.zeros(6, np.int8), np.zeros(6, np.int8)), limit=3)
    assert low.tolist() == [0, 1, 2, 3, 3, 3]
    assert high.tolist() == [3, 3, 3, 3, 4, 5]


def test_attention_like_kernel():
    def kernel(q, k, v, out, scale, tl):
        scores = tl.dot(tl.load(q), tl.trans(tl.load(k))) * scale
        tl.store(out, tl.dot(tl.softmax(scores, axis=1), tl.load(v)))

    q, k, v = (RNG.standard_normal((6, 8)).astype(np.float32) for _ in range(3))
    out = interpret(kernel, q, k, v, np.zeros((6, 8), np.float32), 0.5, out=None)
    assert out is None
    out = np.zeros((6, 8), np.float32)
    interpret(kernel, q, k, v, out, 0.5)
    weights = np.exp(q.astype(float) @ k.T * 0.5)
    np.testing.assert_allclose(out, weights / weights.sum(1, keepdims=True) @ v, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("scope", ["k_tile", "output_tile", "kernel"])
def test_epilogues_of_each_scope(scope):
    def kernel(a, b, bias, res, out, tl):
        epilogue = [
            {"op": "bias", "bias": tl.load(bias), "scope": scope},
            {"op": "relu", "scope": scope},
            {"op": "residual", "residual": tl.ref(res), "scope": scope},
            {"op": "dequant", "scale": bias, "zero_point": 1, "scope": scope},
        ]
        tl.composite("gemm", a, tl.load(b), out, epilogue=epilogue, tile_shape=(2, 5, 2))

    a, b = RNG.standard_normal((3, 10)).astype(np.float32), RNG.standard_normal((10, 4)).astype(np.float32)
    bias, res = RNG.standard_normal(4).astype(np.float32), RNG.standard_normal((3, 4)).astype(np.float32)
    out = interpret(kernel, a, b, bias, res, out=np.zeros((3, 4), np.float32))

    def apply(x):
        return (np.maximum(x + bias, 0) + res - 1) * bias

    parts = [a[:, :5] @ b[:5], a[:, 5:] @ b[5:]]
    expected = sum(map(apply, parts)) if scope == "k_tile" else apply(sum(parts))
    np.testing.assert_allclose(out, expected, rtol=1e-5, atol=1e-5)


def test_composites_use_the_tile_that_is_asked_for():
    a, b = RNG.standard_normal((2, 8)).astype(np.float32), RNG.standard_normal((8, 2)).astype(np.float32)
    relu = [{"op": "relu", "scope": "k_tile"}]

    def run(**options):
        return interpret(composite, a, b, out=np.zeros((2, 2), np.float32), epilogue=relu, **options)

    halves = np.maximum(a[:, :4] @ b[:4], 0) + np.maximum(a[:, 4:] @ b[4:], 0)
    np.testing.assert_allclose(run(tile=(2, 4, 2)), halves, rtol=1e-6)
    np.testing.assert_allclose(run(tile_shape=(2, 4, 2)), halves, rtol=1e-6)
    np.testing.assert_allclose(run(), np.maximum(a @ b, 0), rtol=1e-5)


def test_where_masks_and_bf16():
    def kernel(x, mask, out, tl):
        tl.store(out, tl.where(tl.load(mask), tl.load(x), -1.0))

    x = np.arange(4).astype(ml_dtypes.bfloat16)
    out = interpret(kernel, x, np.array([1, 0, 0, 5], np.int8), out=np.zeros(4, ml_dtypes.bfloat16))
    assert out.tolist() == [0, -1, -1, 3]


def test_empty_and_scalar_like_arrays():
    def kernel(empty, one, tl):
        assert empty.shape == (0,)
        tl.store(one, tl.load(one) + 1)

    one = np.array([1], np.int32)
    interpret(kernel, np.zeros(0, np.float32), one)
    assert one[0] == 2


def test_accesses_outside_of_all_arrays():
    def kernel(x, tl):
        tl.load(int(x) + 4, (4,), "f32")

    words = r"16 bytes at byte 4 of 'x', which has 16, are not within any array"
    with pytest.raises(KernelError, match=words) as caught:
        interpret(kernel, np.zeros(4, np.float32), grid=(1, 2, 1))
    assert caught.value.__notes__ == ["in kernel 'kernel' on sip0.cube0.pe0, program_id (0, 0, 0)"]


def test_wrong_use():
    with pytest.raises(UsageError, match="grid"):
        interpret(lambda tl: None, grid=(1, 0, 1))
    with pytest.raises(UsageError, match="complex128"):
        interpret(lambda x, tl: None, np.zeros(3, complex))
    with pytest.raises(KernelError, match="of 64 bytes free"):
        interpret(lambda tl: tl.zeros((64,)), scratch_bytes=64)


def test_long_loops_keep_no_values():
    def kernel(x, tl):
        for _ in range(500):
            tl.load(x) + 1

    x = np.zeros(16384, np.float32)
    tracemalloc.start()
    try:
        interpret(kernel, x)
        assert tracemalloc.get_traced_memory()[1] < 4_000_000  # 500 results are 65 MB
    finally:
        tracemalloc.stop()


def test_what_is_read_only_stays_so():
    def kernel(x, tl):
        tl.store(x, tl.load(x) + 1)

    x = np.zeros(4, np.float32)
    x.flags.writeable = False
    with pytest.raises(KernelError, match="read-only"):
        interpret(kernel, x)


def test_a_kernel_that_fails_is_closed():
    after = []

    def kernel(x, tl):
        try:
            tl.load(int(x) + 4096, (4,), "f32")
        finally:
            after.append("finally")
            tl.store(x, tl.zeros((4,), "f32"))
            after.append("stored")

    x = np.ones(4, np.float32)
    with pytest.raises(KernelError, match="not within any array"):
        interpret(kernel, x)
    assert (after, x.tolist()) == (["finally"], [1, 1, 1, 1])


def test_a_number_wins_over_nan_as_by_default_in_triton():
    nan = float("nan")
    results = {}

    def kernel(x, empty, tl):
        v, n = tl.load(x), tl.load(empty)
        for name in ("max", "min", "argmax", "argmin"):
            results[name] = float(getattr(tl, name)(v, 0)), float(getattr(tl, name)(n, 0))
        results["maximum"] = np.asarray(tl.maximum(v, 7.0)).tolist()
        results["minimum"] = np.asarray(tl.minimum(7.0, v)).tolist()
        results["clamp"] = np.asarray(tl.clamp(v, 6.5, 7.5)).tolist()

    interpret(kernel, np.array([nan, 6, 8], np.float32), np.array([nan, nan], np.float32))
    assert results["maximum"] == [7, 7, 8]
    assert results["minimum"] == [7, 6, 7]
    assert results["clamp"] == [6.5, 6.5, 7.5]
    assert [results[name][0] for name in ("max", "min", "argmax", "argmin")] == [8, 6, 2, 1]
    assert np.isnan([results[name][1] for name in ("max", "min")]).all()
    assert [results[name][1] for name in ("argmax", "argmin")] == [0, 0]


@pytest.mark.parametrize("dtype", ["f16", "bf16"])
def test_sums_of_short_floats_are_f32(dtype):
    seen = []

    def kernel(tl):
        total, running = tl.sum(tl.full((4096,), 20, dtype)), tl.cumsum(tl.full((4,), 20, dtype))
        seen.extend([total.dtype, float(total), running.dtype])

    interpret(kernel)
    assert seen == ["f32", 81920, "f32" if dtype == "bf16" else "f16"]


@pytest.mark.parametrize("name", ["floordiv", "mod"])
def test_integers_are_not_divided_by_zero(name):
    def kernel(x, by, tl):
        getattr(tl, name)(tl.load(x), tl.load(by))

    x, by = np.array([7, 8], np.int32), np.array([2, 0], np.int32)
    with pytest.raises(
        KernelError, match=rf"tl.{name}: an integer is divided by 0; .* \(index \(1,\)\) \(test_"
    ):
        interpret(kernel, x, by)
    with pytest.raises(KernelError, match=rf"tl.{name}: argument 'b': an integer is divided by 0"):
        interpret(lambda x, tl: getattr(tl, name)(tl.load(x), 0), x)
    interpret(kernel, x.astype(np.float32), by.astype(np.float32))
    interpret(lambda x, tl: getattr(tl, name)(0, tl.load(x)), x)


def test_axes_are_put_in_any_order():
    def kernel(x, tuple_, plain, tl):
        tl.store(tuple_, tl.trans(tl.load(x), (2, 0, -2)))
        tl.store(plain, tl.trans(tl.load(x), 2, 0, 1))

    x = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    for result in interpret(kernel, x, out=[np.zeros((4, 2, 3), np.float32) for _ in range(2)]):
        np.testing.assert_array_equal(result, x.transpose(2, 0, 1))
    with pytest.raises(
        KernelError, match=r"tl.trans: argument 'dims': \(0, 1\) must name each of the 3 axes once"
    ):
        interpret(lambda x, tl: tl.trans(tl.load(x), (0, 1)), x)
