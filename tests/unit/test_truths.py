"""Truth values, integers that wrap, and scalars, as Triton has them, in both languages."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import kernbench as kb
import kernbench.triton as triton
import kernbench.triton.language as tl
from kernbench.errors import KernBenchError
from kernbench.language import interpret
from kernbench.triton.values import Int

X = np.array([1, -1, 2, -2], np.float32)


def run(kernel: Any, *given: np.ndarray, out: np.ndarray, **named: Any) -> np.ndarray:
    """What the kernel writes; every operation is checked."""
    found: np.ndarray = kb.run_kernel(kernel, *given, out=out, topology="minimal", **named).output
    return found


@triton.jit
def masked_triton(x, out, computed: tl.constexpr):
    at = tl.arange(0, 4)
    v = tl.load(x + at)
    shown = v * 1.0 if computed else v
    away = ~(shown > 0)
    tl.store(out + at, tl.where(away, v, 0.0))
    tl.store(out + 4 + at, tl.where(~away & (v > 1), v, 0.0))
    tl.store(out + 8 + at, (~(shown.to(tl.int32)) + (away | away)).to(tl.float32))


def masked(x, out, computed, tl):
    v = tl.load(x)
    shown = v * 1.0 if computed else v
    away = ~(shown > 0)
    tl.store(out, tl.where(away, v, 0.0), strides=(1,))
    tl.store(out + 16, tl.where(~away & (v > 1), v, 0.0), dtype="f32")
    tl.store(out + 32, (~(shown.to(tl.int32)) + (away | away)).to(tl.float32), dtype="f32")


@pytest.mark.parametrize("kernel", [masked_triton[(1,)], masked], ids=["triton", "tl"])
@pytest.mark.parametrize("computed", [False, True])
def test_not_of_a_mask_is_where_it_is_false_and_of_integers_bitwise(kernel: Any, computed: bool) -> None:
    got = run(kernel, X, out=np.zeros(12, np.float32), computed=computed)
    expected = [[0, -1, 0, -2], [0, 0, 2, 0], [-2, 1, -3, 2]]
    np.testing.assert_array_equal(got.reshape(3, 4), expected)


@triton.jit
def stored_triton(x, out):
    at = tl.arange(0, 4)
    v = tl.load(x + at)
    tl.store(out + at, v, mask=~(v > 0))


def stored(x, out, tl):
    v = tl.load(x)
    tl.store(out, v, mask=~(v * 1.0 > 0))


@pytest.mark.parametrize("kernel", [stored_triton[(1,)], stored], ids=["triton", "tl"])
def test_not_of_a_mask_keeps_stores_out(kernel: Any) -> None:
    got = run(kernel, X, out=np.full(4, 9, np.float32))
    assert got.tolist() == [9, -1, 9, -2]


def test_masks_are_added_up_as_integers_and_kept_in_a_byte() -> None:
    @triton.jit
    def kernel(x, truths, out):
        at = tl.arange(0, 4)
        m = tl.load(x + at) > 0
        tl.static_assert(m.dtype == tl.int1)
        tl.static_assert((m & m).dtype == tl.int1)
        tl.static_assert((m + m).dtype == tl.int32)
        tl.store(out + at, m + m)
        tl.store(out + 4, tl.sum(m, 0))
        tl.store(truths + at, m)
        tl.store(out + 5 + at, tl.where(tl.load(truths + at), 3, 4))

    truths = np.zeros(4, np.bool_)
    done = kb.run_kernel(kernel[(1,)], X, truths, out=np.zeros(9, np.int32), topology="minimal")
    assert done.output.tolist() == [2, 0, 2, 0, 2, 3, 4, 3, 4]
    assert done.arrays[1].tolist() == [True, False, True, False]


@triton.jit
def branching(out):
    if ~(tl.program_id(0) == 0):
        tl.store(out, 1)
    else:
        tl.store(out, 2)
    found = True
    tl.store(out + 1, 3 if ~found else 4)


def test_not_of_a_scalar() -> None:
    assert run(branching[(1,)], out=np.zeros(2, np.int32), launch_pdl=False).tolist() == [2, 4]


def test_where_picks_pointers() -> None:
    @triton.jit
    def kernel(x, out):
        at = tl.arange(0, 4)
        tl.store(out + at, tl.load(tl.where(at < 2, x + at, x + 3 - at)))
        tl.store(tl.where(tl.program_id(0) == 1, x, out + 4), 5.0)

    assert run(kernel[(1,)], X, out=np.zeros(5, np.float32)).tolist() == [1, -1, -1, 1, 5]


def test_not_of_a_scalar_in_a_plain_kernel() -> None:
    def kernel(out, tl):
        first = tl.program_id(0) * 2 + 1 == 1
        assert repr(~first) == "False"
        assert repr(first & (tl.num_programs(0) > 0)) == "True"
        part = tl.program_id(0) * 4 + out
        tl.store(part, 1 if ~first | ~(tl.device_id(0) == 0) else 2, dtype="i32")
        tl.store(out + (1 - tl.program_id(0)) * 4, 3, dtype="i32")

    assert run(kernel, out=np.zeros(2, np.int32)).tolist() == [2, 3]


def test_known_integers_wrap_as_their_type_does() -> None:
    @triton.jit
    def kernel(wide, out):
        p = tl.program_id(0)
        tl.store(out + p, tl.where(p * 0x30000000 < 0, 1, 0))
        at = tl.arange(0, 4)
        tl.store(out + 4 + at, at * 0x30000000)
        tl.store(wide + at, at.to(tl.int64) * 0x30000000)

    done = kb.run_kernel(kernel[(4,)], np.zeros(4, np.int64), out=np.zeros(8, np.int32), topology="minimal")
    exact = np.arange(4) * 0x30000000
    assert done.output.tolist() == [0, 0, 0, 1, *exact.astype(np.int32)]
    assert done.arrays[0].tolist() == exact.tolist()


def test_a_number_that_its_neighbour_cannot_hold_is_an_error() -> None:
    with pytest.raises(KernBenchError, match=r"4294967296 is not a value of int32; cast first"):
        Int(3) * 2**32


def test_halves_are_divided_in_f32() -> None:
    @triton.jit
    def kernel(x, out):
        at = tl.arange(0, 2)
        v = tl.load(x + at)
        tl.store(out + at, tl.where(at == 0, v / 0.5, v / 3.0))

    got = run(kernel[(1,)], np.array([40000, 1], np.float16), out=np.zeros(2, np.float32))
    np.testing.assert_allclose(got, [80000, 1 / 3], rtol=1e-6)


def test_scalars_have_types() -> None:
    @triton.jit
    def kernel(out):
        p = tl.program_id(0)
        zero = 0.0
        three = 3
        tl.store(out, (p == 0).to(tl.int32))
        tl.store(out + 1, ((p + 3) * 1.5).to(tl.int32))
        tl.store(out + 2, (1.5 * (p + 3)).to(tl.int32))
        tl.store(out + 3, zero.to(tl.int32))
        tl.store(out + 4, (three / 2).to(tl.int32))
        tl.store(out + 5, (zero < 1).to(tl.int32))

    assert run(kernel[(1,)], out=np.zeros(6, np.int32)).tolist() == [1, 4, 4, 0, 1, 1]


def test_and_or_not_of_blocks() -> None:
    limit = 3

    @triton.jit
    def kernel(x, out, n: tl.constexpr):
        i = tl.arange(0, n)
        v = tl.load(x + i)
        tl.store(out + i, v, mask=i > 0 and v < limit)
        tl.store(out + n + i, tl.where(not (v > 1) or v * 1.0 > 3, v, 0.0))
        if n > 3 and not n > 4:
            tl.store(out + 2 * n, 7.0)

    got = run(kernel[(1,)], np.array([1, 2, 3, 4], np.float32), out=np.zeros(9, np.float32), n=4)
    assert got.tolist() == [0, 2, 0, 0, 1, 0, 0, 4, 7]


@triton.jit
def route(x, ix, n: tl.constexpr):
    p = tl.program_id(0)
    tl.store(ix + p, tl.argmax(tl.load(x + p * n + tl.arange(0, n)), 0))


@triton.jit
def pick(x, ix, o, n: tl.constexpr):
    p = tl.program_id(0)
    at = tl.load(ix + p)
    if at > n // 2:
        tl.store(o + p, tl.load(x + p * n + at))
    else:
        tl.store(o + p, -tl.load(x + p * n + at))


def routed(verify: bool) -> np.ndarray:
    """What two launches find, the second by the indices that the first one computed."""
    data = np.random.default_rng(0).standard_normal((4, 16)).astype(np.float32)
    seen: dict[str, Any] = {}

    def bench(torch):
        x, ix, o = torch.from_numpy(data), torch.zeros(4, dtype="i32"), torch.zeros(4, dtype="f32")
        route[(4,)](x, ix, 16)
        pick[(4,)](x, ix, o, 16)
        seen["o"] = o.numpy() if verify else None

    kb.run(bench, topology="minimal", store="memory:", verify=verify)
    sign = np.where(data.argmax(1) > 8, 1, -1)
    np.testing.assert_array_equal(seen["o"], data.max(1) * sign)
    found: np.ndarray = seen["o"]
    return found


def test_indices_made_on_the_device_are_known_where_results_are_verified() -> None:
    assert routed(True).shape == (4,)
    with pytest.raises(KernBenchError, match=r"run with --verify-data"):
        routed(False)


def test_types_of_memory_are_known_and_wrap() -> None:
    @triton.jit
    def kernel(x, out, n: tl.constexpr):
        i = tl.arange(0, n)
        tl.store(out + i, tl.load(x + i) * 3)

    for kind in (np.int16, np.uint16, np.uint32, np.uint64, np.int64):
        x = np.array([1, 2, np.iinfo(kind).max, 7], kind)
        np.testing.assert_array_equal(run(kernel[(1,)], x, out=np.zeros(4, kind), n=4), x * kind(3))


@pytest.mark.parametrize("loop", ["range", "static_range"])
def test_a_comparison_with_the_index_of_a_loop_is_inverted(loop: str) -> None:
    def kernel(out: Any, tl: Any) -> None:
        for i in getattr(tl, loop)(4):
            if ~(i == 0):
                tl.store(out + 4 * i, tl.full((1,), 1.0, "f32"))

    out = np.zeros(4, np.float32)
    interpret(kernel, out=out)
    assert out.tolist() == [0, 1, 1, 1]
