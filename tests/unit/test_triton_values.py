"""Integers, known blocks and pointers of Triton kernels: they calculate as numpy does, errors say why."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kernbench.triton as triton
import kernbench.triton.language as tl
from kernbench.errors import KernelError
from kernbench.inductor.helpers import TABLE as triton_helpers
from kernbench.language import interpret
from kernbench.triton.values import Int, KnownBlock

OPERATORS = [
    *(operator.add, operator.sub, operator.mul, operator.and_, operator.or_, operator.xor),
    *(operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne),
]
numbers = st.integers(-1000, 1000)


@pytest.mark.daily("add", "lt", "or_")
@pytest.mark.parametrize("operate", OPERATORS)
@given(st.lists(numbers, min_size=4, max_size=4), numbers)
def test_a_known_block_calculates_as_numpy_does(operate: Any, values: list[int], number: int) -> None:
    data = np.array(values)
    block = KnownBlock(data, None)
    assert (operate(block, Int(number)).data == operate(data, number)).all()
    assert (operate(number, block).data == operate(number, data)).all()
    assert (operate(block, block).data == operate(data, data)).all()


@given(numbers, numbers.filter(bool))
def test_integers_divide_towards_zero_as_the_device_does(a: int, b: int) -> None:
    quotient = int(a / b)
    for left, right in ((Int(a), Int(b)), (Int(a), b), (a, Int(b))):
        assert left // right == quotient
        assert left % right == a - quotient * b
    assert (KnownBlock(np.array([a]), None) // b).data == quotient
    assert (KnownBlock(np.array([a]), None) % b).data == a - quotient * b


def test_an_integer_stays_one_and_becomes_a_float_where_it_is_asked_to() -> None:
    index = (Int(3) * 4 + 1).to(tl.int64)
    assert (type(index), index, index.dtype) == (Int, 13, "i64")
    assert Int(3).to(tl.float32) / 2 == 1.5
    assert Int(7) / 2 == 3.5
    with pytest.raises(KernelError, match=r"divided by 0; .* \(3 // 0\)"):
        Int(3) // 0
    for zero in (0, Int(0)):
        with pytest.raises(KernelError, match="divided by 0; replace zeros before"):
            KnownBlock(np.arange(4), None) % zero
    with pytest.raises(KernelError, match=r"divided by 0; .* \(index \(1,\)\)"):
        KnownBlock(np.arange(4), None) // KnownBlock(np.array([1, 0, 2, 0]), None)


def of(body: Any, size: int = 16) -> np.ndarray[Any, Any]:
    """What a kernel with that body writes."""
    x, out = np.arange(size, dtype=np.float32), np.zeros(size, np.float32)
    interpret(triton.jit(body)[(1,)], x, out)
    return out


def test_known_blocks_meet_handles_and_floats() -> None:
    def body(x, out):
        at = tl.arange(0, 16)
        value = tl.load(x + at)
        even = at % 2 == 0
        tl.store(out + at, tl.where(even, value * at, at * 0.5) + at.to(tl.float32))

    at = np.arange(16)
    assert (of(body) == np.where(at % 2 == 0, at * at, at * 0.5) + at).all()


def test_reductions_drop_their_axis_and_methods_are_calls() -> None:
    def body(x, out):
        block = tl.load(x + tl.arange(0, 4)[:, None] * 4 + tl.arange(0, 4)[None, :])
        best, index = tl.max(block, axis=1, return_indices=True)
        top = block.sum(axis=0) + best + index.to(tl.float32) + min(block.max(), 3.0)
        tl.store(out + tl.arange(0, 4), top)

    x = np.arange(16).reshape(4, 4)
    assert (of(body)[:4] == x.sum(0) + x.max(1) + x.argmax(1) + 3).all()


def test_block_pointers_and_descriptors_stop_at_the_edge() -> None:
    def body(x, out):
        block = tl.make_block_ptr(x, (3, 4), (4, 1), (0, 2), (2, 4), (1, 0))
        block = tl.advance(block, (2, 0))
        desc = tl.make_tensor_descriptor(out, [4, 4], [4, 1], [2, 4])
        desc.store([1, 1], tl.load(block, boundary_check=(0, 1)) + 1.0)

    expected = np.zeros((4, 4))
    expected[1:3, 1:] = np.array([[11, 12, 1], [1, 1, 1]])
    assert (of(body).reshape(4, 4) == expected).all()


def test_loops_branch_on_loaded_integers() -> None:
    @triton.jit
    def kernel(counts, out):
        total = 0
        for i in range(tl.load(counts)):
            if tl.load(counts + i) > 1:
                total += tl.load(counts + i)
        tl.store(out, total)

    out = np.zeros(1, np.int32)
    interpret(kernel[(1,)], np.array([3, 1, 5], np.int32), out)
    assert out == 8


def test_random_numbers_are_those_of_philox() -> None:
    def body(x, out):
        tl.store(out + tl.arange(0, 16), tl.rand(42, tl.arange(0, 16)))

    numbers = of(body)
    # Triton's own for seed 42, offsets 0 to 2, to the digits that its tutorial prints is not kept: these are
    # Random123's words for key (42, 0) and counter (0, 0, 0, 0), reduced to 31 bits.
    assert ((numbers >= 0) & (numbers < 1)).all()
    assert len(set(numbers.tolist())) == 16
    assert (of(body) == numbers).all()


def test_helpers_of_inductor_draw_integers_of_a_range_and_divide_in_double_precision() -> None:
    @triton.jit
    def kernel(out, share, n, N: tl.constexpr):
        at = tl.arange(0, N)
        tl.store(out + at, triton_helpers["randint64"](7, at, -2, 3))
        tl.store(share + at, (tl.full([1], 1.0, tl.float64) / (n * 3).to(tl.float64)).to(tl.float32))

    out, share = np.zeros(512, np.int64), np.zeros(512, np.float32)
    interpret(kernel[(1,)], out, share, n=7, N=512)
    assert sorted(set(out.tolist())) == [-2, -1, 0, 1, 2]
    assert (share == np.float32(1 / 21)).all()


@pytest.mark.parametrize("name", ["rand", "randn"])
def test_four_random_numbers_of_an_offset_begin_with_the_one(name: str) -> None:
    @triton.jit
    def kernel(out, N: tl.constexpr):
        at = tl.arange(0, N)
        tl.store(out + at, getattr(tl, name)(42, at))
        for place, numbers in enumerate(getattr(tl, f"{name}4x")(42, at)):
            tl.store(out + (place + 1) * N + at, numbers)

    out = np.zeros((5, 1024), np.float32)
    interpret(kernel[(1,)], out, N=1024)
    assert (out[0] == out[1]).all()
    mean, deviation = (0.5, 12**-0.5) if name == "rand" else (0.0, 1.0)
    assert np.abs(out[1:].mean(1) - mean).max() < 0.1
    assert np.abs(out[1:].std(1) - deviation).max() < 0.1
    assert np.abs(np.corrcoef(out[1:]) - np.eye(4)).max() < 0.1


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (lambda x, out: tl.load(x + tl.arange(0, 16)[:, None] * 5 + tl.arange(0, 2)[None, :]),
         r"tl\.load: argument 'pointer': element \(3, 1\) of the block is at 16 of tensor 'x', which has 16"),
        (lambda x, out: tl.store(out - 1, 0.0), r"element \(0,\) of the block is at -1 of tensor 'out'"),
        (lambda x, out: tl.load(x + tl.load(x + tl.arange(0, 4))), r"pointer 'x' \+ a tensor of f32 values"),
        (lambda x, out: tl.load(16), r"16 is not a pointer: a tensor argument plus offsets in elements"),
        (lambda x, out: tl.exp(x), r"argument 'x': <pointer 'x' \(\)> is in memory; tl.load it first"),
        (lambda x, out: tl.load(x, mask=tl.arange(0, 4)[:, None] < 2).nothing, "nothing"),
        (lambda x, out: tl.program_id(3), "3 is not an axis of the grid"),
        (lambda x, out: tl.device_assert(tl.arange(0, 4) < 3, "too far"), "tl.device_assert: too far"),
        (lambda x, out: tl.device_assert(tl.load(x + tl.arange(0, 4)) < 2, "many"), "tl.device_assert: many"),
        (lambda x, out: tl.zeros((4,), "fp9"), "dtype 'fp9' is not known; use one of f16"),
        (lambda x, out: bool(tl.arange(0, 4) < 3), "combine blocks with & and |"),
    ],
)  # fmt: skip
def test_errors_name_the_element_and_the_remedy(body: Any, message: str) -> None:
    def kernel(x, out):
        body(x, out)

    with pytest.raises((KernelError, AttributeError), match=message):
        of(kernel)


@triton.jit
def divides(a_ptr, b_ptr, q_ptr, r_ptr, N: tl.constexpr):
    at = tl.arange(0, N)
    a, b = tl.load(a_ptr + at), tl.load(b_ptr + at)
    tl.store(q_ptr + at, a // b)
    tl.store(r_ptr + at, a % b)


@triton.jit
def halves(a_ptr, q_ptr, N: tl.constexpr):
    at = tl.arange(0, N)
    tl.store(q_ptr + at, tl.load(a_ptr + at) // 2.0)


def test_whole_quotients_are_of_integers() -> None:
    with pytest.raises(KernelError, match=r"tl\.floordiv: .*is for integers; use tl\.floor"):
        interpret(halves[(1,)], np.ones(8, np.float32), np.ones(8, np.float32), N=8)


@pytest.mark.parametrize("dtype", [np.int8, np.int32])
def test_blocks_divide_towards_zero_as_integers_do(dtype: Any) -> None:
    a = np.array([7, -7, 7, -7, 100, -128, 0, 5], dtype)
    b = np.array([2, 2, -2, -2, 9, 3, -4, 5], dtype)
    q, r = np.zeros_like(a), np.zeros_like(a)
    interpret(divides[(1,)], a, b, q, r, N=8)
    assert q.tolist() == [int(x / y) for x, y in zip(a.tolist(), b.tolist(), strict=True)]
    assert r.tolist() == [x - int(x / y) * y for x, y in zip(a.tolist(), b.tolist(), strict=True)]
