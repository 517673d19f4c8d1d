"""Types that only memory or the matrix engine know: 8-bit floats, shared scales, pointers in memory."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import kernbench as kb
import kernbench.triton as triton
import kernbench.triton.language as tl
from kernbench.errors import KernBenchError
from kernbench.host import DPPolicy

RNG = np.random.default_rng(7)
Array = np.ndarray[Any, Any]
FLOATS = {"e4m3": ml_dtypes.float8_e4m3fn, "e5m2": ml_dtypes.float8_e5m2, "bf16": ml_dtypes.bfloat16}


def two_d(ptr, rows, columns):
    return ptr + tl.arange(0, rows)[:, None] * columns + tl.arange(0, columns)[None, :]


two_d = triton.jit(two_d)


@pytest.mark.parametrize("name", ["e4m3", "e5m2"])
def test_products_of_8_bit_floats_are_f32_and_results_are_rounded_once(name: str) -> None:
    @triton.jit
    def kernel(a, b, out, short, M: tl.constexpr, K: tl.constexpr, N: tl.constexpr):
        product = tl.dot(tl.load(two_d(a, M, K)), tl.load(two_d(b, K, N)))
        tl.store(two_d(out, M, N), product)
        tl.store(two_d(short, M, N), product.to(short.dtype.element_ty))

    a, b = (RNG.standard_normal(shape).astype(FLOATS[name]) for shape in ((16, 64), (64, 32)))
    expected = a.astype(np.float32) @ b.astype(np.float32)
    outputs = [np.zeros((16, 32), np.float32), np.zeros((16, 32), FLOATS[name])]
    done = kb.run_kernel(kernel[(1,)], a, b, out=outputs, topology="minimal", M=16, K=64, N=32)
    np.testing.assert_allclose(done.outputs[0], expected, rtol=1e-5, atol=1e-5)
    assert (done.outputs[1] == done.outputs[0].astype(FLOATS[name])).all()


@pytest.mark.parametrize(("name", "largest"), [("float8e4nv", 448), ("float8e5", 57344)])
def test_casts_to_8_bit_floats_round_to_even_and_stop_at_the_largest(name: str, largest: float) -> None:
    @triton.jit
    def kernel(x, out, n: tl.constexpr):
        at = tl.arange(0, n)
        tl.store(out + at, tl.load(x + at).to(getattr(tl, name)).to(tl.float32))

    x = np.array([1e9, -1e9, np.inf, np.nan, 17.0, 19.0, 0.3, -0.0], np.float32)
    done = kb.run_kernel(kernel[(1,)], x, out=np.zeros_like(x), topology="minimal", n=8)
    small = x[4:].astype(FLOATS["e4m3" if largest == 448 else "e5m2"]).astype(np.float32)
    np.testing.assert_array_equal(done.output, [largest, -largest, largest, np.nan, *small])
    assert done.run.verdict == "yes" or done.run.verified is not False


def test_bytes_without_a_sign_wrap_shift_in_zeros_and_name_elements() -> None:
    @triton.jit
    def kernel(x, y, table, packed, high, picked, total, limited, n: tl.constexpr):
        at = tl.arange(0, n)
        a, b = tl.load(x + at), tl.load(y + at)
        tl.static_assert(a.dtype is tl.uint8)
        tl.static_assert((a + b).dtype.is_int_unsigned())
        tl.store(packed + at, (a << 4) | (b & 0xF))
        tl.store(high + at, (a >> 4) + (a > b) * (~b))
        tl.store(picked + at, tl.load(table + a))
        tl.store(total, tl.sum(a) + tl.sum(at.to(tl.uint8)))
        tl.store(limited + at, (a.to(tl.float32) * 3.0 - 100.0).to(tl.uint8))

    x, y = (RNG.integers(0, 256, 64).astype(np.uint8) for _ in range(2))
    x[0], y[0] = 255, 200
    table = RNG.standard_normal(256).astype(np.float32)
    outputs = [np.zeros(64, t) for t in (np.uint8, np.uint8, np.float32, np.int32, np.uint8)]
    outputs[3] = outputs[3][:1]
    done = kb.run_kernel(kernel[(1,)], x, y, table, out=outputs, topology="minimal", n=64)
    packed, high, picked, total, limited = done.outputs
    assert (packed == (x << 4 | y & 15)).all()
    assert (high == ((x >> 4) + np.where(x > y, ~y, 0)).astype(np.uint8)).all()
    assert (picked == table[x]).all()
    assert total[0] == x.astype(int).sum() + np.arange(64).sum()
    assert (limited == np.clip(x * 3.0 - 100, 0, 255).astype(np.uint8)).all()


def scaled(values: Array, scale: Array | None) -> Array:
    wide = values.astype(np.float64)
    return wide if scale is None else wide * np.repeat(2.0 ** (scale - 127.0), 32, 1)


def packed(codes: Array) -> Array:
    return (codes[:, 0::2] | codes[:, 1::2] << 4).astype(np.uint8).view(np.int8)


E2M1 = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6, 0, -0.5, -1, -1.5, -2, -3, -4, -6])


@pytest.mark.parametrize(("left", "right"), [("e4m3", "e5m2"), ("e2m1", "e2m1"), ("bf16", "e2m1")])
def test_products_with_shared_scales(left: str, right: str) -> None:
    m, k, n = 16, 64, 32

    @triton.jit
    def kernel(a, sa, b, sb, out, M: tl.constexpr, K: tl.constexpr, N: tl.constexpr):
        x = tl.load(two_d(a, M, K // 2 if left == "e2m1" else K))
        y = tl.load(two_d(b, N, K // 2 if right == "e2m1" else K))
        scale = None if left == "bf16" else tl.load(two_d(sa, M, K // 32))
        total = tl.zeros((M, N), dtype=tl.float32)
        for _ in range(2):
            total = tl.dot_scaled(x, scale, left, y.T, tl.load(two_d(sb, N, K // 32)), right, total)
        tl.store(two_d(out, M, N), total)

    def side(rows: int, form: str) -> tuple[Array, Array, Array]:
        scale = RNG.integers(120, 134, (rows, k // 32)).astype(np.uint8)
        if form == "e2m1":
            codes = RNG.integers(0, 16, (rows, k))
            return packed(codes).view(np.uint8), scale.view(np.int8), scaled(E2M1[codes], scale)
        values = RNG.standard_normal((rows, k)).astype(FLOATS[form])
        return values, scale, scaled(values, None if form == "bf16" else scale)

    (a, sa, wide_a), (b, sb, wide_b) = side(m, left), side(n, right)
    out = np.zeros((m, n), np.float32)
    done = kb.run_kernel(kernel[(1,)], a, sa, b, sb, out=out, topology="minimal", M=m, K=k, N=n)
    np.testing.assert_allclose(done.output, 2 * wide_a @ wide_b.T, rtol=1e-4, atol=1e-4)


SIZES = ((16, 32, 16), (32, 16, 32), (16, 64, 48))


@triton.jit
def grouped(ptrs, sizes, groups, PROGRAMS: tl.constexpr, B: tl.constexpr):
    tile, last = tl.program_id(0), 0
    for g in range(groups):
        m, n, k = tl.load(sizes + g * 3), tl.load(sizes + g * 3 + 1), tl.load(sizes + g * 3 + 2)
        columns = tl.cdiv(n, B)
        count = tl.cdiv(m, B) * columns
        while tile >= last and tile < last + count:
            a = tl.load(ptrs + g * 3).to(tl.pointer_type(tl.float16))
            b = tl.load(ptrs + g * 3 + 1).to(tl.pointer_type(tl.float16))
            c = tl.load(ptrs + g * 3 + 2).to(tl.pointer_type(tl.float16))
            rows = (tile - last) // columns * B + tl.arange(0, B)
            cols = (tile - last) % columns * B + tl.arange(0, B)
            total = tl.zeros((B, B), dtype=tl.float32)
            for first in range(0, k, B):
                depth = first + tl.arange(0, B)
                x = tl.load(a + rows[:, None] * k + depth[None, :])
                y = tl.load(b + depth[:, None] * n + cols[None, :])
                total += tl.dot(x, y)
            tl.store(c + rows[:, None] * n + cols[None, :], total.to(tl.float16))
            tile += PROGRAMS
        last = last + count


def group(torch: Any, pes: int = 1) -> tuple[list[Any], list[Array], Any, Any]:
    """Factors, products as they should be, and their addresses and sizes in memory."""
    tensors, expected = [], []
    dp = DPPolicy(cube="row_wise", pe="row_wise", num_cubes=1, num_pes=pes)
    for m, n, k in SIZES:
        a, b = (RNG.standard_normal(shape).astype(np.float16) for shape in ((m, k), (k, n)))
        tensors += [torch.from_numpy(a, dp=dp), torch.from_numpy(b, dp=dp), torch.zeros(m, n, dp=dp)]
        expected.append(a.astype(np.float32) @ b.astype(np.float32))
    addresses = [one.data_ptr() for one in tensors]
    ptrs = torch.from_numpy(np.array([*addresses, 0, 0, 0]), dp=dp)
    return tensors, expected, ptrs, torch.from_numpy(np.array([*SIZES, (0, 0, 0)], np.int32), dp=dp)


@pytest.mark.parametrize("pes", [1, 4])
def test_a_group_of_products_whose_pointers_are_in_memory(pes: int) -> None:
    def bench(torch: Any) -> None:
        tensors, expected, ptrs, sizes = group(torch, pes)
        grouped[(4,)](ptrs, sizes, len(SIZES), PROGRAMS=4, B=16)
        for tensor, product in zip(tensors[2::3], expected, strict=True):
            torch.check(tensor.name, tensor, product, tolerance=1e-2)

    assert kb.run(bench, verify=True).verified is True


def test_pointers_in_memory_that_name_no_tensor_or_another_type_are_errors() -> None:
    def lost(torch: Any) -> None:
        _, _, ptrs, sizes = group(torch)
        grouped[(4,)](ptrs, sizes, len(SIZES), PROGRAMS=4, B=16)

    def other(torch: Any) -> None:
        kept = torch.zeros(48, 48, dtype="f32")
        ptrs = torch.from_numpy(np.full(9, kept.data_ptr()))
        grouped[(4,)](ptrs, torch.from_numpy(np.array(SIZES, np.int32)), 3, PROGRAMS=4, B=16)

    with pytest.raises(KernBenchError, match=r"no tensor is at address 0x.*keep the tensor"):
        kb.run(lost)
    with pytest.raises(KernBenchError, match=r"tensor 't0' holds f32, not f16"):
        kb.run(other)


def test_integers_of_64_bits_are_indices_or_take_two_lanes_of_the_engine() -> None:
    @triton.jit
    def pick(x, index, out, n: tl.constexpr):
        at = tl.arange(0, n)
        rows = tl.load(index + at)
        tl.store(out + at, tl.load(x + rows))
        tl.store(index + at, rows + 1)

    @triton.jit
    def add(x, out, kind: tl.constexpr, n: tl.constexpr):
        at = tl.arange(0, n)
        large = (tl.load(x + at) * 1.0).to(kind) + 0x7FFFFFFF
        for _ in tl.static_range(8):
            large = large + at.to(kind)
        tl.store(out + at, large)

    x, index = np.arange(32, dtype=np.float32), RNG.permutation(32)
    done = kb.run_kernel(pick[(1,)], x, index, out=np.zeros_like(x), topology="minimal", n=32)
    assert (done.output == x[index]).all()
    assert (done.arrays[1] == index + 1).all()
    x = np.arange(32, dtype=np.float32)
    for kind in (tl.int32, tl.int64):
        out = np.zeros(32, np.int64)
        done = kb.run_kernel(add[(1,)], x, out=out, topology="minimal", kind=kind, n=32)
        expected = np.arange(32) * 9 + 0x7FFFFFFF
        assert (done.output == (expected if kind == tl.int64 else expected.astype(np.int32))).all()


def test_a_block_of_addresses_is_no_pointer() -> None:
    @triton.jit
    def kernel(ptrs, out):
        tl.store(out, tl.load(ptrs + tl.arange(0, 4)).to(tl.pointer_type(tl.float16)))

    with pytest.raises(KernBenchError, match="4 addresses, expected one; load and cast them one by one"):
        kb.run_kernel(kernel[(1,)], np.zeros(4, np.int64), out=np.zeros(4, np.float32), topology="minimal")


def test_a_scalar_argument_is_an_f32_beside_a_half_and_a_number_takes_its_type() -> None:
    kinds: list[str] = []

    @triton.jit
    def kernel(x, out, alpha, FACTOR: tl.constexpr):
        at = tl.arange(0, 4)
        half = tl.load(x + at)
        named = 0.1
        wide = [half * alpha, half * named, half + alpha * 2.0, tl.maximum(half, alpha), half / alpha]
        same = [half * 0.1, half * -0.1, 1.5 - half, half * FACTOR, half * 2, half * tl.program_id(0)]
        kinds.extend(str(one.dtype) for one in wide + same)
        tl.store(out + at, half * alpha)

    x = np.array([1, 1.001, 1.002, 1.003], np.float16)
    done = kb.run_kernel(
        kernel[(1,)], x, out=np.zeros(4, np.float32), alpha=0.1, FACTOR=0.5, topology="minimal"
    )
    np.testing.assert_array_equal(done.output, x.astype(np.float32) * np.float32(0.1))
    assert kinds == ["f32"] * 5 + ["f16"] * 6


def test_a_scalar_is_an_i32_beside_short_integers_and_a_number_takes_their_type() -> None:
    kinds: list[str] = []

    @triton.jit
    def kernel(x, y, out, n, K: tl.constexpr):
        at = tl.arange(0, 4)
        short, bytes_ = tl.load(x + at), tl.load(y + at)
        constant: tl.constexpr = 3
        named, also = 100, 1.5
        wide = [
            short + n,
            short * (tl.program_id(0) + 2),
            named - short,
            bytes_ + n,
            bytes_ - tl.program_id(0),
        ]
        same = [short + 1, short + K, constant + short, short << (constant - 1), bytes_ * 2]
        for index in tl.static_range(1, 2):
            same += [short * index]
        tl.static_assert(also.to(tl.int32) == 1)
        kinds.extend(str(one.dtype) for one in wide + same)
        for place, one in enumerate(wide):
            tl.store(out + place * 4 + at, one)

    x, y = np.array([100, -100, 1, 0], np.int8), np.array([255, 0, 1, 2], np.uint8)
    done = kb.run_kernel(kernel[(1,)], x, y, out=np.zeros(20, np.int32), n=200, K=7, topology="minimal")
    a, b = x.astype(np.int32), y.astype(np.int32)
    assert done.output.tolist() == [*(a + 200), *(a * 2), *(100 - a), *(b + 200), *b]
    assert kinds == ["i32"] * 5 + ["i8"] * 4 + ["u8", "i8"]


def test_numbers_that_are_compared_have_a_type_and_counts_have_no_sign() -> None:
    kinds: list[str] = []

    @triton.jit
    def kernel(x, y, out):
        at = tl.arange(0, 4)
        half, short = tl.load(x + at), tl.load(y + at)
        count = tl.sum(half > 0)
        found = [tl.maximum(half, 0.0), tl.minimum(short, 3), tl.clamp(half, -1.0, 1.0), count, half * 2]
        kinds.extend(str(one.dtype) for one in found)
        tl.store(out + at, tl.maximum(half, 0.1) + (count - 5).to(tl.float32) * 0)
        tl.store(out + 4, (count - 5).to(tl.float32))

    x, y = np.array([1, -1, 0, 3], np.float16), np.array([1, 2, 3, 4], np.int8)
    done = kb.run_kernel(kernel[(1,)], x, y, out=np.zeros(5, np.float32), topology="minimal")
    lowest = np.float32(0.1)
    assert done.output.tolist() == [1, lowest, lowest, 3, np.float32(2**32 - 3)]
    assert kinds == ["f32", "i32", "f32", "u32", "f16"]


def test_pointers_are_cast_to_other_elements_and_to_addresses() -> None:
    @triton.jit
    def kernel(x, out):
        at = tl.arange(0, 4)
        words = (x + 4).to(tl.pointer_type(tl.int32), bitcast=True)
        tl.store(out + at, tl.load(words + at))
        addresses = (x + at).to(tl.int64) - x.to(tl.int64)
        tl.store(out + 4 + at, addresses.to(tl.int32))

    x = np.arange(20, dtype=np.int8)
    done = kb.run_kernel(kernel[(1,)], x, out=np.zeros(8, np.int32), topology="minimal")
    assert done.output.tolist() == [*x[4:].view(np.int32).tolist(), 0, 1, 2, 3]

    @triton.jit
    def crooked(x, out):
        tl.store(out, tl.load((x + 1).to(tl.pointer_type(tl.int32))))

    with pytest.raises(KernBenchError, match="not at a multiple of 4 bytes"):
        kb.run_kernel(crooked[(1,)], x, out=np.zeros(1, np.int32), topology="minimal")


def test_products_of_transposed_operands() -> None:
    @triton.jit
    def kernel(a, b, out):
        at = tl.arange(0, 16)[:, None] * 16 + tl.arange(0, 16)[None, :]
        x, y = tl.load(a + at), tl.load(b + at)
        tl.store(out + at, tl.dot(x, y, trans_b=True) + tl.dot(x, y, trans_a=True))

    a, b = (np.random.default_rng(n).integers(-3, 4, (16, 16)).astype(np.float32) for n in range(2))
    done = kb.run_kernel(kernel[(1,)], a, b, out=np.zeros((16, 16), np.float32), topology="minimal")
    np.testing.assert_array_equal(done.output, a @ b.T + a.T @ b)
