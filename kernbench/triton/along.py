"""``tl`` calls of Triton along an axis: reductions, which drop it, and running sums."""

# mypy: disable-error-code="override"
from __future__ import annotations

from typing import Any

from kernbench.language import arguments
from kernbench.language.handles import TensorHandle
from kernbench.language.issue import tl_call
from kernbench.language.tl import Language
from kernbench.triton.blocks import BlockCalls


def _extreme(name: str, which: str) -> Any:
    def call(
        self: AlongCalls,
        input: Any,
        axis: Any = None,
        return_indices: bool = False,
        return_indices_tie_break_left: bool = True,
        keep_dims: bool = False,
    ) -> Any:
        handle = self._handle("input", input)
        found = self._along(name, handle, axis, keep_dims)
        return (found, self._along(f"arg{name}", handle, axis, keep_dims)) if return_indices else found

    call.__name__ = name
    call.__doc__ = f"{which} element along ``axis``, which goes, or of all; with its index if asked for."
    return tl_call(call)


def _place(name: str, which: str) -> Any:
    def call(
        self: AlongCalls, input: Any, axis: Any, tie_break_left: bool = True, keep_dims: bool = False
    ) -> Any:
        return self._along(name, self._handle("input", input), axis, keep_dims)

    call.__name__ = name
    call.__doc__ = f"Index of the {which} element along ``axis``, which goes: the first of equals."
    return tl_call(call)


class AlongCalls(BlockCalls):
    """sum, max, min, argmax, argmin, cumsum, cumprod, flip, softmax."""

    @tl_call
    def sum(self, input: Any, axis: Any = None, keep_dims: bool = False, dtype: Any = None) -> Any:
        """Sum along ``axis``, which goes, or of all elements."""
        handle = self._handle("input", input)
        return self._along("sum", handle if dtype is None else self.cast(handle, dtype), axis, keep_dims)

    max, min = _extreme("max", "Largest"), _extreme("min", "Smallest")
    argmax, argmin = _place("argmax", "largest"), _place("argmin", "smallest")

    @tl_call
    def cumsum(self, input: Any, axis: int = 0, reverse: bool = False, dtype: Any = None) -> Any:
        """Running sum along ``axis``."""
        handle = self._handle("input", input)
        return self._running("cumsum", handle if dtype is None else self.cast(handle, dtype), axis, reverse)

    @tl_call
    def cumprod(self, input: Any, axis: int = 0, reverse: bool = False) -> Any:
        """Running product along ``axis``."""
        return self._running("cumprod", self._handle("input", input), axis, reverse)

    def _running(self, name: str, handle: TensorHandle, axis: int, reverse: bool) -> Any:
        if not reverse:
            return self._along(name, handle, axis)
        place = arguments.axis("axis", axis, handle.ndim)
        back = tuple(slice(None, None, -1) if n == place else slice(None) for n in range(handle.ndim))
        return Language.slice(self, self._along(name, Language.slice(self, handle, back), axis), back)

    @tl_call
    def flip(self, x: Any, dim: Any = None) -> Any:
        """``x`` with the order along ``dim`` (the last one) reversed."""
        place = arguments.axis("dim", len(x.shape) - 1 if dim is None else dim, len(x.shape))
        return x[tuple(slice(None, None, -1) if n == place else slice(None) for n in range(len(x.shape)))]

    @tl_call
    def softmax(self, x: Any, dim: Any = None, keep_dims: bool = False, ieee_rounding: bool = False) -> Any:
        """Softmax along ``dim``, the first axis by default."""
        return self._along("softmax", self._handle("x", x), 0 if dim is None else dim)
