"""From what a Triton kernel calculates with to what engines take, and back: known blocks and handles."""

# mypy: disable-error-code="override"
from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from kernbench.engine.program.commands import Define
from kernbench.engine.program.computing import CallSite
from kernbench.engine.program.operations import Op
from kernbench.errors import KernelError
from kernbench.hardware.address.free_list import Block
from kernbench.language import arguments
from kernbench.language.ahead import AheadLanguage
from kernbench.language.arguments import BadArgumentError
from kernbench.language.handles import TensorHandle
from kernbench.language.tl import Language
from kernbench.support.hints import no_attribute
from kernbench.triton.pointers import BlockPtr, Ptr
from kernbench.triton.values import INTEGERS, Int, KnownBlock, dtype

Array = np.ndarray[Any, Any]

METHODS = frozenset(
    ("abs", "argmax", "argmin", "associative_scan", "atomic_add", "atomic_and", "atomic_cas", "atomic_max",
     "atomic_min", "atomic_or", "atomic_xchg", "atomic_xor", "broadcast_to", "cast", "ceil", "cos", "cumprod",
     "cumsum", "erf", "exp", "exp2", "expand_dims", "flip", "floor", "gather", "histogram", "log", "log2",
     "logical_and", "logical_or", "max", "min", "permute", "ravel", "reduce", "reshape", "rsqrt", "sigmoid",
     "sin", "softmax", "sort", "split", "sqrt", "store", "sum", "trans", "view", "xor_sum")
)  # fmt: skip
"""Calls that are also methods of what a kernel calculates with."""


MASKS = frozenset(("equal", "not_equal", "less", "less_equal", "greater", "greater_equal", "logical_not"))
"""Operations whose results are masks."""


def _typed(handle: TensorHandle) -> TensorHandle:
    """The handle, whose type is Triton's: ``x.dtype.is_floating()``."""
    handle.dtype = dtype(handle.dtype)
    return handle


class Operands(AheadLanguage):
    """KnownBlock integers and blocks beside the handles of a kernel."""

    def handle_of(self, value: KnownBlock) -> TensorHandle:
        """A known block as engines take it."""
        data, dtype = value.data, "i8" if value.data.dtype == bool else "i32"
        if (
            dtype == "i32"
            and data.size
            and (data.min() < arguments.I32_MIN or data.max() > arguments.I32_MAX)
        ):
            raise KernelError("a block of integers does not fit 32 bits; engines calculate with i32")
        return self.constant(data.astype(np.int8 if dtype == "i8" else np.int32), dtype)

    def constant(self, data: Array, dtype: str) -> TensorHandle:
        """A handle to values that nothing has to compute; no time passes."""
        room = self._scratch.take(data.nbytes if dtype == "f32" else 1)
        op = self._new("view", "known", (), data.shape or (1,), dtype, {"data": data})
        self._send(Define(op))
        return self._result(op, room, lambda _: lambda: data)

    def loaded(self, handle: TensorHandle, what: str) -> KnownBlock:
        """The integers of a handle, which are waited for; computed ones are an error of ``what``."""
        self._wait_for(handle)
        if handle.dtype not in INTEGERS or handle._value is None:
            kind = "computed" if handle.dtype in INTEGERS else handle.dtype
            raise KernelError(
                f"{what} a tensor of {kind} values: addresses and masks must be known while time is "
                "simulated; they may depend on loaded integers, not on results of engines. Load the whole "
                "table and pick with tl.gather, or compute the integers in a launch before"
            )
        data = handle.data
        if handle.origin in MASKS:
            return KnownBlock(data != 0, self)
        return KnownBlock(data.astype(np.int64), self)

    def _result(self, op: Op, block: Block, value: Any = None) -> TensorHandle:
        return _typed(super()._result(op, block, value))

    def _compute(self, site: CallSite, handles: list[TensorHandle]) -> TensorHandle:
        return _typed(super()._compute(site, handles))

    def _index(self, number: int) -> int:
        return Int(number)

    def _operand(self, value: Any) -> Any:
        return self.handle_of(value) if isinstance(value, KnownBlock) else value

    def _handle(self, argument: str, value: object) -> TensorHandle:
        if isinstance(value, KnownBlock):
            return self.handle_of(value)
        if isinstance(value, Ptr | BlockPtr):
            raise BadArgumentError(argument, f"{value!r} is in memory; tl.load it first")
        if arguments.is_scalar(value):
            number = arguments.scalar(argument, value)
            return Language.full(self, (1,), number, "f32" if isinstance(number, float) else "i32")
        return super()._handle(argument, value)

    def _elementwise(self, name: str, names: tuple[str, ...], given: tuple[object, ...]) -> TensorHandle:
        given = tuple([self._operand(value) for value in given])
        if not any(isinstance(value, TensorHandle) for value in given):
            given = (self._handle(names[0], given[0]), *given[1:])
        if name == "div" and all(isinstance(one, TensorHandle) and one.dtype != "f32" for one in given):
            # As Triton divides halves.
            given = tuple([self.cast(one, "f32") for one in given if isinstance(one, TensorHandle)])
        return super()._elementwise(name, names, given)

    def _method(self, value: object, name: str) -> Any:
        """``value.name`` of what a kernel calculates with: a call of the language on it."""
        if name in METHODS and hasattr(type(self), name):
            return functools.partial(getattr(self, name), value)
        if name == "type" and isinstance(value, TensorHandle):
            return value.dtype
        if name == "numel":
            return math.prod(value.shape)  # type: ignore[attr-defined]
        if isinstance(value, TensorHandle):
            return None
        raise no_attribute(repr(value), name, [*METHODS, *dir(type(value))])
