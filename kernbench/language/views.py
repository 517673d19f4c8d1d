"""``tl`` calls that make handles without an engine and without time: constants and views of a handle."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from kernbench.engine.program.commands import Define
from kernbench.engine.program.operations import Op
from kernbench.language import arguments
from kernbench.language.arguments import BadArgumentError
from kernbench.language.handles import TensorHandle
from kernbench.language.issue import Issuer, tl_call
from kernbench.values.semantics import compute

Array = np.ndarray[Any, Any]


class ViewCalls(Issuer):
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
        return self._constant("zeros", arguments.shape("shape", shape), arguments.dtype("dtype", dtype), {})

    @tl_call
    def full(self, shape: object, value: float, dtype: str = "f16") -> TensorHandle:
        """``shape`` filled with ``value``, which must be representable if dtype is an integer type."""
        number = arguments.scalar("value", value)
        name = arguments.dtype("dtype", dtype)
        arguments.held("value", number, name)
        return self._constant("full", arguments.shape("shape", shape), name, {"value": number})

    @tl_call
    def trans(self, x: TensorHandle, *dims: Any) -> TensorHandle:
        """``x`` with its last two axes exchanged: the same bytes of TCM under another shape.

        With ``dims`` its axes are in that order: ``tl.trans(x, (1, 0, 2))`` or ``tl.trans(x, 1, 0, 2)``.
        """
        handle = self._handle("x", x)
        if not dims:
            if handle.ndim < 2:
                raise BadArgumentError("x", f"shape {handle.shape} has fewer than two axes to exchange")
            return self._view("trans", handle, (*handle.shape[:-2], handle.shape[-1], handle.shape[-2]))
        given = arguments.integers("dims", dims[0] if len(dims) == 1 else dims)
        order = tuple([arguments.axis("dims", n, handle.ndim) for n in given])
        if sorted(order) != [*range(handle.ndim)]:
            raise BadArgumentError("dims", f"{given} must name each of the {handle.ndim} axes once")
        return self._view("trans", handle, tuple([handle.shape[n] for n in order]), {"dims": order})

    @tl_call
    def reshape(self, x: TensorHandle, shape: object) -> TensorHandle:
        """``x`` under another shape of as many elements, in row-major order; one extent may be -1."""
        handle = self._handle("x", x)
        extents = list(shape) if isinstance(shape, Sequence) else [shape]
        if extents.count(-1) == 1:
            rest = math.prod(arguments.integer("shape", n, minimum=1) for n in extents if n != -1)
            extents[extents.index(-1)] = max(1, math.prod(handle.shape) // rest)
        wanted = arguments.shape("shape", extents)
        if math.prod(wanted) != math.prod(handle.shape):
            raise BadArgumentError(
                "shape", f"{handle.shape} has {math.prod(handle.shape)} elements, {wanted} not"
            )
        return self._view("reshape", handle, wanted)

    @tl_call
    def slice(self, x: TensorHandle, index: Any) -> TensorHandle:
        """``x[index]``: part of a handle by integers, slices, ``...`` and ``None`` (a new axis of size 1)."""
        handle = self._handle("x", x)
        key = index if isinstance(index, tuple) else (index,)
        for part in key:
            if isinstance(part, TensorHandle | np.ndarray | list):
                raise BadArgumentError(
                    "index", "must be integers, slices, None and '...'; gather with tl.where"
                )
        # Shapes follow numpy's rules: a view of an array that holds no memory says what they give.
        blank = np.lib.stride_tricks.as_strided(np.empty(1, np.int8), handle.shape, (0,) * handle.ndim)
        try:
            shape = blank[key].shape
        except (IndexError, TypeError, ValueError) as problem:
            raise BadArgumentError("index", f"{problem} (shape {handle.shape})") from None
        if 0 in shape:
            raise BadArgumentError("index", f"picks nothing of shape {handle.shape}")
        return self._view("slice", handle, shape or (1,), {"index": key})

    def _view(
        self, name: str, handle: TensorHandle, shape: tuple[int, ...], params: dict[str, Any] | None = None
    ) -> TensorHandle:
        held = handle._value
        value = None if held is None else functools.partial(_view, held)
        op = self._new("view", name, (handle.operand(),), shape, handle.dtype, params)
        self._send(Define(op))
        return self._result(op, handle._block, value)

    def _constant(
        self, name: str, shape: tuple[int, ...], dtype: str, params: dict[str, Any]
    ) -> TensorHandle:
        block = self._scratch.take(arguments.nbytes(shape, dtype))
        op = self._new("view", name, (), shape, dtype, params)
        self._send(Define(op))
        # Numbers that nothing computes are known at once; built only if the kernel looks at them.
        return self._result(op, block, _constant_value)


def _view(held: Array | Callable[[], Array], op: Op) -> Callable[[], Array]:
    return lambda: compute(op, [held() if callable(held) else held])


def _constant_value(op: Op) -> Callable[[], Array]:
    return functools.partial(compute, op, ())
