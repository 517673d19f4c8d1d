"""In which type Triton calculates with two blocks of different types.

As its language reference has it: f64 before f32 before f16; two bf16 are bf16, and bf16 with anything else
f32; of integers the wider one, of equal width the one without sign. Where a division may round, halves are
divided in f32. Numbers of Python do not count. Engines widen by themselves; what has to be another value
first, such as a negative number without sign or a large integer as f16, is cast.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import ml_dtypes

from kernbench.language.arguments import BadArgumentError
from kernbench.language.promotion import promote, wider
from kernbench.operations import Operation
from kernbench.support import dtypes

_FINFO: Any = ml_dtypes.finfo  # it has no types
_MANTISSA = {
    name: _FINFO(dtypes.dtype(name).numpy).nmant + 1 for name in dtypes.SIZES if dtypes.dtype(name).is_float
}
"""Bits of integers that a float type holds exactly."""


def common(types: Sequence[str], operation: Operation) -> str:
    """The type in which ``operation`` is calculated; :class:`BadArgumentError` where Triton has none."""
    first, *rest = types
    for other in rest:
        first = _of_two(first, other, operation)
    return first


def casts(types: Sequence[str], operation: Operation) -> list[str]:
    """What each operand is cast to before; its own type where engines convert it as they calculate."""
    if not types or (len({*types}) == 1 and not operation.divides):
        return list(types)
    wanted = common([types[0], *types], operation)
    if operation.divides and operation.float_only and len(types) > 1 and not dtypes.dtype(wanted).is_float:
        wanted = "f32"
    if wanted not in dtypes.DTYPES:  # which engines refuse
        return list(types)
    engines = promote(types)
    return [wanted if _changes(name, wanted, types, engines) else name for name in types]


def _of_two(a: str, b: str, operation: Operation) -> str:
    floats = [name for name in (a, b) if dtypes.dtype(name).is_float]
    divides = operation.divides
    if not floats:
        if divides and a.startswith("u") != b.startswith("u") and "i1" not in (a, b):
            raise BadArgumentError(
                "y", f"{a} and {b} differ in having a sign, which a division cannot mean; cast one of them"
            )
        return wider(a, b)
    if operation.name == "truncdiv":
        raise BadArgumentError("x", f"is {a}, and // of {a} and {b} is for integers; use tl.floor(x / y)")
    for wide in ("f64", "f32"):
        if wide in floats:
            return wide
    if "f16" in floats:
        return "f32" if divides else "f16"
    if "bf16" in floats:
        return "bf16" if a == b and not divides else "f32"
    if len(floats) < 2:
        raise BadArgumentError("x", f"{a} and {b} have no type in common; cast one of them")
    return a if a == b else "f16"


def _changes(name: str, wanted: str, types: Sequence[str], engines: str) -> bool:
    """Whether ``engines``' type is not the ``wanted`` one, or does not hold the values of ``name``."""
    known, target = dtypes.dtype(name), dtypes.dtype(wanted)
    if not target.is_float:
        return target.limits[0] > known.limits[0]
    if known.is_float:
        return engines != wanted and all(dtypes.dtype(one).is_float for one in types)
    return engines != wanted or max(map(abs, known.limits)) > 1 << _MANTISSA[wanted]
