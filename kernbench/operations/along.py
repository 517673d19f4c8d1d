"""Operations along an axis: reductions, running sums and softmax."""

from __future__ import annotations

from typing import Any

import numpy as np

from kernbench.operations.row import REQUIRED, Array, Check, Operation
from kernbench.support.bounded import Bounded


def _max(x: Array, axis: int | None) -> Array:
    return np.asarray(np.fmax.reduce(x, axis=axis, keepdims=True))


def _min(x: Array, axis: int | None) -> Array:
    return np.asarray(np.fmin.reduce(x, axis=axis, keepdims=True))


def _argmax(x: Array, axis: int | None) -> Array:
    return np.asarray(np.argmax(x == _max(x, axis), axis=axis, keepdims=True))


def _argmin(x: Array, axis: int | None) -> Array:
    return np.asarray(np.argmax(x == _min(x, axis), axis=axis, keepdims=True))


def _sum(x: Array, axis: int | None) -> Array:
    return np.asarray(np.sum(x, axis=axis, keepdims=True))


def _softmax(x: Array, axis: int) -> Array:
    exponents = np.exp(x - np.max(x, axis=axis, keepdims=True))
    return np.asarray(exponents / np.sum(exponents, axis=axis, keepdims=True))


def _of_sum(x: Array, axis: int | None, integers: bool) -> Bounded:
    if integers:
        return Bounded(x.sum(axis=axis, keepdims=True))
    return Bounded(x.reshape(-1)).sum(0) if axis is None else Bounded(x).sum(axis, keepdims=True)


def _of_cumsum(x: Array, axis: int | None, integers: bool) -> Bounded | None:
    if integers or axis is None:
        return None
    return Bounded(np.cumsum(x, axis), x.shape[axis] * 2.0**-24 * np.cumsum(np.abs(x), axis))


def _of_cumprod(x: Array, axis: int | None, integers: bool) -> Bounded | None:
    if integers or axis is None:
        return None
    products = np.cumprod(x, axis)
    return Bounded(products, x.shape[axis] * 2.0**-23 * np.abs(products))


def _of_softmax(x: Array, axis: int | None, integers: bool) -> Bounded | None:
    if integers or axis is None:
        return None
    weights = (Bounded(x) - x.max(axis=axis, keepdims=True)).mapped(np.exp)
    found: Bounded = weights / weights.sum(axis, keepdims=True)
    return found


def _reduction(name: str, meaning: str, function: Any, check: Any, **more: Any) -> Operation:
    return Operation(
        name, meaning, function, kind="reduce", check=Check("along", check), triton=(name,), **more
    )


def _picked(name: str, meaning: str, function: Any, **more: Any) -> Operation:
    def check(x: Array, axis: int | None, _integers: bool) -> Bounded:
        return Bounded(function(x, axis))

    return _reduction(name, meaning, function, check, **more)


def _running(name: str, meaning: str, function: Any, check: Any, **more: Any) -> Operation:
    return Operation(
        name, meaning, function, kind="rowwise", check=Check("along", check), triton=(name,), **more
    )


_SHORT = ("bf16", "i8", "u8", "i16", "u16")

ALONG = (
    _running("softmax", "Softmax along ``axis``, the maximum subtracted first; five passes by default.",
             _softmax, _of_softmax, axis=-1, float_only=True, ignored=("ieee_rounding",)),
    _running("cumsum", "Running sum along ``axis``. Sums of short integers are i32 or u32, of bf16 f32.",
             np.cumsum, _of_cumsum, axis=0, wide=_SHORT, running=True),
    _running("cumprod", "Running product along ``axis``. Integers keep their type, bf16 becomes f32.",
             np.cumprod, _of_cumprod, axis=0, wide=("bf16",), running=True),
    _reduction("sum", """\
Sum along ``axis``, or of all elements. Sums of short integers are i32 or u32, of f16 and bf16 f32.

The axis stays with size 1, so that the result broadcasts against ``x``; with ``keep_dims=False`` it
goes, as in Triton. So do all reductions.""", _sum, _of_sum, wide=("f16", *_SHORT)),
    _picked("max", "Largest element along ``axis``, or of all; NaN is skipped, here and in the next three.",
            _max, index="argmax"),
    _picked("min", "Smallest element along ``axis``, or of all.", _min, index="argmin"),
    _picked("argmax", "Index of the largest element along ``axis`` (the first of equals), i32.", _argmax,
            axis=REQUIRED, result="index"),
    _picked("argmin", "Index of the smallest element along ``axis`` (the first of equals), i32.", _argmin,
            axis=REQUIRED, result="index"),
)  # fmt: skip
