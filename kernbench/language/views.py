"""``tl`` calls that make handles without an engine and without time: constants and views of a handle."""

from __future__ import annotations

from typing import Any

from kernbench.language import arguments
from kernbench.language.arguments import BadArgumentError
from kernbench.language.building import Builder
from kernbench.language.handles import TensorHandle
from kernbench.language.issue import tl_call


class ViewCalls(Builder):
    """arange, zeros, full, trans, reshape, slices."""

    _title = "Constants and views"

    @tl_call
    def arange(self, start: int, end: int, dtype: str = "i32") -> TensorHandle:
        """The integers ``start, ..., end - 1`` as one dimension."""
        first, last = arguments.integer("start", start), arguments.integer("end", end)
        if last <= first:
            raise BadArgumentError("end", f"{last} is not above start {first}")
        name = arguments.dtype("dtype", dtype)
        for argument, value in (("start", first), ("end", last - 1)):
            arguments.held(argument, arguments.scalar(argument, value), name)
        return self._constant("arange", (last - first,), name, {"start": first, "stop": last})

    @tl_call
    def zeros(self, shape: object, dtype: str = "f16") -> TensorHandle:
        """Zeros of ``shape``."""
        return self._zeros(shape, dtype)

    @tl_call
    def full(self, shape: object, value: float, dtype: str = "f16") -> TensorHandle:
        """``shape`` filled with ``value``, which must be representable if dtype is an integer type."""
        return self._full(shape, value, dtype)

    @tl_call
    def trans(self, x: TensorHandle, *dims: Any) -> TensorHandle:
        """``x`` with its last two axes exchanged: the same bytes of TCM under another shape.

        With ``dims`` its axes are in that order: ``tl.trans(x, (1, 0, 2))`` or ``tl.trans(x, 1, 0, 2)``.
        """
        return self._transposed(x, dims)

    @tl_call
    def reshape(self, x: TensorHandle, shape: object) -> TensorHandle:
        """``x`` under another shape of as many elements, in row-major order; one extent may be -1."""
        return self._reshaped(x, shape)

    @tl_call
    def slice(self, x: TensorHandle, index: Any) -> TensorHandle:
        """``x[index]``: part of a handle by integers, slices, ``...`` and ``None`` (a new axis of size 1)."""
        return self._sliced(x, index)
