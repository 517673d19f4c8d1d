"""``tl`` calls for math on handles (blocking, results in scratch), made from the table of operations."""

from __future__ import annotations

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

    def reduced(self: Any, x: TensorHandle, axis: int, keep_dims: bool = True) -> TensorHandle:
        if row.axis == REQUIRED:
            arguments.integer("axis", axis)
        return self._along(row.name, x, axis, keep_dims)  # type: ignore[no-any-return]

    def rowwise(self: Any, x: TensorHandle, axis: int) -> TensorHandle:
        return reduced(self, x, axis)

    call: Any = reduced if row.kind == "reduce" else rowwise
    del call.__annotations__["self"]
    if row.axis is None:
        call.__annotations__["axis"] = "int | None"
    if row.axis != REQUIRED:
        call.__defaults__ = (row.axis, *(call.__defaults__ or ()))
    return made_call(call, row.name, row.meaning)


for _row in OPERATIONS.values():
    if _row.kind == "elementwise" and _row.tl:
        setattr(MathCalls, _row.name, elementwise_call(_row, _row.name, _row.arguments))
    elif _row.kind in ("reduce", "rowwise"):
        setattr(MathCalls, _row.name, _along_call(_row))
