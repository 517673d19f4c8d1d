"""What a newcomer gets wrong in a first kernel: each message names the mistake and the remedy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import kernbench as kb
import kernbench.triton as triton
import kernbench.triton.language as tl
from kernbench.errors import KernBenchError

X = np.random.default_rng(0).standard_normal((5, 100)).astype(np.float32)


@triton.jit
def softmax(x_ptr, out_ptr, stride, n, BLOCK: tl.constexpr, MASKED: tl.constexpr = True):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    mask = cols < n if MASKED else None
    x = tl.load(x_ptr + row * stride + cols, mask=mask, other=-float("inf"))
    weights = tl.exp(x - tl.max(x, axis=0))
    tl.store(out_ptr + row * stride + cols, weights / tl.sum(weights, axis=0), mask=mask)


def reference(x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    weights = np.exp(x - x.max(1, keepdims=True))
    return weights / weights.sum(1, keepdims=True)


def run(
    x: Any = X, grid: Any = (5,), kernel: Any = softmax, jit: Callable[..., Any] | None = None, **given: Any
) -> Any:
    """A launch of the kernel; ``given`` replaces its arguments, None leaves one out."""
    named = {"stride": 100, "n": 100, "BLOCK": 128, **given}
    named = {key: value for key, value in named.items() if value is not None}
    on = kernel if grid is None else kernel[grid]
    return kb.run_kernel(on, x, out=np.zeros((5, 100), np.float32), topology="minimal", **named)


class NotOurs:
    """An array of some other library."""

    shape = (5, 100)


def test_the_kernel_itself_is_right() -> None:
    run().check(reference)
    run(np.asfortranarray(X), num_warps=8).check(reference)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"stride": 128}, r"is at 512 of tensor 'x_ptr', which has 500 elements; mask it, or mend strides or "
         r"grid: this is block \(4, 0, 0\) of the grid \(test_triton_mistakes.py:24\)"),
        ({"MASKED": False}, r"argument 'pointer': element \(100,\) of the block is at 500 of tensor 'x_ptr'"),
        ({"grid": None}, r"kernel 'softmax' is launched on a grid: kernel\[grid\]"),
        ({"grid": (100 / 32,)}, r"grid \(3.125,\) must be .* such as triton.cdiv\(n, BLOCK\)"),
        ({"BLOCK": None}, r"'softmax' takes x_ptr, .*: missing a required argument: 'BLOCK'"),
        ({"BLOK": 1}, r"kernel 'softmax' has no parameter 'BLOK'; did you mean 'BLOCK'"),
        ({"x": NotOurs()}, r"argument 'x_ptr' is a \S+NotOurs, which is not on .*torch.from_numpy"),
        ({"x": [1.0]}, r"argument 'x_ptr' is a builtins.list, which is not on .*kb.run_kernel"),
        ({"x": X.astype(np.float64)}, r"engines do not calculate with f64, .*; cast to f32"),
        ({"x": X.astype(np.complex64)}, r"values of dtype complex64 are not real numbers"),
    ],
)  # fmt: skip
def test_a_wrong_launch_says_what_is_wrong(given: dict[str, Any], message: str) -> None:
    with pytest.raises(KernBenchError, match=message):
        run(**given)


@pytest.mark.parametrize(("given", "where"), [({"grid": (4,)}, "row 4"), ({"stride": 64}, r"\(0, 64\)")])
def test_wrong_numbers_say_where(given: dict[str, Any], where: str) -> None:
    with pytest.raises(KernBenchError, match=rf"'output of the interpreter'.*{where}"):
        run(**given).check(reference)


def when(x: Any, out: Any) -> None:
    if tl.load(x + tl.arange(0, 8)) > 0:
        tl.store(out, 1.0)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (when, r"a block of shape \(8,\) is not one truth value; pick elements with tl.where"),
        (lambda x, out: x[tl.arange(0, 8)], r"pointer 'x' is not indexed: tl.load\(pointer \+ offsets\)"),
        (lambda x, out: tl.store(out, tl.load(x + tl.arange(0, 8))),
         r"tl.store: argument 'value': shape \(8,\) does not fit the pointers' \(1,\)"),
        (lambda x, out: tl.load(x + tl.arange(0, 8), mask=tl.arange(0, 8) > 1 and True).sum(), "& and |"),
        (lambda x, out: tl.dot(tl.zeros((8, 8), tl.float16), tl.zeros((8, 8))), r"cast one: b.to\(a.dtype\)"),
        (lambda x, out: np.exp(tl.load(x)), "np.exp takes arrays, and this is a handle: use tl.exp"),
        (lambda x, out: tl.store(out, 0.0, othr=0), "'othr': there is no such argument; it takes bound"),
    ],
)  # fmt: skip
def test_a_wrong_line_says_what_is_wrong(body: Any, message: str) -> None:
    def kernel(x, out):
        body(x, out)

    with pytest.raises(KernBenchError, match=rf"{message}.*\(test_triton_mistakes.py:\d+\)"):
        kb.run_kernel(triton.jit(kernel)[(1,)], X[0], out=np.zeros(8, np.float32), topology="minimal")


def test_without_jit_and_without_a_machine() -> None:
    def plain(x, out):
        tl.store(out, tl.load(x))

    with pytest.raises(KernBenchError, match=r"without @triton.jit; decorate it and launch it"):
        kb.run_kernel(plain, X[0], out=np.zeros(1, np.float32), topology="minimal")
    with pytest.raises(KernBenchError, match=r"give arrays to kb.run_kernel\(softmax\[grid\], ...\)"):
        softmax[(5,)](X, X, 100, 100, 128)
