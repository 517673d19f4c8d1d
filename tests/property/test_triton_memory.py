"""Loads and stores by tensors of pointers against numpy: gathers, masks, duplicates, overlaps."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import kernbench as kb
import kernbench.triton as triton
import kernbench.triton.language as tl
from kernbench.language import interpret

N = 64
places = st.lists(st.integers(0, N - 1), min_size=16, max_size=16)
flags = st.lists(st.booleans(), min_size=16, max_size=16)


@triton.jit
def gather(x, index, flags, out, B: tl.constexpr):
    at = tl.arange(0, B)
    keep = tl.load(flags + at) != 0
    tl.store(out + at, tl.load(x + tl.load(index + at), mask=keep, other=-5.0))


@triton.jit
def scatter(x, index, flags, out, B: tl.constexpr):
    at = tl.arange(0, B)
    tl.store(out + tl.load(index + at), tl.load(x + at), mask=tl.load(flags + at) != 0)


@triton.jit
def tile(x, out, rows, step, first, turned, R: tl.constexpr, C: tl.constexpr):
    r, c = tl.arange(0, R)[:, None], tl.arange(0, C)[None, :]
    at = first + (c * step + r if turned else r * step + c)
    keep = (r < rows) & (at < 64)
    tl.store(out + r * C + c, tl.load(x + at, mask=keep, other=7.0))


def ints(values: list[Any]) -> np.ndarray[Any, Any]:
    return np.array(values, np.int32)


@settings(max_examples=60, deadline=None)
@given(places, flags)
def test_a_gather_reads_each_element_where_the_index_says(index: list[int], keep: list[bool]) -> None:
    x, out = np.arange(N, dtype=np.float32), np.zeros(16, np.float32)
    interpret(gather[(1,)], x, ints(index), ints(keep), out, B=16)
    assert (out == np.where(keep, x[index], -5)).all()


@settings(max_examples=60, deadline=None)
@given(places, flags)
def test_of_elements_stored_twice_the_last_one_stays(index: list[int], keep: list[bool]) -> None:
    x, out, expected = np.arange(1, 17, dtype=np.float32), np.zeros(N, np.float32), np.zeros(N, np.float32)
    interpret(scatter[(1,)], x, ints(index), ints(keep), out, B=16)
    for value, place, kept in zip(x, index, keep, strict=True):
        if kept:
            expected[place] = value
    assert (out == expected).all()


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 4), st.integers(1, 16), st.integers(0, 30), st.booleans())
def test_a_block_is_what_its_offsets_say(rows: int, step: int, first: int, turned: bool) -> None:
    x, out = np.arange(64, dtype=np.float16), np.zeros((4, 8), np.float16)
    interpret(tile[(1,)], x, out, rows, step, first, turned, R=4, C=8)
    r, c = np.arange(4)[:, None], np.arange(8)[None, :]
    at = first + (c * step + r if turned else r * step + c)
    keep = (r < rows) & (at < 64)
    assert (out == np.where(keep, x[np.where(keep, at, 0)], 7)).all()


@settings(max_examples=8, deadline=None)
@given(places, flags)
def test_the_machine_moves_what_the_interpreter_does(index: list[int], keep: list[bool]) -> None:
    x = np.arange(N, dtype=np.float32)
    for kernel, size in ((gather, 16), (scatter, N)):
        out = np.zeros(size, np.float32)
        got = kb.run_kernel(
            kernel[(1,)], x, ints(index), ints(keep), out=out.copy(), topology="minimal", B=16
        )
        interpret(kernel[(1,)], x, ints(index), ints(keep), out, B=16)
        assert (got.output == out).all()


@triton.jit
def moves(steps, x, COUNT: tl.constexpr, B: tl.constexpr):
    at = tl.arange(0, B)
    for i in tl.range(0, COUNT, num_stages=3):
        source, target = tl.load(steps + 2 * i), tl.load(steps + 2 * i + 1)
        tl.store(x + target + at, tl.load(x + source + at) + 1.0)


@triton.jit
def blind_moves(x, out, shift: tl.constexpr, COUNT: tl.constexpr, B: tl.constexpr):
    at = tl.arange(0, B)
    for i in range(COUNT):
        tl.store(x + (i + 1) * shift + at, tl.load(x + i * shift + at) + 1.0)
    for i in range(COUNT):
        tl.store(out + i * shift + at, tl.load(x + i * shift + at))


@settings(max_examples=8, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 56), st.integers(0, 56)), min_size=4, max_size=4))
def test_loads_and_stores_of_one_block_keep_their_order(steps: list[tuple[int, int]]) -> None:
    x = np.arange(N, dtype=np.float32)
    expected = x.copy()
    for source, target in steps:
        expected[target : target + 8] = expected[source : source + 8] + 1
    got = kb.run_kernel(moves[(1,)], ints(steps).reshape(-1), out=x, topology="minimal", COUNT=4, B=8)
    assert (got.output == expected).all()


@settings(max_examples=8, deadline=None)
@given(st.integers(1, 12), st.integers(1, 4))
def test_a_shift_in_place_sees_what_was_stored_before(shift: int, count: int) -> None:
    expected = np.arange(N, dtype=np.float32)
    x, out = expected.copy(), np.zeros(N, np.float32)
    result = np.zeros(N, np.float32)
    for i in range(count):
        expected[(i + 1) * shift : (i + 1) * shift + 8] = expected[i * shift : i * shift + 8] + 1
    for i in range(count):
        result[i * shift : i * shift + 8] = expected[i * shift : i * shift + 8]
    got = kb.run_kernel(
        blind_moves[(1,)], x, out=out, topology="minimal", shift=shift, COUNT=count, B=8, num_stages=4
    )
    assert (got.output == result).all()
