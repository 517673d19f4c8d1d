"""Epilogues of composites, applied after the product: bias, activation, scaling, residual, and math by name.

The known ones, with the fields that each takes, are rows of :mod:`kernbench.operations`; they serve the
kernel side for validation and replay for arithmetic.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from kernbench.errors import UsageError
from kernbench.operations import EPILOGUES, OPERATIONS, Operation
from kernbench.operations.epilogues import EpilogueOp
from kernbench.support.bounded import Bounded

Array = np.ndarray[Any, Any]
SCOPES = ("k_tile", "output_tile", "kernel")


def _by_name(rule: Operation) -> EpilogueOp:
    def function(x: Array, value: Any, _zero_point: float) -> Array:
        given = [x] if rule.arity == 1 else [x, np.asarray(value)]
        whole = not rule.float_only and all(array.dtype.kind in "bi" for array in given)
        wide = np.dtype(np.int64) if whole else np.dtype(np.float32)
        y = np.asarray(rule.function(*(array.astype(wide) for array in given)))
        # The accumulator holds i32 or f32, and a mask as 0 or 1 of either.
        return y.astype(np.int32) if whole else y.astype(np.float32)

    def check(x: Bounded, value: Any, _zero_point: float) -> Bounded | None:
        return None if rule.check is None else rule.check.after(x, value, np.abs(x.value))

    if rule.arity == 1:
        return EpilogueOp(rule.name, function, check)
    return EpilogueOp(rule.name, function, check, ("value",), operand="any", scalar=True)


BY_NAME: dict[str, EpilogueOp] = {
    rule.name: _by_name(rule)
    for rule in OPERATIONS.values()
    if rule.kind == "elementwise" and rule.arity <= 2 and not rule.integer_only and rule.engine == rule.name
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
