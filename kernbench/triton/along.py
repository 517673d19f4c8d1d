"""``tl`` calls of Triton along an axis: reductions, which drop it, and running sums."""

from __future__ import annotations

from typing import Any

from kernbench.language import arguments
from kernbench.language.issue import made_call, tl_call
from kernbench.operations import OPERATIONS, Operation
from kernbench.support import dtypes
from kernbench.triton.blocks import BlockCalls


def _reduction(row: Operation) -> Any:
    """The call of a reduction: of an index, of an extreme with its index, or of a sum."""

    def place(
        self: AlongCalls, input: Any, axis: Any, tie_break_left: bool = True, keep_dims: bool = False
    ) -> Any:
        return self._along(row.name, self._handle("input", input), axis, keep_dims)

    def extreme(
        self: AlongCalls,
        input: Any,
        axis: Any = None,
        return_indices: bool = False,
        return_indices_tie_break_left: bool = True,
        keep_dims: bool = False,
    ) -> Any:
        handle = self._handle("input", input)
        found = self._along(row.name, handle, axis, keep_dims)
        if return_indices:
            return found, self._along(row.index, handle, axis, keep_dims)
        # As in Triton: what is calculated with it neither is rounded nor wraps as short types do.
        short = dtypes.SIZES[found.dtype] < 4
        wide = "f32" if dtypes.dtype(found.dtype).is_float else "i32"
        return self._converted(found, wide) if short else found

    def total(
        self: AlongCalls, input: Any, axis: Any = None, keep_dims: bool = False, dtype: Any = None
    ) -> Any:
        handle = self._handle("input", input)
        if handle.dtype == "i1" and dtype is None:  # a type without a sign, in Triton
            return self._same_bits(self._along(row.name, handle, axis, keep_dims), "u32")
        return self._along(row.name, handle if dtype is None else self.cast(handle, dtype), axis, keep_dims)

    call = place if row.result == "index" else extreme if row.index else total
    return made_call(call, row.name, f"{row.meaning.partition('.')[0]}. The axis goes.")


def _running(row: Operation) -> Any:
    """The call of a running sum or product."""

    def call(self: AlongCalls, input: Any, axis: int = 0, reverse: bool = False, dtype: Any = None) -> Any:
        handle = self._handle("input", input)
        handle = handle if dtype is None else self.cast(handle, dtype)
        if not reverse:
            return self._along(row.name, handle, axis)
        place = arguments.axis("axis", axis, handle.ndim)
        back = tuple(slice(None, None, -1) if n == place else slice(None) for n in range(handle.ndim))
        return self._sliced(self._along(row.name, self._sliced(handle, back), axis), back)

    return made_call(call, row.name, row.meaning)


class AlongCalls(BlockCalls):
    """flip, softmax; the reductions and running sums of the table."""

    @tl_call
    def flip(self, x: Any, dim: Any = None) -> Any:
        """``x`` with the order along ``dim`` (the last one) reversed."""
        place = arguments.axis("dim", len(x.shape) - 1 if dim is None else dim, len(x.shape))
        return x[tuple(slice(None, None, -1) if n == place else slice(None) for n in range(len(x.shape)))]

    @tl_call
    def softmax(self, x: Any, dim: Any = None, keep_dims: bool = False, ieee_rounding: bool = False) -> Any:
        """Softmax along ``dim``, the first axis by default."""
        return self._along("softmax", self._handle("x", x), 0 if dim is None else dim)


for _row in OPERATIONS.values():
    if _row.kind == "reduce":
        setattr(AlongCalls, _row.name, _reduction(_row))
    elif _row.running:
        setattr(AlongCalls, _row.name, _running(_row))
