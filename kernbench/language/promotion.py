"""Data types of results."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from kernbench.language.arguments import BadArgumentError
from kernbench.support import dtypes
from kernbench.values.math_ops import MathOp

WIDE = "engines do not calculate with i64, which is for pointers and indices in memory; cast to i32"


def promote(types: Sequence[str], scalars: Sequence[int | float] = ()) -> str:
    """The type of an elementwise result.

    A float beats an integer, two different floats give f32, i32 beats u8, which beats i8; i64 is refused.
    Python scalars do not widen floats; a float scalar turns integers into f32, scalars alone are i32 or f32.
    """
    return _promote(tuple(types), bool(scalars) and any(isinstance(value, float) for value in scalars))


@cache
def _promote(types: tuple[str, ...], float_scalar: bool) -> str:
    if "i64" in types:
        raise BadArgumentError("dtype", WIDE)
    floats = [name for name in types if dtypes.dtype(name).is_float]
    if floats:
        return floats[0] if all(name == floats[0] for name in floats) else "f32"
    if float_scalar:
        return "f32"
    if not types or "i32" in types:
        return "i32"
    return "u8" if "u8" in types else "i8"


def math_result(rule: MathOp, types: Sequence[str], scalars: Sequence[int | float] = ()) -> str:
    """The type of ``rule``'s result: as promoted, f32 where integers make no sense, some sums in 32 bits.

    Comparisons give i8 (0 or 1), ``argmax`` and ``argmin`` i32.
    """
    if rule.result:
        return {"mask": "i8", "index": "i32"}[rule.result]
    name = promote(types, scalars)
    floats = dtypes.dtype(name).is_float
    if name in rule.wide:
        return "f32" if floats else "i32"
    return "f32" if rule.float_only and not floats else name


def accumulator(a: str) -> str:
    """The default accumulator of a product of ``a``: f32 for floats, i32 for integers."""
    if a == "i64":
        raise BadArgumentError("a", WIDE)
    return "f32" if dtypes.dtype(a).is_float else "i32"


def dot_result(a: str) -> str:
    """The default result of a product of ``a``: its own type for floats, i32 for integers."""
    return a if dtypes.dtype(a).is_float else "i32"
