"""Epilogues of composites, applied after the product: bias, activation, scaling, residual.

A table of the known epilogues, with the fields that each takes, serves the kernel side for validation
and replay for arithmetic.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from kernbench.replay.numeric import widen

Array = np.ndarray[Any, Any]
SCOPES = ("k_tile", "output_tile", "kernel")


@dataclass(frozen=True, slots=True)
class EpilogueOp:
    """One epilogue: ``function(x, value, zero_point)``.

    ``value`` names the field with its operand, if it has one; ``operand`` is the operand's shape, ``row``
    for (N,) or ``full`` for (M, N); ``scalar`` whether a Python number will do.
    """

    name: str
    function: Callable[[Array, Any, float], Array]
    value: tuple[str, ...] = ()
    operand: Literal["", "row", "full"] = ""
    scalar: bool = False
    zero_point: bool = False


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
        EpilogueOp("dequant", _dequant, ("scale",), operand="row", scalar=True, zero_point=True),
        EpilogueOp("residual", _add, ("residual",), operand="full"),
    )
}


def apply(steps: Sequence[Mapping[str, Any]], scope: str, x: Array, inputs: Sequence[Array]) -> Array:
    """``x`` after the steps of ``scope``, in the order given.

    A step is ``{"op", "scope", "operand", "factor", "zero_point"}``: ``operand`` indexes ``inputs``, or is
    ``None`` and ``factor`` holds the number. Arithmetic is f32; bias, relu and residual keep integers.
    """
    with np.errstate(all="ignore"):
        for step in steps:
            if step.get("scope", "output_tile") != scope:
                continue
            index = step.get("operand")
            value = step.get("factor") if index is None else inputs[index]
            x = EPILOGUES[step["op"]].function(x, value, step.get("zero_point") or 0.0)
    return x
