"""``tl`` calls of Triton that rearrange blocks, or combine elements with a function of the kernel's."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from kernbench.engine.program import tile_plans
from kernbench.engine.program.commands import Define
from kernbench.engine.program.computing import CallSite
from kernbench.engine.program.operations import Op
from kernbench.language import arguments, promotion
from kernbench.language.arguments import BadArgumentError
from kernbench.language.handles import TensorHandle
from kernbench.language.issue import tl_call
from kernbench.support.dtypes import widen
from kernbench.triton.along import AlongCalls
from kernbench.values.semantics import means

Array = np.ndarray[Any, Any]


class RearrangingCalls(AlongCalls):
    """reduce, associative_scan, sort, topk, gather, histogram, cat, join, split, interleave."""

    def _rearranged(
        self,
        name: str,
        given: list[TensorHandle],
        shape: tuple[int, ...],
        dtype: str,
        params: dict[str, Any],
        elements: int = 0,
    ) -> TensorHandle:
        """The result of ``name``; PE_MATH works on ``elements``, by default those of the result."""
        out_bytes = arguments.nbytes(shape, dtype)
        in_bytes = sum(one.nbytes for one in given)
        plan = tile_plans.math(name, elements or int(np.prod(shape)), in_bytes, out_bytes)
        return self._compute(CallSite("math", name, shape, dtype, params, out_bytes, plan), given)

    def _blocks(self, input: Any, axis: Any) -> tuple[list[TensorHandle], int, int]:
        """The blocks that a function combines, along which axis, and how many elements it has."""
        given = [self._handle("input", one) for one in (input if isinstance(input, tuple) else (input,))]
        if axis is None:
            given, axis = [self.ravel(one) for one in given], 0
        place = arguments.axis("axis", axis, given[0].ndim)
        count = given[0].shape[place]
        if count & (count - 1):
            raise BadArgumentError("axis", f"{place} has {count} elements: a function combines a power of 2")
        return given, place, count

    def _part(self, blocks: list[TensorHandle], place: int, part: slice | int) -> list[TensorHandle]:
        key = (*(slice(None) for _ in range(place)), part)
        return [self._sliced(one, key) for one in blocks]

    @tl_call
    def reduce(self, input: Any, axis: Any, combine_fn: Callable[..., Any], keep_dims: bool = False) -> Any:
        """Combine neighbours along ``axis`` by a function of two until one is left: a tree of operations."""
        blocks, place, count = self._blocks(input, axis)
        while count > 1:
            pairs = (self._part(blocks, place, slice(first, None, 2)) for first in (0, 1))
            blocks = _listed(combine_fn(*next(pairs), *next(pairs)))
            count //= 2
        found = blocks if keep_dims else self._part(blocks, place, 0)
        return tuple(found) if isinstance(input, tuple) else found[0]

    @tl_call
    def associative_scan(
        self, input: Any, axis: int, combine_fn: Callable[..., Any], reverse: bool = False
    ) -> Any:
        """Combine each element along ``axis`` with all before it by a function of two."""
        blocks, place, count = self._blocks(input, axis)
        back = slice(None, None, -1)
        blocks = self._part(blocks, place, back) if reverse else blocks
        distance = 1
        while distance < count:
            head = self._part(blocks, place, slice(0, distance))
            before, after = (
                self._part(blocks, place, part) for part in (slice(0, -distance), slice(distance, None))
            )
            rest = _listed(combine_fn(*before, *after))
            blocks = [self._beside(a, self.cast(b, a.dtype), place) for a, b in zip(head, rest, strict=True)]
            distance *= 2
        blocks = self._part(blocks, place, back) if reverse else blocks
        return tuple(blocks) if isinstance(input, tuple) else blocks[0]

    def _beside(self, a: TensorHandle, b: TensorHandle, place: int) -> TensorHandle:
        shape = list(a.shape)
        shape[place] += b.shape[place]
        return self._rearranged("cat", [a, b], tuple(shape), a.dtype, {"axis": place})

    @tl_call
    def xor_sum(self, input: Any, axis: Any = None, keep_dims: bool = False) -> Any:
        """``^`` of the elements along ``axis``."""
        return self.reduce(input, axis, lambda a, b: a ^ b, keep_dims)

    @tl_call
    def reduce_or(self, input: Any, axis: Any, keep_dims: bool = False) -> Any:
        """``|`` of the elements along ``axis``."""
        return self.reduce(input, axis, lambda a, b: a | b, keep_dims)

    @tl_call
    def map_elementwise(self, scalar_fn: Callable[..., Any], *args: Any, pack: int = 1) -> Any:
        """``scalar_fn`` of whole blocks: its operations are elementwise."""
        return scalar_fn(*args)

    @tl_call
    def sort(self, x: Any, dim: Any = None, descending: bool = False) -> Any:
        """``x`` sorted along ``dim``, the last axis; as many passes as a bitonic network has stages."""
        handle = self._handle("x", x)
        promotion.promote([handle.dtype])  # or no engine compares them
        place = arguments.axis("dim", handle.ndim - 1 if dim is None else dim, handle.ndim)
        steps = max(1, (handle.shape[place] - 1).bit_length())
        elements = int(np.prod(handle.shape)) * steps * (steps + 1) // 2
        params = {"axis": place, "descending": bool(descending)}
        return self._rearranged("sort", [handle], handle.shape, handle.dtype, params, elements)

    @tl_call
    def topk(self, x: Any, k: int, dim: Any = None) -> Any:
        """The ``k`` largest elements along the last axis, the largest first."""
        handle = self._handle("x", x)
        place = arguments.axis("dim", handle.ndim - 1 if dim is None else dim, handle.ndim)
        count = arguments.integer("k", k, minimum=1)
        return self._part([self.sort(handle, place, descending=True)], place, slice(0, count))[0]

    @tl_call
    def gather(self, src: Any, index: Any, axis: int) -> Any:
        """Of ``src`` the elements that ``index`` names along ``axis``."""
        source, places = self._handle("src", src), self._handle("index", index)
        params = {"axis": arguments.axis("axis", axis, source.ndim)}
        return self._rearranged("gather", [source, places], places.shape, source.dtype, params)

    @tl_call
    def histogram(self, input: Any, num_bins: int, mask: Any = None) -> Any:
        """How many elements of ``input`` are 0, 1, ... ``num_bins - 1``, i32."""
        given = [self._handle("input", input)] + ([] if mask is None else [self._handle("mask", mask)])
        shape = (arguments.integer("num_bins", num_bins, minimum=1),)
        return self._rearranged("histogram", given, shape, "i32", {}, int(np.prod(given[0].shape)))

    @tl_call
    def cat(self, input: Any, other: Any, can_reorder: bool = False, dim: int = 0) -> Any:
        """Two blocks one after the other."""
        x, y = self._handle("input", input), self._handle("other", other)
        _alike("other", x, y)
        return self._beside(x, y, dim)

    @tl_call
    def join(self, a: Any, b: Any) -> Any:
        """Two blocks side by side along a new last axis."""
        x, y = self.broadcast(self._handle("a", a), self._handle("b", b))
        _alike("b", x, y)
        return self._rearranged("join", [x, y], (*x.shape, 2), x.dtype, {})

    @tl_call
    def split(self, a: Any) -> Any:
        """The two halves of a block whose last axis has two elements; no time passes."""
        handle = self._handle("a", a)
        if handle.shape[-1] != 2:
            raise BadArgumentError("a", f"shape {handle.shape} has not two elements along its last axis")
        return tuple(self._part([handle], handle.ndim - 1, n)[0] for n in (0, 1))

    @tl_call
    def interleave(self, a: Any, b: Any) -> Any:
        """The elements of two blocks in turn along their last axis."""
        both = self.join(a, b)
        return self._reshaped(both, (*both.shape[:-2], 2 * both.shape[-2]))

    def stacked(self, parts: Sequence[TensorHandle]) -> TensorHandle:
        """Results that were put one after the other, as one block; no time passes."""
        first = parts[0]
        shape = (len(parts), *first.shape)
        room = self._scratch.take(arguments.nbytes(shape, first.dtype))
        op = self._new("view", "stack", tuple([one.operand() for one in parts]), shape, first.dtype)
        self._send(Define(op))
        return self._result(op, room)


def _alike(argument: str, x: TensorHandle, y: TensorHandle) -> None:
    """Refuse two types in one block: elements of the second would change their values."""
    if x.dtype != y.dtype:
        raise BadArgumentError(
            argument, f"{y.dtype} elements beside those of {x.dtype}; cast one of the blocks"
        )


def _listed(found: Any) -> list[TensorHandle]:
    return list(found) if isinstance(found, tuple | list) else [found]


@means("view", "stack")
def _stack(_op: Op, inputs: Sequence[Array]) -> Array:
    return np.stack(inputs)


@means("math", "cat")
def _cat(op: Op, inputs: Sequence[Array]) -> Array:
    return np.concatenate(inputs, op.params["axis"])


@means("math", "join")
def _join(_op: Op, inputs: Sequence[Array]) -> Array:
    return np.stack(inputs, -1)


@means("math", "sort")
def _sort(op: Op, inputs: Sequence[Array]) -> Array:
    values = inputs[0] if inputs[0].dtype.kind in "iu" else widen(inputs[0])
    ordered = np.sort(values, op.params["axis"])
    return np.flip(ordered, op.params["axis"]) if op.params["descending"] else ordered


@means("math", "gather")
def _gather(op: Op, inputs: Sequence[Array]) -> Array:
    return np.take_along_axis(inputs[0], inputs[1].astype(np.int64), op.params["axis"])


@means("math", "histogram")
def _histogram(op: Op, inputs: Sequence[Array]) -> Array:
    assert op.output is not None
    values, bins = inputs[0].reshape(-1), op.output.shape[0]
    keep = (values >= 0) & (values < bins)
    if len(inputs) > 1:
        keep = keep & (np.broadcast_to(inputs[1], inputs[0].shape).reshape(-1) != 0)
    return np.bincount(values[keep].astype(np.int64), minlength=bins)
