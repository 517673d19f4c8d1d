"""Sorts, scans, reductions by a function, batched products and atomics of Triton kernels against numpy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import kernbench as kb
import kernbench.triton as triton
import kernbench.triton.language as tl
from kernbench.language import interpret

N = 16
X = np.array([3, -1, 4, 1, -5, 9, 2, 6, 5, 3, -5, 8, 9, 7, 9, 3], np.int32)
TABLE = X.reshape(4, 4)


def of(body: Any, x: np.ndarray[Any, Any], size: int = N) -> np.ndarray[Any, Any]:
    """What a kernel writes that stores ``body`` of all that ``x`` holds, read as a row of 16 or 4 by 4."""

    @triton.jit
    def kernel(x, out, ROWS: tl.constexpr, COUNT: tl.constexpr):
        block = tl.load(x + tl.arange(0, N))
        block = tl.reshape(block, (ROWS, N // ROWS)) if ROWS > 1 else block
        tl.store(out + tl.arange(0, COUNT), tl.ravel(body(block)))

    rows = x.shape[0] if x.ndim > 1 else 1
    flat, out = x.reshape(-1), np.zeros(size, x.dtype)
    got = kb.run_kernel(kernel[(1,)], flat, out=out, topology="minimal", ROWS=rows, COUNT=size)
    again = np.zeros(size, x.dtype)
    interpret(kernel[(1,)], flat, again, ROWS=rows, COUNT=size)
    assert (got.output == again).all()
    return got.output


@triton.jit
def first_negative(a, b):
    return tl.where(a < 0, a, b)


CASES: dict[str, tuple[Any, Any, int]] = {
    "sort": (lambda x: tl.sort(x), lambda x: np.sort(x), N),
    "sort descending": (lambda x: x.sort(descending=True), lambda x: np.sort(x)[..., ::-1], N),
    "topk": (lambda x: tl.topk(x, 4), lambda x: np.sort(x)[..., ::-1][..., :4], 4),
    "flip": (lambda x: tl.flip(x), lambda x: x[..., ::-1], N),
    "gather": (lambda x: tl.gather(x, 15 - tl.arange(0, N), 0), lambda x: x[15 - np.arange(N)], N),
    "histogram": (lambda x: tl.histogram(x, 10), lambda x: np.bincount(x[x >= 0], minlength=10), 10),
    "cat": (lambda x: tl.cat(x, x + 1), lambda x: np.concatenate([x, x + 1]), 2 * N),
    "interleave": (lambda x: tl.interleave(x, -x), lambda x: np.stack([x, -x], -1).ravel(), 2 * N),
    "join, split": (lambda x: tl.split(tl.join(x, x * 2))[1], lambda x: x * 2, N),
    "xor_sum": (lambda x: tl.xor_sum(x, 0), lambda x: np.bitwise_xor.reduce(x), 1),
    "reduce": (lambda x: tl.reduce(x, 0, lambda a, b: a * 2 + b - a), lambda x: x.sum(), 1),
    "reduce in order": (lambda x: tl.reduce(x, 0, first_negative), lambda x: x[x < 0][0], 1),
    "scan": (lambda x: tl.associative_scan(x, 0, lambda a, b: a + b), lambda x: np.cumsum(x), N),
    "scan back": (
        lambda x: tl.associative_scan(x, 0, lambda a, b: tl.maximum(a, b), reverse=True),
        lambda x: np.maximum.accumulate(x[::-1])[::-1],
        N,
    ),
    "cumsum back": (lambda x: tl.cumsum(x, 0, reverse=True), lambda x: np.cumsum(x[::-1])[::-1], N),
}


@pytest.mark.parametrize("name", CASES)
def test_a_call_is_what_numpy_makes_of_it(name: str) -> None:
    body, reference, size = CASES[name]
    assert (of(body, X, size) == reference(X)).all()


@pytest.mark.parametrize("axis", [0, 1])
def test_functions_combine_along_any_axis(axis: int) -> None:
    assert (of(lambda x: tl.reduce(x, axis, lambda a, b: a + b), TABLE, 4) == TABLE.sum(axis)).all()
    scanned = of(lambda x: tl.associative_scan(x, axis, lambda a, b: a + b), TABLE)
    assert (scanned == TABLE.cumsum(axis).ravel()).all()


def test_a_function_of_several_blocks_gives_several() -> None:
    def best(x):
        def larger(a, i, b, j):
            return tl.where(a >= b, a, b), tl.where(a >= b, i, j)

        return tl.reduce((x, tl.arange(0, N)), 0, larger)[1]

    assert of(best, X, 1) == X.argmax()


def test_a_lock_that_the_host_wrote_while_another_launch_ran() -> None:
    @triton.jit
    def slow(x):
        tl.store(x + tl.arange(0, 64), tl.exp(tl.load(x + tl.arange(0, 64))))

    @triton.jit
    def count(lock, total):
        while tl.atomic_cas(lock, 0, 1) == 1:
            pass
        tl.store(total, tl.load(total) + 1)
        tl.atomic_xchg(lock, 0)

    def bench(torch: Any) -> None:
        slow[(1,)](torch.zeros(64, dtype="f32"))
        lock, total = torch.zeros(1, dtype="i32"), torch.zeros(1, dtype="f32")
        count[(4,)](lock, total, residents=2)
        torch.check("total", total, np.array([4], np.float32))

    assert kb.run(bench, verify=True, store="memory:").verdict == "yes"


def test_products_of_a_batch() -> None:
    @triton.jit
    def kernel(x, out):
        at = tl.arange(0, 2)[:, None, None] * 16 + tl.arange(0, 4)[:, None] * 4 + tl.arange(0, 4)[None, :]
        block = tl.load(x + at)
        tl.store(out + at, tl.dot(block, block, tl.dot(block, block)))

    x = np.arange(32, dtype=np.float32).reshape(2, 4, 4)
    done = kb.run_kernel(kernel[(1,)], x, out=np.zeros_like(x), topology="minimal")
    assert (done.output == 2 * (x @ x)).all()


@pytest.mark.daily("add-add-8", "max-maximum-1", "and-*-8")
@pytest.mark.parametrize("pes", [1, 8])
@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("add", np.add),
        ("max", np.maximum),
        ("min", np.minimum),
        ("and", np.bitwise_and),
        ("or", np.bitwise_or),
    ],
)
def test_atomics_of_all_blocks_take_effect_duplicates_too(name: str, change: Any, pes: int) -> None:
    call = f"atomic_{name}"

    @triton.jit
    def kernel(x, out):
        at = tl.program_id(0) * 8 + tl.arange(0, 8)
        getattr(tl, call)(out + at % 3, tl.load(x + at), mask=at != 5)

    out, expected = np.full(8, 2, np.int32), np.full(8, 2, np.int32)
    for at in range(N):
        if at != 5:
            expected[at % 3] = change(expected[at % 3], X[at])
    policy = kb.DPPolicy(pe="row_wise", num_cubes=1, num_pes=pes)
    done = kb.run_kernel(kernel[(2,)], X, out=out, dp=policy)
    assert (done.output == expected).all()
    assert done.run.verdict != "race"


def test_atomics_answer_what_memory_held() -> None:
    @triton.jit
    def kernel(x, out):
        at = tl.arange(0, 8)
        tl.store(out + at, tl.atomic_max(x + at, 3, mask=at < 6))
        swapped = tl.atomic_cas(x + 8, X8, 70) + tl.atomic_cas(x + 8, X8, 80) + tl.atomic_xchg(x + 9, 1)
        tl.store(out + 8 + tl.arange(0, 2), swapped)

    X8 = tl.constexpr(int(X[8]))
    x, out = X.copy(), np.zeros(10, np.int32)
    done = kb.run_kernel(kernel[(1,)], x, out=out, topology="minimal")
    interpret(kernel[(1,)], x, out)
    assert (out == [*X[:6], 0, 0, *[X[8] + 70 + X[9]] * 2]).all()
    assert (x == [*np.maximum(X[:6], 3), *X[6:8], 70, 1, *X[10:]]).all()
    assert (done.arrays[0] == x).all()
    assert (done.output == out).all()


@pytest.mark.parametrize("pes", [1, 8])
def test_tiles_are_taken_from_a_counter(pes: int) -> None:
    @triton.jit
    def kernel(counter, out):
        tile = tl.atomic_add(counter, 1)
        while tile < 8:
            tl.atomic_add(out + tile, tile + 10)
            tile = tl.atomic_add(counter, 1)

    policy = kb.DPPolicy(pe="row_wise", num_cubes=1, num_pes=pes)
    counter, out = np.zeros(8, np.int32), np.zeros(8, np.int32)
    done = kb.run_kernel(kernel[(3,)], counter, out=out, dp=policy)
    assert (done.output == np.arange(8) + 10).all()
    assert done.arrays[0][0] == 8 + 3
    assert done.run.verdict != "race"


@pytest.mark.parametrize("pes", [1, 8])
def test_a_lock_orders_what_blocks_do_while_they_have_it(pes: int) -> None:
    @triton.jit
    def kernel(lock, total):
        at = tl.arange(0, 16)
        while tl.atomic_cas(lock, 0, 1) == 1:
            pass
        tl.store(total + at, tl.load(total + at) + tl.program_id(0) + 1)
        tl.atomic_xchg(lock, 0)

    policy = kb.DPPolicy(pe="row_wise", num_cubes=1, num_pes=pes)
    done = kb.run_kernel(kernel[(8,)], np.zeros(8, np.int32), out=np.zeros(16, np.int32), dp=policy)
    assert (done.output == 36).all()
    assert done.run.verdict != "race", done.run.problem


def test_rows_and_columns_in_the_order_of_groups() -> None:
    @triton.jit
    def kernel(out):
        for n in range(24):
            row, column = tl.swizzle2d(n // 4, n % 4, 6, 4, 4)
            tl.store(out + n, row * 4 + column)

    out = np.zeros(24, np.int32)
    interpret(kernel[(1,)], out)
    first = [(row, column) for column in range(4) for row in range(4)]
    rest = [(row, column) for column in range(4) for row in range(4, 6)]
    assert out.tolist() == [row * 4 + column for row, column in first + rest]


def test_functions_of_the_device_library() -> None:
    @triton.jit
    def kernel(x, out):
        at = tl.arange(0, N)
        tl.store(out + at, tl.extra.cuda.libdevice.tanh(tl.load(x + at)) + tl.math.exp(tl.load(x + at)))

    x, out = X.astype(np.float32), np.zeros(N, np.float32)
    interpret(kernel[(1,)], x, out)
    assert np.allclose(out, np.tanh(x) + np.exp(x))
