"""The math operations: numpy meaning, number of arguments, passes. One table for kernels, replay and timing.

A function gets arrays of one compute type, f32 or (for integers) i64, and broadcasts as numpy does.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, slots=True)
class MathOp:
    """One operation of PE_MATH.

    ``arity`` counts the arguments, tensors and scalars alike. ``kind``: ``elementwise`` broadcasts its
    arguments, ``reduce`` shrinks one axis to size 1, ``rowwise`` keeps the shape but needs a whole axis.
    ``passes`` is how often every element goes through the vector lanes, the unit that MATH is timed in.
    ``float_only`` operations turn integers into f32 first.
    """

    name: str
    arity: int
    function: Callable[..., Any]
    kind: Literal["elementwise", "reduce", "rowwise"] = "elementwise"
    passes: int = 1
    float_only: bool = False


def _sigmoid(x: Array) -> Array:
    return np.asarray(1 / (1 + np.exp(-x)))


def _fma(a: Array, b: Array, c: Array) -> Array:
    # "Fused" means one rounding: an f32 product is exact in f64, so the sum there is rounded but once.
    if a.dtype == np.float32:
        return (a.astype(np.float64) * b + c).astype(np.float32)
    return np.asarray(a * b + c)


def _clamp(x: Array, low: Array, high: Array) -> Array:
    return np.asarray(np.minimum(np.maximum(x, low), high))


def _where(condition: Array, a: Array, b: Array) -> Array:
    return np.where(condition != 0, a, b)


def _softmax(x: Array, axis: int) -> Array:
    exponents = np.exp(x - np.max(x, axis=axis, keepdims=True))
    return np.asarray(exponents / np.sum(exponents, axis=axis, keepdims=True))


def _sum(x: Array, axis: int) -> Array:
    return np.asarray(np.sum(x, axis=axis, keepdims=True))


def _max(x: Array, axis: int) -> Array:
    return np.asarray(np.max(x, axis=axis, keepdims=True))


def _min(x: Array, axis: int) -> Array:
    return np.asarray(np.min(x, axis=axis, keepdims=True))


# A pass is one trip of the elements through the lanes. Transcendental functions are taken as pipelined
# lookups at full rate, so everything is one pass, except softmax, which is the sequence
# max, subtract, exp, sum, divide: five.
MATH_OPS: dict[str, MathOp] = {
    op.name: op
    for op in (
        MathOp("exp", 1, np.exp, float_only=True),
        MathOp("log", 1, np.log, float_only=True),
        MathOp("sqrt", 1, np.sqrt, float_only=True),
        MathOp("sigmoid", 1, _sigmoid, float_only=True),
        MathOp("cos", 1, np.cos, float_only=True),
        MathOp("sin", 1, np.sin, float_only=True),
        MathOp("abs", 1, np.abs),
        MathOp("neg", 1, np.negative),
        MathOp("add", 2, np.add),
        MathOp("sub", 2, np.subtract),
        MathOp("mul", 2, np.multiply),
        MathOp("div", 2, np.true_divide, float_only=True),
        MathOp("maximum", 2, np.maximum),
        MathOp("minimum", 2, np.minimum),
        MathOp("fma", 3, _fma),
        MathOp("clamp", 3, _clamp),
        MathOp("where", 3, _where),
        MathOp("softmax", 1, _softmax, kind="rowwise", passes=5, float_only=True),
        MathOp("sum", 1, _sum, kind="reduce"),
        MathOp("max", 1, _max, kind="reduce"),
        MathOp("min", 1, _min, kind="reduce"),
    )
}
