"""The math operations: numpy meaning and number of arguments. One table for kernels and replay.

A function gets arrays of one compute type, f32 or (for integers) i64, and broadcasts as numpy does.
The larger and the smaller of a number and NaN is the number, as in Triton.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, slots=True)
class MathOp:
    """One operation of PE_MATH.

    ``arity`` counts the arguments, tensors and scalars alike. ``kind``: ``elementwise`` broadcasts its
    arguments, ``reduce`` shrinks one axis (``None``: all) to size 1, ``rowwise`` needs a whole axis.
    ``float_only`` operations turn integers into f32 first, ``integer_only`` ones take no floats. ``result``
    is the type of the result where it does not follow from the arguments: ``mask`` (i1), ``index`` (i32).
    ``logical`` ones give a mask of masks, with booleans in place of bits; all others take masks as numbers.
    """

    name: str
    arity: int
    function: Callable[..., Any]
    kind: Literal["elementwise", "reduce", "rowwise"] = "elementwise"
    float_only: bool = False
    result: Literal["", "mask", "index"] = ""
    integer_only: bool = False
    logical: bool = False
    wide: tuple[str, ...] = ()
    """Of one that adds up or multiplies: the short types whose results are f32 or i32."""


def _sigmoid(x: Array) -> Array:
    return np.asarray(1 / (1 + np.exp(-x)))


def _fma(a: Array, b: Array, c: Array) -> Array:
    if a.dtype != np.float32:
        return np.asarray(a * b + c)
    # "Fused" means one rounding, that to the type of the result. The product of two f32 is exact in f64, the
    # sum is not: it is rounded to odd, after which rounding to any shorter type is as if it were the only one
    # (Boldo and Melquiond, "Emulation of FMA and correctly rounded sums", 2008). TwoSum gives the rest.
    product, addend = a.astype(np.float64) * b, c.astype(np.float64)
    total = product + addend
    part = total - product
    rest = (product - (total - part)) + (addend - part)
    even = total.view(np.int64) & 1 == 0
    beyond = np.nextafter(total, np.copysign(np.inf, rest))
    return np.where(np.isfinite(total) & (rest != 0) & even, beyond, total)


def _clamp(x: Array, low: Array, high: Array) -> Array:
    return np.asarray(np.fmin(np.fmax(x, low), high))


def _where(condition: Array, a: Array, b: Array) -> Array:
    return np.where(condition != 0, a, b)


def _rsqrt(x: Array) -> Array:
    return np.asarray(np.float32(1) / np.sqrt(x))


DIVISIONS = ("floordiv", "mod", "truncdiv", "truncmod")
ZERO_DIVISOR = "an integer is divided by 0; replace zeros before, as in a // tl.where(b == 0, 1, b)"
_erf_of_each = np.frompyfunc(math.erf, 1, 1)


def erf(x: Array) -> Array:
    """The Gauss error function, computed in f64 and rounded to the type of ``x``."""
    return np.asarray(_erf_of_each(x), x.dtype)


def _no_zero(divide: Callable[[Array, Array], Any]) -> Callable[[Array, Array], Array]:
    def function(a: Array, b: Array) -> Array:
        if b.dtype.kind in "iu" and not b.all():
            raise ZeroDivisionError(f"{ZERO_DIVISOR} (index {tuple(map(int, np.argwhere(b == 0)[0]))})")
        return np.asarray(divide(a, b))

    return function


def _truncated(a: Array, b: Array) -> Array:
    """``a / b`` cut towards zero, in their type."""
    if np.result_type(a, b).kind == "f":
        return np.asarray(np.trunc(np.true_divide(a, b)))
    return np.asarray((a - np.fmod(a, b)) // b)


def _comparison(compare: Callable[[Array, Array], Any]) -> Callable[[Array, Array], Array]:
    return lambda a, b: np.asarray(compare(a, b))


def _argmax(x: Array, axis: int | None) -> Array:
    return np.asarray(np.argmax(x == _max(x, axis), axis=axis, keepdims=True))


def _argmin(x: Array, axis: int | None) -> Array:
    return np.asarray(np.argmax(x == _min(x, axis), axis=axis, keepdims=True))


def _cumsum(x: Array, axis: int) -> Array:
    return np.asarray(np.cumsum(x, axis=axis))


def _cumprod(x: Array, axis: int) -> Array:
    return np.asarray(np.cumprod(x, axis=axis))


def _softmax(x: Array, axis: int) -> Array:
    exponents = np.exp(x - np.max(x, axis=axis, keepdims=True))
    return np.asarray(exponents / np.sum(exponents, axis=axis, keepdims=True))


def _sum(x: Array, axis: int | None) -> Array:
    return np.asarray(np.sum(x, axis=axis, keepdims=True))


def _max(x: Array, axis: int | None) -> Array:
    return np.asarray(np.fmax.reduce(x, axis=axis, keepdims=True))


def _min(x: Array, axis: int | None) -> Array:
    return np.asarray(np.fmin.reduce(x, axis=axis, keepdims=True))


MATH_OPS: dict[str, MathOp] = {
    op.name: op
    for op in (
        MathOp("exp", 1, np.exp, float_only=True),
        MathOp("log", 1, np.log, float_only=True),
        MathOp("sqrt", 1, np.sqrt, float_only=True),
        MathOp("exp2", 1, np.exp2, float_only=True),
        MathOp("log2", 1, np.log2, float_only=True),
        MathOp("rsqrt", 1, _rsqrt, float_only=True),
        MathOp("tanh", 1, np.tanh, float_only=True),
        MathOp("erf", 1, erf, float_only=True),
        MathOp("floor", 1, np.floor),
        MathOp("ceil", 1, np.ceil),
        MathOp("cast", 1, np.asarray),
        MathOp("sigmoid", 1, _sigmoid, float_only=True),
        MathOp("cos", 1, np.cos, float_only=True),
        MathOp("sin", 1, np.sin, float_only=True),
        MathOp("abs", 1, np.abs),
        MathOp("neg", 1, np.negative),
        MathOp("add", 2, np.add),
        MathOp("sub", 2, np.subtract),
        MathOp("mul", 2, np.multiply),
        MathOp("div", 2, np.true_divide, float_only=True),
        MathOp("pow", 2, np.power, float_only=True),
        MathOp("floordiv", 2, _no_zero(np.floor_divide)),
        MathOp("mod", 2, _no_zero(np.mod)),
        MathOp("truncdiv", 2, _no_zero(_truncated)),
        MathOp("truncmod", 2, _no_zero(np.fmod)),
        MathOp("bitwise_and", 2, np.bitwise_and, integer_only=True, logical=True),
        MathOp("bitwise_or", 2, np.bitwise_or, integer_only=True, logical=True),
        MathOp("bitwise_xor", 2, np.bitwise_xor, integer_only=True, logical=True),
        MathOp("left_shift", 2, np.left_shift, integer_only=True),
        MathOp("right_shift", 2, np.right_shift, integer_only=True),
        MathOp("bitwise_not", 1, np.invert, integer_only=True, logical=True),
        MathOp("logical_not", 1, lambda x: np.asarray(x == 0), result="mask"),
        MathOp("equal", 2, _comparison(np.equal), result="mask"),
        MathOp("not_equal", 2, _comparison(np.not_equal), result="mask"),
        MathOp("less", 2, _comparison(np.less), result="mask"),
        MathOp("less_equal", 2, _comparison(np.less_equal), result="mask"),
        MathOp("greater", 2, _comparison(np.greater), result="mask"),
        MathOp("greater_equal", 2, _comparison(np.greater_equal), result="mask"),
        MathOp("maximum", 2, np.fmax, logical=True),
        MathOp("minimum", 2, np.fmin, logical=True),
        MathOp("fma", 3, _fma),
        MathOp("clamp", 3, _clamp),
        MathOp("where", 3, _where, logical=True),
        MathOp("softmax", 1, _softmax, kind="rowwise", float_only=True),
        MathOp("cumsum", 1, _cumsum, kind="rowwise", wide=("bf16", "i8", "u8")),
        MathOp("cumprod", 1, _cumprod, kind="rowwise", wide=("bf16", "i8", "u8")),
        MathOp("broadcast_to", 1, np.asarray, kind="rowwise"),
        MathOp("argmax", 1, _argmax, kind="reduce", result="index"),
        MathOp("argmin", 1, _argmin, kind="reduce", result="index"),
        MathOp("sum", 1, _sum, kind="reduce", wide=("f16", "bf16", "i8", "u8")),
        MathOp("max", 1, _max, kind="reduce"),
        MathOp("min", 1, _min, kind="reduce"),
    )
}
