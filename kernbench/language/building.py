"""What both languages of kernels build on: blocks, types, how a call is issued; nothing of their calls."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from kernbench.engine.program.commands import Command, Completion, Define, PeContext, Wait
from kernbench.engine.program.operations import Op, Order
from kernbench.errors import KernelError
from kernbench.language import arguments
from kernbench.language.arguments import BadArgumentError
from kernbench.language.extents import broadcast
from kernbench.language.handles import TensorHandle
from kernbench.language.issue import Issuer, ValueSource
from kernbench.language.scratch import Scratch
from kernbench.language.sites import along, moving
from kernbench.values.semantics import compute

Array = np.ndarray[Any, Any]


class UnknownNameError(KernelError, AttributeError):
    """The language has no such name."""


class Builder(Issuer):
    """The base of both languages.

    ``kernel`` is the kernel's name, ``pe`` the PE, ``scratch`` its part of the PE's TCM, ``send`` forwards a
    command to the PE and returns when the kernel may go on, ``data`` knows the values of loads (``None``:
    nothing is known).
    """

    def __init__(
        self,
        kernel: str,
        pe: PeContext,
        scratch: Scratch,
        send: Callable[[Command], None],
        data: ValueSource | None = None,
    ) -> None:
        super().__init__(kernel, pe, scratch, send, data)
        self._hand_over = send
        self._outstanding: list[Completion] = []
        self._posted: list[Completion] = []
        self._scratch.wait = self._wait_for_posted
        self._unwaited: list[tuple[Completion, Order]] = []

    def _unknown(self, name: str) -> UnknownNameError:
        """What to say of a name that the language does not have.

        A method ``__getattr__`` would say it at once, but would slow down all that there is.
        """
        problem = self._says_unknown(name)
        return UnknownNameError(f"{self._place()}: {problem}", problem)

    def _says_unknown(self, name: str) -> str:
        return f"tl has no '{name}'"

    def _method(self, value: object, name: str) -> object:
        """What ``value.name`` is of a value that has no such attribute by itself; None for nothing."""
        return None

    def _turns(self, numbers: Iterable[int], num_stages: int | None) -> Iterator[int]:
        """The turns of a loop; where loads run ahead, by ``num_stages``."""
        return map(self._index, numbers)

    def _index(self, number: int) -> int:
        """The index of a turn, as kernels calculate with it."""
        return number

    def _wait_for_posted(self) -> bool:
        """Wait for the oldest send whose bytes are still in TCM; False when there is none."""
        self._posted = [one for one in self._posted if not one.done]
        if not self._posted:
            return False
        self._send(Wait(self._posted[:1]))
        return True

    def _waited_for(self, completions: Sequence[Completion] | None = None) -> None:
        """The kernel has waited for these composites, or for all: what they did is over for others."""
        left = []
        for completion, order in self._unwaited:
            if completions is None or any(completion is one for one in completions):
                if self._thread is not None:
                    self._thread.wait(order)
            else:
                left.append((completion, order))
        self._unwaited = left

    def _unfinished(self) -> list[Completion]:
        """Completions of composites and receives that are still under way."""
        self._outstanding = [c for c in self._outstanding if not c.done]
        return list(self._outstanding)

    def _saw(self, op: Op) -> None:
        """A volatile load is done: what the stores that it saw came after, comes before what follows."""
        races = self._races
        if races is not None and self._thread is not None:
            races.seen_by(self._thread, op.inputs[0])

    def _converted(self, x: object, dtype: object) -> TensorHandle:
        handle = self._handle("x", x)
        name = arguments.dtype("dtype", dtype)
        if name == handle.dtype:
            return handle
        return self._compute(moving("cast", handle.shape, handle.dtype, handle.shape, name), [handle])

    def _repeated(self, x: object, shape: object) -> TensorHandle:
        handle = self._handle("x", x)
        wanted = arguments.shape("shape", shape)
        if broadcast(handle.shape, wanted) != wanted:
            raise BadArgumentError("shape", f"{handle.shape} cannot be broadcast to {wanted}")
        site = moving("broadcast_to", handle.shape, handle.dtype, wanted, handle.dtype)
        return self._compute(site, [handle])

    def _along(self, name: str, x: object, axis: object, keep_dims: bool = True) -> TensorHandle:
        handle = self._handle("x", x)
        index = None if axis is None else arguments.axis("axis", axis, handle.ndim)
        site = along(name, handle.shape, handle.dtype, index, bool(keep_dims))
        return self._compute(site, [handle])

    def _zeros(self, shape: object, dtype: object) -> TensorHandle:
        return self._constant("zeros", arguments.shape("shape", shape), arguments.dtype("dtype", dtype), {})

    def _full(self, shape: object, value: object, dtype: object) -> TensorHandle:
        number = arguments.scalar("value", value)
        name = arguments.dtype("dtype", dtype)
        arguments.held("value", number, name)
        return self._constant("full", arguments.shape("shape", shape), name, {"value": number})

    def _transposed(self, x: object, dims: Sequence[Any]) -> TensorHandle:
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

    def _reshaped(self, x: object, shape: object) -> TensorHandle:
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

    def _sliced(self, x: object, index: Any) -> TensorHandle:
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
