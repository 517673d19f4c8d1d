"""Epilogues of composites, applied after the product: bias, activation, scaling, residual, and math by name.

A table of the known epilogues, with the fields that each takes, serves the kernel side for validation
and replay for arithmetic.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from kernbench.errors import UsageError
from kernbench.values.math_ops import MATH_OPS, MathOp
from kernbench.values.numeric import widen

Array = np.ndarray[Any, Any]
SCOPES = ("k_tile", "output_tile", "kernel")


@dataclass(frozen=True, slots=True)
class EpilogueOp:
    """One epilogue: ``function(x, value, zero_point)``.

    ``value`` names the field with its operand, if it has one; ``operand`` is the operand's shape, ``row``
    for (N,), ``full`` for (M, N) or ``any`` for these and a column (M, 1); ``scalar`` whether a Python number
    will do; ``groups`` whether it may have a row for each group along K.
    """

    name: str
    function: Callable[[Array, Any, float], Array]
    value: tuple[str, ...] = ()
    operand: Literal["", "row", "full", "any"] = ""
    scalar: bool = False
    zero_point: bool = False
    groups: bool = False


def _gelu(x: Array, _value: Any, _zero_point: float) -> Array:
    # The tanh form: the one that accelerators and most language models use; within 5e-4 of the erf form.
    x = widen(x)
    inner = np.float32(np.sqrt(2 / np.pi)) * (x + np.float32(0.044715) * x * x * x)
    return np.asarray(np.float32(0.5) * x * (1 + np.tanh(inner)))


def _silu(x: Array, _value: Any, _zero_point: float) -> Array:
    x = widen(x)
    return np.asarray(x / (1 + np.exp(-x)))


def _relu(x: Array, _value: Any, _zero_point: float) -> Array:
    return np.asarray(np.maximum(x, np.zeros((), x.dtype)))


def _add(x: Array, value: Any, _zero_point: float) -> Array:
    if x.dtype.kind == "i" and value.dtype.kind == "i":
        return np.asarray(x + value.astype(x.dtype))
    return np.asarray(widen(x) + widen(value))


def _scale(x: Array, value: Any, _zero_point: float) -> Array:
    return np.asarray(widen(x) * np.float32(value))


def _dequant(x: Array, value: Any, zero_point: float) -> Array:
    return np.asarray((widen(x) - np.float32(zero_point)) * widen(np.asarray(value)))


EPILOGUES: dict[str, EpilogueOp] = {
    e.name: e
    for e in (
        EpilogueOp("bias", _add, ("bias",), operand="row"),
        EpilogueOp("relu", _relu),
        EpilogueOp("gelu", _gelu),
        EpilogueOp("silu", _silu),
        EpilogueOp("scale", _scale, ("factor", "scale"), scalar=True),
        EpilogueOp("dequant", _dequant, ("scale",), operand="row", scalar=True, zero_point=True, groups=True),
        EpilogueOp("residual", _add, ("residual",), operand="full"),
    )
}
"""Those that only a composite has."""


def _by_name(rule: MathOp) -> EpilogueOp:
    def function(x: Array, value: Any, _zero_point: float) -> Array:
        given = [x] if rule.arity == 1 else [x, np.asarray(value)]
        whole = not rule.float_only and all(array.dtype.kind in "bi" for array in given)
        wide = np.dtype(np.int64) if whole else np.dtype(np.float32)
        y = np.asarray(rule.function(*(array.astype(wide) for array in given)))
        # The accumulator holds i32 or f32, and a mask as 0 or 1 of either.
        return y.astype(np.int32) if whole else y.astype(np.float32)

    if rule.arity == 1:
        return EpilogueOp(rule.name, function)
    return EpilogueOp(rule.name, function, ("value",), operand="any", scalar=True)


BY_NAME: dict[str, EpilogueOp] = {
    rule.name: _by_name(rule)
    for rule in MATH_OPS.values()
    if rule.kind == "elementwise" and rule.arity <= 2 and not rule.integer_only and rule.name != "cast"
}
"""Elementwise operations of ``tl`` on the result, and on ``value`` where they take two arguments."""


def find(name: str) -> EpilogueOp | None:
    """The epilogue of that name."""
    return EPILOGUES.get(name) or BY_NAME.get(name)


def apply(
    steps: Sequence[Mapping[str, Any]], scope: str, x: Array, inputs: Sequence[Array], k: int = 0
) -> Array:
    """``x`` after the steps of ``scope``, in the order given; ``k`` is where the K tile begins.

    A step is ``{"op", "scope", "operand", "factor", "zero_point", "group"}``: ``operand`` indexes
    ``inputs``, or is ``None`` and ``factor`` holds the number; with ``group`` the operand has a row for
    each so many elements along K. Arithmetic is f32; bias, relu, residual and operations by name keep
    integers, these where the number or tensor has integers too.
    """
    with np.errstate(all="ignore"):
        for step in steps:
            if step.get("scope", "output_tile") != scope:
                continue
            index = step.get("operand")
            value: Any = step.get("factor") if index is None else inputs[index]
            if "group" in step:
                value = value[k // step["group"]]
            rule = find(step["op"])
            if rule is None:
                raise UsageError(f"epilogue '{step['op']}' has no meaning")
            x = rule.function(x, value, step.get("zero_point") or 0.0)
    return x
