"""Steps that only a composite has after its product: bias, activation, scaling, residual."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from kernbench.operations.row import Array
from kernbench.support.bounded import Bounded
from kernbench.support.dtypes import widen

Function = Callable[[Array, Any, float], Array]


@dataclass(frozen=True, slots=True)
class EpilogueOp:
    """One epilogue: ``function(x, value, zero_point)``.

    ``value`` names the field with its operand, if it has one; ``operand`` is the operand's shape, ``row``
    for (N,), ``full`` for (M, N) or ``any`` for these and a column (M, 1); ``scalar`` whether a Python number
    will do; ``groups`` whether it may have a row for each group along K. ``check`` is the same of a
    :class:`~kernbench.support.bounded.Bounded`; None where nothing is compared.
    """

    name: str
    function: Function
    check: Callable[[Bounded, Any, float], Bounded | None]
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


def _activation(name: str, function: Function, exact: Callable[[Any], Any]) -> EpilogueOp:
    def check(x: Bounded, _value: Any, _zero_point: float) -> Bounded:
        return x.mapped(exact, np.abs(x.value))

    return EpilogueOp(name, function, check)


EPILOGUES: dict[str, EpilogueOp] = {
    e.name: e
    for e in (
        EpilogueOp("bias", _add, lambda x, value, _: x + value, ("bias",), operand="row"),
        _activation("relu", _relu, lambda x: np.maximum(x, 0)),
        _activation(
            "gelu", _gelu, lambda x: 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))
        ),
        _activation("silu", _silu, lambda x: x / (1 + np.exp(-x))),
        EpilogueOp("scale", _scale, lambda x, value, _: x * value, ("factor", "scale"), scalar=True),
        EpilogueOp(
            "dequant", _dequant, lambda x, value, zero: (x - zero) * value, ("scale",),
            operand="row", scalar=True, zero_point=True, groups=True,
        ),
        EpilogueOp("residual", _add, lambda x, value, _: x + value, ("residual",), operand="full"),
    )
}  # fmt: skip
"""By name."""
