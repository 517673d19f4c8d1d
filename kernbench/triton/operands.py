"""From what a Triton kernel calculates with to what engines take, and back: known blocks and handles."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from kernbench.engine.program.commands import Define
from kernbench.engine.program.computing import CallSite
from kernbench.engine.program.operations import Op
from kernbench.errors import KernelError, PendingValueError
from kernbench.hardware.address.free_list import Block
from kernbench.language import arguments
from kernbench.language.ahead import RunAhead
from kernbench.language.arguments import BadArgumentError
from kernbench.language.handles import TensorHandle
from kernbench.language.issue import tl_call
from kernbench.language.loops import LoopCalls
from kernbench.language.promotion import wider
from kernbench.language.scalars import Scalars
from kernbench.operations import OPERATIONS, Operation
from kernbench.support import dtypes
from kernbench.support.hints import no_attribute
from kernbench.triton.names import METHODS
from kernbench.triton.pointers import BlockPtr, Ptr
from kernbench.triton.promotion import casts, common
from kernbench.triton.values import INT1, INTEGERS, Float, Int, KnownBlock, Number, dtype, rounded, scalar

Array = np.ndarray[Any, Any]
_SHORT = ("f16", "bf16", "f8e4m3", "f8e5m2")
"""Floats shorter than those of scalars."""


def _typed(handle: TensorHandle) -> TensorHandle:
    """The handle, whose type is Triton's: ``x.dtype.is_floating()``."""
    handle.dtype = dtype(handle.dtype)
    return handle


def _has_type(value: object) -> bool:
    """Whether it is a block or a scalar, and not a number that takes its type from what is beside it."""
    return isinstance(value, TensorHandle | KnownBlock) or type(value) is Int


class Operands(RunAhead, LoopCalls):
    """KnownBlock integers and blocks beside the handles of a kernel."""

    def handle_of(self, value: KnownBlock) -> TensorHandle:
        """A known block as engines take it."""
        return self.constant(value.data, str(value.dtype))

    def constant(self, data: Array, dtype: str) -> TensorHandle:
        """A handle to values that nothing has to compute; no time passes."""
        room = self._scratch.take(data.nbytes if dtype == "f32" else 1)
        op = self._new("view", "known", (), data.shape or (1,), dtype, {"data": data})
        self._send(Define(op))
        return self._result(op, room, lambda _: lambda: data)

    def index(self, handle: TensorHandle) -> Any:
        """Integers for pointers and indices as known ones, once they are there; others as they are."""
        if handle.dtype not in dtypes.INDICES:
            return handle
        self._wait_for(handle)
        return handle if handle._value is None else KnownBlock(handle.data, self)

    def loaded(self, handle: TensorHandle, what: str) -> KnownBlock:
        """The integers of a handle, which are waited for; computed ones are an error of ``what``."""
        if handle.dtype not in INTEGERS:
            raise KernelError(f"{what} a tensor of {handle.dtype} values: addresses and masks are integers")
        try:
            return KnownBlock(handle.data, self)
        except PendingValueError:
            raise KernelError(
                f"{what} a tensor of computed values: addresses and masks must be known while time is "
                "simulated, and a timing run computes no results. Run with --verify-data (kb.run: "
                "verify=True), or load the whole table and pick with tl.gather"
            ) from None

    @tl_call
    def slice(self, x: Any, index: Any) -> TensorHandle:
        """``x[index]``: part of a block."""
        return self._sliced(x, index)

    @tl_call
    def static_range(self, start: int, stop: int | None = None, step: int = 1) -> Sequence[int]:
        """Python's ``range``, of constants."""
        return Scalars(self._numbers(start, stop, step), Number)

    def _result(self, op: Op, block: Block, value: Any = None) -> TensorHandle:
        return _typed(super()._result(op, block, value))

    def _compute(self, site: CallSite, handles: list[TensorHandle]) -> TensorHandle:
        return _typed(super()._compute(site, handles))

    def _index(self, number: int) -> int:
        return Int(number)

    def _operand(self, value: Any) -> Any:
        if isinstance(value, KnownBlock):
            return self.handle_of(value)
        return bool(value) if isinstance(value, Int) and value.dtype == INT1 else value

    def _handle(self, argument: str, value: object) -> TensorHandle:
        if isinstance(value, KnownBlock):
            return self.handle_of(value)
        if isinstance(value, Ptr | BlockPtr):
            raise BadArgumentError(argument, f"{value!r} is in memory; tl.load it first")
        if arguments.is_scalar(value):
            number = arguments.scalar(argument, self._operand(value))
            return self._full((1,), number, str((value if type(value) is Int else scalar(number)).dtype))
        return super()._handle(argument, value)

    def _elementwise(self, name: str, names: tuple[str, ...], given: tuple[object, ...]) -> TensorHandle:
        if name == "right_shift" and (shifted := self._shifted(names, given)) is not None:
            return shifted
        row = OPERATIONS[name]
        if any(isinstance(one, TensorHandle) and one.dtype in _SHORT for one in given[row.chooses :]):
            given = self._beside_short(row, given)
        given = self._scalars(name, given)
        types = tuple([str(one.dtype) if isinstance(one, TensorHandle | KnownBlock) else "" for one in given])
        given = tuple([self._operand(value) for value in given])
        if not any(isinstance(value, TensorHandle) for value in given):
            given = (self._handle(names[0], given[0]), *given[1:])
        if row.arity - row.chooses > 1:
            given = self._alike(name, types, given)
        return super()._elementwise(name, names, given)

    def _shifted(self, names: tuple[str, ...], given: tuple[object, ...]) -> TensorHandle | None:
        """``x >> y`` where ``y`` makes the result of an ``x`` with a sign one without: the sign is copied."""
        kinds = [str(cast("Int", one).dtype) if _has_type(one) else "" for one in given]
        if not kinds[0].startswith("i") or kinds[0] == "i1" or not kinds[1].startswith("u"):
            return None
        places = self._same_bits(self._handle(names[1], given[1]), kinds[1].replace("u", "i"))
        found = self._elementwise("right_shift", names, (given[0], places))
        return self._same_bits(found, wider(*kinds)) if wider(*kinds).startswith("u") else found

    def _beside_short(self, row: Operation, given: tuple[object, ...]) -> tuple[object, ...]:
        """Scalars beside short floats: f32 stays f32, others are rounded to the type of the block.

        Beside bf16 an integer with a type becomes f32; a division rounds nothing, for it is one of f32.
        """
        short = {str(one.dtype) for one in given[row.chooses :] if isinstance(one, TensorHandle | KnownBlock)}
        found = list(given)
        for place, one in enumerate(given):
            wide = type(one) is Float or (type(one) is Int and one.dtype != INT1 and "bf16" in short)
            if not arguments.is_scalar(one) or place < row.chooses or (wide and row.result == "mask"):
                continue
            if wide:
                found[place] = self._full((1,), float(cast("float", one)), "f32")
            elif len(short) == 1 and not row.divides:
                found[place] = rounded(cast("float", one), *short)
        return tuple(found)

    def _scalars(self, name: str, given: tuple[object, ...]) -> tuple[object, ...]:
        """The same, in which scalars beside integers have their type; a number that is written has none."""
        first = OPERATIONS[name].chooses
        blocks = [str(one.dtype) for one in given[first:] if isinstance(one, TensorHandle | KnownBlock)]
        typed: list[str] = [one.dtype for one in given[first:] if type(one) is Int and one.dtype != INT1]
        if not typed or any(dtypes.dtype(one).is_float for one in blocks):
            return given
        if OPERATIONS[name].divides:
            common([*map(str, (*blocks, *typed))], OPERATIONS[name])  # it refuses types that differ in signs
        of_blocks = functools.reduce(wider, blocks, "i1")
        alike = functools.reduce(wider, typed, of_blocks) == of_blocks
        found = list(given)
        for place, one in enumerate(given):
            if type(one) is Int:
                kind = str(one.dtype)
                number = np.full(1, one, dtypes.dtype(kind).numpy)
                found[place] = Int(one, dtype(of_blocks)) if alike else self.constant(number, kind)
        return tuple(found)

    def _alike(self, name: str, types: tuple[str, ...], given: tuple[object, ...]) -> tuple[object, ...]:
        """Operands of two as Triton calculates with them: see :mod:`kernbench.triton.promotion`."""
        row = OPERATIONS[name]
        places = [n for n in range(row.chooses, len(types)) if types[n]]
        wanted = dict(zip(places, casts([types[n] for n in places], row), strict=True))
        return tuple(
            [
                self._converted(one, wanted[n]) if wanted.get(n, types[n]) != types[n] else one
                for n, one in enumerate(given)
            ]
        )

    def _same_bits(self, handle: TensorHandle, dtype: str) -> TensorHandle:
        """The bits of ``handle`` as another type of the same size; no time passes."""
        name = arguments.dtype("dtype", dtype)
        if dtypes.SIZES[name] != dtypes.SIZES[handle.dtype]:
            raise BadArgumentError("bitcast", f"{handle.dtype} and {name} are not of the same size")
        if name == handle.dtype:
            return handle
        room = self._scratch.take(handle.nbytes)
        op = self._new("view", "bitcast", (handle.operand(),), handle.shape, name)
        self._send(Define(op))
        return self._result(op, room)

    def _method(self, value: object, name: str) -> Any:
        """``value.name`` of what a kernel calculates with: a call of the language on it."""
        if name in METHODS and hasattr(type(self), name):
            return functools.partial(getattr(self, name), value)
        if name == "type" and isinstance(value, TensorHandle):
            return dtype(value.dtype).of_block(value.shape)
        if name == "numel":
            return math.prod(value.shape)  # type: ignore[attr-defined]
        if isinstance(value, TensorHandle):
            return None
        raise no_attribute(repr(value), name, [*METHODS, *dir(type(value))])
