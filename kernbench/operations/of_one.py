"""Elementwise operations of one argument."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from kernbench.operations.row import Array, Check, Operation

_erf_of_each = np.frompyfunc(math.erf, 1, 1)


def erf(x: Array) -> Array:
    """The Gauss error function, computed in f64 and rounded to the type of ``x``."""
    return np.asarray(_erf_of_each(x), x.dtype)


def _of_floats(
    name: str, meaning: str, function: Callable[[Any], Any], size: float | None = None, **more: Any
) -> Operation:
    check = Check("smooth", function, size)
    return Operation(name, meaning, function, float_only=True, check=check, **more)


def _everywhere(name: str, *more: str) -> dict[str, Any]:
    """Names of what Triton has as well, in ``tl.math`` and libdevice too."""
    return {"triton": (name,), "math": True, "libdevice": more}


def _cuda(name: str, *more: str) -> dict[str, Any]:
    """Names of what Triton has in libdevice alone."""
    return {"libdevice": (name, *more)}


def _rounded(name: str, meaning: str, function: Callable[[Any], Any], **more: Any) -> Operation:
    return Operation(name, meaning, function, check=Check("exact", function), **more)


def _half_away(x: Array) -> Array:
    size = np.abs(x)
    whole = np.floor(size)
    return np.asarray(np.copysign(whole + (size - whole >= 0.5), x), x.dtype)


OF_ONE = (
    _of_floats("exp", "e to the power of x. Integers give f32, here and in all functions of this kind.",
               np.exp, **_everywhere("exp", "fast_expf")),
    _of_floats("exp2", "2 to the power of x.", np.exp2, **_everywhere("exp2")),
    _of_floats("expm1", "``exp(x) - 1``, exact for small x too.", np.expm1, **_cuda("expm1")),
    _of_floats("log", "Natural logarithm.", np.log, **_everywhere("log", "fast_logf")),
    _of_floats("log2", "Logarithm to base 2.", np.log2, **_everywhere("log2")),
    _of_floats("log1p", "``log(1 + x)``, exact for small x too.", np.log1p, **_cuda("log1p")),
    _of_floats("sqrt", "Square root.", np.sqrt, triton=("sqrt", "sqrt_rn"), math=True),
    _of_floats("rsqrt", "``1 / sqrt(x)``.", lambda x: 1 / np.sqrt(x), **_everywhere("rsqrt")),
    _rounded("abs", "Magnitude.", np.abs, **_everywhere("abs")),
    _of_floats("sigmoid", "``1 / (1 + exp(-x))``.", lambda x: 1 / (1 + np.exp(-x)), triton=("sigmoid",)),
    _of_floats("tanh", "Hyperbolic tangent.", np.tanh, **_cuda("tanh", "fast_tanhf")),
    _of_floats("sinh", "Hyperbolic sine.", np.sinh, **_cuda("sinh")),
    _of_floats("cosh", "Hyperbolic cosine.", np.cosh, **_cuda("cosh")),
    _of_floats("erf", "Gauss error function.", erf, **_everywhere("erf")),
    _of_floats("cos", "Cosine of x in radians.", np.cos, 1.0, **_everywhere("cos")),
    _of_floats("sin", "Sine of x in radians.", np.sin, 1.0, **_everywhere("sin")),
    _of_floats("tan", "Tangent of x in radians.", np.tan, 1.0, **_cuda("tan")),
    _of_floats("asin", "Arc sine in radians; NaN outside of [-1, 1].", np.arcsin, **_cuda("asin")),
    _of_floats("acos", "Arc cosine in radians; NaN outside of [-1, 1].", np.arccos, **_cuda("acos")),
    _of_floats("atan", "Arc tangent in radians.", np.arctan, **_cuda("atan")),
    _rounded("floor", "Largest integer not above x, in x's type.", np.floor, **_everywhere("floor")),
    _rounded("ceil", "Smallest integer not below x, in x's type.", np.ceil, **_everywhere("ceil")),
    _rounded("trunc", "x cut towards zero, in x's type.", np.trunc, **_cuda("trunc")),
    _rounded("rint", "The nearest integer, of halves the even one, in x's type.", np.rint,
             **_cuda("rint", "nearbyint")),
    _rounded("round", "The nearest integer, halves away from zero, in x's type.", _half_away,
             **_cuda("round")),
    _rounded("isnan", "Where x is not a number: a mask (i1).", np.isnan, result="mask", **_cuda("isnan")),
    _rounded("isinf", "Where x is infinite: a mask (i1).", np.isinf, result="mask", **_cuda("isinf")),
    _rounded("neg", "``-x``.", np.negative),
    _rounded("bitwise_not", "``~x``: bits of integers inverted; of a mask where it is false.", np.invert,
             integer_only=True, logical=True),
    _rounded("logical_not", "True where x is zero: a mask (i1).", lambda x: np.asarray(x == 0),
             result="mask"),
    Operation("cast", "``x`` in another type.", np.asarray, kind="cast"),
    Operation("broadcast_to", "``x`` repeated to a shape.", np.asarray, kind="move"),
)  # fmt: skip
