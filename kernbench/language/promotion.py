"""Data types of results."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, reduce
from typing import TypeVar

from kernbench.language.arguments import BadArgumentError
from kernbench.operations import Operation
from kernbench.support import dtypes

WIDE = "engines do not calculate with {}, which is for values in memory; cast to {}"

_Type = TypeVar("_Type", bound=str)


def promote(types: Sequence[str], scalars: Sequence[int | float] = ()) -> str:
    """The type of an elementwise result.

    A float beats an integer, two different floats give f32; of integers the wider one, of equally wide ones
    that without a sign; f64 is refused. Python scalars do not widen floats; a float scalar turns integers
    into f32, an integer turns truth values into i32. Scalars alone are i32 or f32.
    """
    return _promote(tuple(types), frozenset(map(type, scalars)))


@cache
def _promote(types: tuple[str, ...], scalars: frozenset[type]) -> str:
    for name in types:
        _calculates("dtype", name)
    floats = [name for name in types if dtypes.dtype(name).is_float]
    if floats:
        return floats[0] if all(name == floats[0] for name in floats) else "f32"
    if float in scalars:
        return "f32"
    if not types or (int in scalars and {*types} == {"i1"}):
        return "i32"
    return reduce(wider, types)


def wider(a: _Type, b: _Type) -> _Type:
    """The wider of two types of integers, i1 the narrowest; of equally wide ones that without a sign."""
    if a == b:
        return a
    return max(a, b, key=lambda name: (0 if name == "i1" else dtypes.SIZES[name], name.startswith("u")))


def math_result(rule: Operation, types: Sequence[str], scalars: Sequence[int | float] = ()) -> str:
    """The type of ``rule``'s result: as promoted, f32 where integers make no sense, some sums in 32 bits.

    Comparisons give i1, ``argmax`` and ``argmin`` i32. Masks are added up and counted as i32, short integers
    without a sign as u32.
    """
    if rule.result:
        return {"mask": "i1", "index": "i32"}[rule.result]
    name = promote(types, scalars)
    floats = dtypes.dtype(name).is_float
    if name in rule.wide or (name == "i1" and not rule.logical and not rule.float_only):
        return "f32" if floats else "u32" if name.startswith("u") else "i32"
    return "f32" if rule.float_only and not floats else name


def _calculates(argument: str, name: str) -> None:
    """Refuse a type that no engine calculates with."""
    if name in dtypes.PACKED:
        raise BadArgumentError(argument, f"only tl.dot takes {name}")
    if name not in dtypes.DTYPES:
        raise BadArgumentError(argument, WIDE.format(name, "f32"))


def accumulator(a: str) -> str:
    """The default accumulator of a product of ``a``: f32 for floats, i32 for integers."""
    if a in dtypes.INDICES:
        raise BadArgumentError("a", f"the matrix engine takes no {a}; cast both operands: to i8, or to i32")
    if a not in dtypes.PACKED:
        _calculates("a", a)
    return "f32" if dtypes.dtype(a).is_float else "i32"


def dot_result(a: str) -> str:
    """The default result of a product of ``a``: its own type for floats, i32 for integers."""
    return a if dtypes.dtype(a).is_float else "i32"
