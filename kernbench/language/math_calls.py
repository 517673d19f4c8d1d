"""``tl`` calls for math on handles (blocking, results in scratch), made from the table of operations."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from kernbench.language import arguments
from kernbench.language.building import Builder
from kernbench.language.handles import TensorHandle
from kernbench.language.issue import elementwise_call, made_call, tl_call
from kernbench.operations import OPERATIONS, Operation
from kernbench.operations.row import REQUIRED


class MathCalls(Builder):
    """Elementwise math, comparisons, softmax, reductions; the operators of handles end up here."""

    _title = "Math"

    @tl_call
    def cast(self, x: TensorHandle, dtype: str) -> TensorHandle:
        """``x`` in another type, also ``x.to(dtype)``.

        To floats it rounds to nearest even; float to integer cuts towards zero and saturates; integers keep
        their low bits. One pass; ``x`` itself when it has that type already.
        """
        return self._converted(x, dtype)

    @tl_call
    def broadcast_to(self, x: TensorHandle, shape: object) -> TensorHandle:
        """``x`` repeated to ``shape``, by numpy's rules; one pass over the result.

        Elementwise operations broadcast by themselves, without it.
        """
        return self._repeated(x, shape)


def _along_call(row: Operation) -> Callable[..., Any]:
    """The call of an operation along an axis."""
    kind, empty = inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.empty
    axis: Any = empty if row.axis == REQUIRED else row.axis
    of_axis = "int" if row.axis is not None else "int | None"
    taken = [inspect.Parameter("self", kind), inspect.Parameter("x", kind, annotation="TensorHandle")]
    taken.append(inspect.Parameter("axis", kind, default=axis, annotation=of_axis))
    if row.kind == "reduce":
        taken.append(inspect.Parameter("keep_dims", kind, default=True, annotation="bool"))
    signature = inspect.Signature(taken, return_annotation="TensorHandle")

    def call(*args: Any, **named: Any) -> TensorHandle:
        bound = signature.bind(*args, **named)
        bound.apply_defaults()
        tl, x, axis, *keep_dims = bound.args
        if row.axis == REQUIRED:
            arguments.integer("axis", axis)
        return tl._along(row.name, x, axis, *keep_dims)  # type: ignore[no-any-return]

    return made_call(call, row.name, row.meaning, signature)


for _row in OPERATIONS.values():
    if _row.kind == "elementwise" and _row.tl:
        setattr(MathCalls, _row.name, elementwise_call(_row, _row.name, _row.arguments))
    elif _row.kind in ("reduce", "rowwise"):
        setattr(MathCalls, _row.name, _along_call(_row))
