"""Elementwise operations of two and three arguments."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from kernbench.operations.row import Array, Check, Operation

ZERO_DIVISOR = "an integer is divided by 0; replace zeros before, as in a // tl.where(b == 0, 1, b)"


def _no_zero(divide: Callable[[Array, Array], Any]) -> Callable[[Array, Array], Array]:
    def function(a: Array, b: Array) -> Array:
        if b.dtype.kind in "iu" and not b.all():
            place = f" (index {tuple(map(int, np.argwhere(b == 0)[0]))})" if b.ndim else ""
            raise ZeroDivisionError(ZERO_DIVISOR + place)
        return np.asarray(divide(a, b))

    return function


def _truncated(a: Array, b: Array) -> Array:
    """``a / b`` cut towards zero, in their type."""
    if np.result_type(a, b).kind == "f":
        return np.asarray(np.trunc(np.true_divide(a, b)))
    return np.asarray((a - np.fmod(a, b)) // b)


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


def _two(
    name: str,
    meaning: str,
    function: Callable[..., Any],
    check: Callable[..., Any] | None = None,
    *,
    exact: bool = True,
    **more: Any,
) -> Operation:
    """A row of two arguments. ``check``: its arithmetic with bounds; else it rounds nothing if ``exact``."""
    known = Check("sums", check) if check else Check("exact", function) if exact else None
    return Operation(name, meaning, function, ("a", "b"), check=known, **more)


def _bits(name: str, meaning: str, function: Callable[..., Any], **more: Any) -> Operation:
    return _two(name, meaning, function, integer_only=True, **more)


def _compare(name: str, meaning: str, function: Callable[..., Any]) -> Operation:
    return _two(name, meaning, function, result="mask")


def _division(name: str, meaning: str, divide: Callable[..., Any], **more: Any) -> Operation:
    return _two(name, meaning, _no_zero(divide), exact=False, divides=True, **more)


def _choice(name: str, meaning: str, arguments: tuple[str, ...], function: Any, **more: Any) -> Operation:
    """A row whose result is one of its arguments."""
    return Operation(name, meaning, function, arguments, check=Check("exact", function), **more)


_IN_TRITON: dict[str, Any] = {"ignored": ("sanitize_overflow",)}

OF_SEVERAL = (
    _two("add", "``a + b``; one of the two may be a Python number. Shapes broadcast, here and below.",
         np.add, operator.add, triton=("add",), **_IN_TRITON),
    _two("sub", "``a - b``.", np.subtract, operator.sub, triton=("sub",), **_IN_TRITON),
    _two("mul", "``a * b``.", np.multiply, operator.mul, triton=("mul",), **_IN_TRITON),
    _two("div", "``a / b``; f32 for integers.", np.true_divide, operator.truediv, float_only=True,
         divides=True, triton=("fdiv", "div_rn"), math=True, libdevice=("fast_dividef",),
         ignored=("ieee_rounding",)),
    _two("pow", "``a ** b``; f32 for integers.", np.power, exact=False, float_only=True, libdevice=("pow",)),
    _division("floordiv", "``a // b``, rounded down. Integers by 0 are an error where values are known.",
              np.floor_divide, operators=()),
    _division("mod", "``a % b``, with the sign of b. Integers by 0 are an error where values are known.",
              np.mod, operators=()),
    _division("truncdiv", "``a // b``, cut towards zero as in C; `kernbench.tl` rounds down.", _truncated,
              tl=False, operators=("floordiv",)),
    _division("truncmod", "``a % b`` with the sign of a, as in C; in `kernbench.tl`, that of b.", np.fmod,
              tl=False, operators=("mod",)),
    _bits("bitwise_and", "``a & b``; integers and masks only.", np.bitwise_and, logical=True),
    _bits("bitwise_or", "``a | b``; integers and masks only.", np.bitwise_or, logical=True),
    _bits("bitwise_xor", "``a ^ b``; integers and masks only.", np.bitwise_xor, logical=True),
    _bits("left_shift", "``a << b``; integers only.", np.left_shift),
    _bits("right_shift", "``a >> b``, which copies the sign bit; integers only.", np.right_shift),
    _compare("equal", "``a == b``: truth values (i1), a mask for ``where``, ``load`` and ``store``.",
             np.equal),
    _compare("not_equal", "``a != b``, a mask.", np.not_equal),
    _compare("less", "``a < b``, a mask.", np.less),
    _compare("less_equal", "``a <= b``, a mask.", np.less_equal),
    _compare("greater", "``a > b``, a mask.", np.greater),
    _compare("greater_equal", "``a >= b``, a mask.", np.greater_equal),
    _choice("maximum", "The larger of a and b, elementwise; where one is NaN, the other, unless "
            "``propagate_nan``.", ("a", "b"), np.fmax, logical=True, nan="maximum_nan", triton=("maximum",)),
    _choice("minimum", "The smaller of a and b, elementwise; where one is NaN, the other, unless "
            "``propagate_nan``.", ("a", "b"), np.fmin, logical=True, nan="minimum_nan", triton=("minimum",)),
    _choice("maximum_nan", "The larger of a and b; NaN where one is.", ("a", "b"), np.maximum, logical=True,
            engine="maximum", tl=False),
    _choice("minimum_nan", "The smaller of a and b; NaN where one is.", ("a", "b"), np.minimum, logical=True,
            engine="minimum", tl=False),
    _choice("clamp", "``x`` limited to ``[min, max]``; NaN becomes ``min``, unless ``propagate_nan``.",
            ("x", "min", "max"), lambda x, low, high: np.asarray(np.fmin(np.fmax(x, low), high)),
            block_first=True, nan="clamp_nan", triton=("clamp",)),
    _choice("clamp_nan", "``x`` limited to ``[min, max]``; NaN stays.", ("x", "min", "max"),
            lambda x, low, high: np.asarray(np.minimum(np.maximum(x, low), high)),
            block_first=True, engine="clamp", tl=False),
    _choice("where", "``a`` where ``cond`` is not zero, else ``b``; the type is that of a and b.",
            ("cond", "a", "b"), lambda cond, a, b: np.where(cond != 0, a, b),
            block_first=True, chooses=True, logical=True, triton=("where",)),
    Operation("fma", "``a * b + c``, rounded once.", _fma, ("a", "b", "c"), triton=("fma",), math=True,
              check=Check("floats", lambda a, b, c: a * b + c)),
)  # fmt: skip
