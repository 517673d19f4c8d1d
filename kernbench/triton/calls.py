"""The language of Triton kernels: ``tl`` with tensors of pointers, whose calls run ahead of the PE."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NoReturn, cast

import numpy as np
from greenlet import getcurrent

from kernbench.errors import KernelError
from kernbench.hints import no_attribute, shown
from kernbench.kernels import arguments
from kernbench.kernels.ahead import AheadLanguage
from kernbench.kernels.arguments import BadArgumentError
from kernbench.kernels.handles import TensorHandle
from kernbench.kernels.issue import tl_call
from kernbench.kernels.pointer import Pointer
from kernbench.kernels.products import accumulate
from kernbench.kernels.thread import KernelGreenlet
from kernbench.kernels.tl import Language
from kernbench.program.commands import Define
from kernbench.triton.memory import TritonMemory
from kernbench.triton.pointers import BlockPtr, Ptr
from kernbench.triton.values import INT64, Int, Known, Truth, data_of, dtype

Array = np.ndarray[Any, Any]
Grid = tuple[int, int, int]


METHODS = frozenset(
    ("abs", "argmax", "argmin", "associative_scan", "broadcast_to", "cast", "ceil", "cos", "cumprod", "cumsum",
     "erf", "exp", "exp2", "expand_dims", "flip", "floor", "log", "log2", "max", "min", "permute", "ravel",
     "reduce", "reshape", "rsqrt", "sigmoid", "sin", "softmax", "split", "sqrt", "store", "sum", "trans", "view",
     "xor_sum", "atomic_add", "gather", "histogram", "logical_and", "logical_or")
)  # fmt: skip
"""Calls that are also methods of what a kernel calculates with."""


def current(name: str) -> TritonLanguage:
    """The language of the kernel that is running; ``name`` is what is called of it."""
    kernel = getcurrent()
    if isinstance(kernel, KernelGreenlet) and isinstance(kernel.tl, TritonLanguage):
        return kernel.tl
    where = "in a kernel without @triton.jit" if isinstance(kernel, KernelGreenlet) else "outside of a kernel"
    raise KernelError(f"tl.{name} of kernbench.triton.language is called {where}; launch it: kernel[grid](...)")


class TritonLanguage(TritonMemory):
    """``tl`` of a kernel under ``@triton.jit``: Triton's meaning of what both languages have."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self._kernel_thread = self._thread
        self.block: Grid = (0, 0, 0)
        self.grid: Grid = (1, 1, 1)
        self.functions: dict[Any, Callable[..., Any]] = {}
        """Functions under ``@triton.jit`` as this kernel calls them."""

    def begin_block(self, number: int, block: Grid, grid: Grid) -> None:
        """The kernel goes on with another block of the grid, the ``number``-th."""
        self.block, self.grid = block, grid
        self._computed_last = None
        if self._races is not None and self._kernel_thread is not None:
            self._thread = self._races.block(self._kernel_thread, number)

    def argument(self, value: Any) -> Any:
        """An argument of the launch as the kernel gets it."""
        if isinstance(value, Pointer):
            return Ptr(value, 0, self)
        return Int(value) if type(value) is int or isinstance(value, np.integer) else value

    # -- values -----------------------------------------------------------------------------------------

    def handle_of(self, value: Known) -> TensorHandle:
        """A known block as engines take it."""
        data, dtype = value.data, "i8" if value.data.dtype == bool else "i32"
        if dtype == "i32" and data.size and (data.min() < arguments.I32_MIN or data.max() > arguments.I32_MAX):
            raise KernelError("a block of integers does not fit 32 bits; engines calculate with i32")
        return self.constant(data.astype(np.int8 if dtype == "i8" else np.int32), dtype)

    def constant(self, data: Array, dtype: str) -> TensorHandle:
        """A handle to values that nothing has to compute; no time passes."""
        room = self._scratch.take(data.nbytes if dtype == "f32" else 1)
        op = self._new("view", "known", (), data.shape or (1,), dtype, {"data": data})
        self._send(Define(op))
        return self._result(op, room, lambda _: lambda: data)

    def loaded(self, handle: TensorHandle, what: str) -> Known:
        """The integers of a handle, which are waited for; computed ones are an error of ``what``."""
        self._wait_for(handle)
        if handle.dtype not in ("i8", "i32") or handle._value is None:
            kind = "computed" if handle.dtype in ("i8", "i32") else handle.dtype
            raise KernelError(
                f"{what} a tensor of {kind} values: addresses and masks must be known while time is simulated; "
                "they may depend on loaded integers, not on results of engines"
            )
        data = handle.data
        if handle.origin in _MASKS:
            return Known(data != 0, self)
        return Known(data.astype(np.int64), self)

    def _index(self, number: int) -> int:
        return Int(number)

    def _operand(self, value: Any) -> Any:
        return self.handle_of(value) if isinstance(value, Known) else value

    def _handle(self, argument: str, value: object) -> TensorHandle:
        if isinstance(value, Known):
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
            given = tuple([self.cast(one, "f32") for one in given])  # as Triton divides halves
        return super()._elementwise(name, names, given)

    def _method(self, value: object, name: str) -> Any:
        """``value.name`` of what a kernel calculates with: a call of the language whose first argument it is."""
        if name in METHODS and hasattr(type(self), name):
            return functools.partial(getattr(self, name), value)
        if name == "type" and isinstance(value, TensorHandle):
            return dtype(value.dtype)
        if isinstance(value, TensorHandle):
            return None
        raise no_attribute(repr(value), name, [*METHODS, *dir(type(value))])

    # -- what is asked of the launch ----------------------------------------------------------------------

    @tl_call
    def program_id(self, axis: int = 0) -> int:
        """Index of this block along ``axis`` of the grid. No time passes."""
        return Int(self.block[_axis(axis)])

    @tl_call
    def num_programs(self, axis: int = 0) -> int:
        """Extent of the grid along ``axis``. No time passes."""
        return Int(self.grid[_axis(axis)])

    # -- blocks --------------------------------------------------------------------------------------------

    @tl_call
    def arange(self, start: int, end: int) -> Known:  # type: ignore[override]
        """The integers ``start, ..., end - 1``, known."""
        first, last = arguments.integer("start", start), arguments.integer("end", end)
        if last <= first:
            raise BadArgumentError("end", f"{last} is not above start {first}")
        return Known(np.arange(first, last, dtype=np.int64), self)

    @tl_call
    def zeros(self, shape: object, dtype: str = "f32") -> Any:
        """Zeros of ``shape``."""
        return Language.zeros(self, shape, _stored(dtype))

    @tl_call
    def zeros_like(self, input: Any) -> Any:
        """Zeros of another's shape and type."""
        return Language.zeros(self, input.shape, input.dtype)

    @tl_call
    def full(self, shape: object, value: Any, dtype: str = "f32") -> Any:
        """``shape`` filled with ``value``; a handle of one element is repeated."""
        if isinstance(value, TensorHandle):
            return Language.broadcast_to(self, self.cast(value, dtype), shape)
        if arguments.dtype("dtype", _stored(dtype)) not in ("i8", "i32"):
            value = float(value)
        return Language.full(self, shape, value, _stored(dtype))

    @tl_call
    def cast(  # type: ignore[override]
        self, input: Any, dtype: Any, fp_downcast_rounding: object = None, bitcast: bool = False
    ) -> Any:
        """``input`` in another type; ``int1`` asks whether elements are not 0."""
        if bitcast:
            raise BadArgumentError("bitcast", "values keep their meaning here; cast with dtype alone")
        if fp_downcast_rounding not in (None, "rtne"):
            raise BadArgumentError("fp_downcast_rounding", "casts round to nearest even ('rtne')")
        if isinstance(input, Known | Int):
            return input.to(dtype)
        handle = self._handle("input", input)
        if isinstance(dtype, Truth):
            return handle if handle.origin in _MASKS else self.not_equal(handle, 0)
        if dtype == INT64:
            return self.loaded(handle, "tl.int64 of")
        return Language.cast(self, handle, str(dtype))

    @tl_call
    def broadcast_to(self, input: Any, *shape: Any) -> Any:  # type: ignore[override]
        """``input`` repeated to a shape."""
        wanted = _extents(shape)
        if isinstance(input, Known):
            return input.made(np.broadcast_to(input.data, wanted))
        if isinstance(input, Ptr):
            return Ptr(input.base, np.broadcast_to(input.at, wanted), self)
        handle = self._handle("input", input)
        return handle if handle.shape == wanted else Language.broadcast_to(self, handle, wanted)

    @tl_call
    def broadcast(self, input: Any, other: Any) -> Any:
        """Both repeated to one shape."""
        shape = np.broadcast_shapes(input.shape, other.shape)
        return self.broadcast_to(input, shape), self.broadcast_to(other, shape)

    @tl_call
    def reshape(self, input: Any, *shape: Any, can_reorder: bool = False) -> Any:  # type: ignore[override]
        """``input`` under another shape, in row-major order."""
        if isinstance(input, Known):
            return input.made(input.data.reshape(_extents(shape)))
        return Language.reshape(self, self._handle("input", input), _extents(shape))

    view = reshape

    @tl_call
    def ravel(self, x: Any, can_reorder: bool = False) -> Any:
        """``x`` as one dimension."""
        return self.reshape(x, (int(np.prod(x.shape)),))

    @tl_call
    def expand_dims(self, input: Any, axis: Any) -> Any:
        """``input`` with new axes of size 1 at the places ``axis``."""
        places = arguments.integers("axis", axis)
        ndim = len(input.shape) + len(places)
        new = {arguments.axis("axis", one, ndim) for one in places}
        return input[tuple(None if n in new else slice(None) for n in range(ndim))]

    @tl_call
    def permute(self, input: Any, *dims: Any) -> Any:
        """``input`` with its axes in the order ``dims``."""
        if isinstance(input, Known):
            return input.made(np.transpose(input.data, _extents(dims)))
        return Language.trans(self, self._handle("input", input), *dims)

    @tl_call
    def trans(self, input: Any, *dims: Any) -> Any:  # type: ignore[override]
        """``input`` with its last two axes exchanged, or all in the order ``dims``."""
        if isinstance(input, Known):
            return self.permute(input, *dims) if dims else input.T
        return Language.trans(self, self._handle("input", input), *dims)

    @tl_call
    def where(self, condition: Any, x: Any, y: Any) -> Any:  # type: ignore[override]
        """``x`` where ``condition`` is not 0, else ``y``."""
        known = [data_of(one) for one in (condition, x, y)]
        if all(one is not None for one in known):
            return Known(np.where(*known), self)
        return self._elementwise("where", ("condition", "x", "y"), (self._handle("condition", condition), x, y))

    @tl_call
    def maximum(self, x: Any, y: Any, propagate_nan: object = None) -> Any:  # type: ignore[override]
        """The larger of x and y; where one is NaN, the other."""
        return self._larger("maximum", np.maximum, x, y)

    @tl_call
    def minimum(self, x: Any, y: Any, propagate_nan: object = None) -> Any:  # type: ignore[override]
        """The smaller of x and y; where one is NaN, the other."""
        return self._larger("minimum", np.minimum, x, y)

    def _larger(self, name: str, how: Callable[[Any, Any], Any], x: Any, y: Any) -> Any:
        known = data_of(x), data_of(y)
        if known[0] is None or known[1] is None:
            return self._elementwise(name, ("x", "y"), (x, y))
        found = how(*known)
        return Known(found, self) if isinstance(found, np.ndarray) else Int(found)

    @tl_call
    def cdiv(self, x: Any, div: Any) -> Any:
        """``x / div`` rounded up."""
        return (x + (div - 1)) // div

    @tl_call
    def clamp(self, x: Any, min: Any, max: Any, propagate_nan: object = None) -> Any:
        """``x`` limited to ``[min, max]``."""
        return Language.clamp(self, self._handle("x", x), self._operand(min), self._operand(max))

    @tl_call
    def fdiv(self, x: Any, y: Any, ieee_rounding: bool = False) -> Any:
        """``x / y``."""
        return self.div(x, y)

    div_rn = fdiv

    @tl_call
    def sqrt_rn(self, x: Any) -> Any:
        """Square root."""
        return self.sqrt(x)

    @tl_call
    def logical_and(self, x: Any, y: Any) -> Any:
        """``x & y`` of masks."""
        return x & y

    @tl_call
    def logical_or(self, x: Any, y: Any) -> Any:
        """``x | y`` of masks."""
        return x | y

    # -- along an axis ---------------------------------------------------------------------------------------

    @tl_call
    def sum(self, input: Any, axis: Any = None, keep_dims: bool = False, dtype: Any = None) -> Any:  # type: ignore[override]
        """Sum along ``axis``, which goes, or of all elements."""
        handle = self._handle("input", input)
        return self._along("sum", handle if dtype is None else self.cast(handle, dtype), axis, keep_dims)

    @tl_call
    def max(  # type: ignore[override]
        self,
        input: Any,
        axis: Any = None,
        return_indices: bool = False,
        return_indices_tie_break_left: bool = True,
        keep_dims: bool = False,
    ) -> Any:
        """Largest element along ``axis``, which goes, or of all; with its index where that is asked for."""
        return self._extreme("max", "argmax", input, axis, return_indices, keep_dims)

    @tl_call
    def min(  # type: ignore[override]
        self,
        input: Any,
        axis: Any = None,
        return_indices: bool = False,
        return_indices_tie_break_left: bool = True,
        keep_dims: bool = False,
    ) -> Any:
        """Smallest element along ``axis``, which goes, or of all; with its index where that is asked for."""
        return self._extreme("min", "argmin", input, axis, return_indices, keep_dims)

    def _extreme(self, name: str, index: str, input: Any, axis: Any, indices: bool, keep_dims: bool) -> Any:
        handle = self._handle("input", input)
        found = self._along(name, handle, axis, keep_dims)
        return (found, self._along(index, handle, axis, keep_dims)) if indices else found

    @tl_call
    def argmax(self, input: Any, axis: Any, tie_break_left: bool = True, keep_dims: bool = False) -> Any:  # type: ignore[override]
        """Index of the largest element along ``axis``, which goes: the first of equals."""
        return self._along("argmax", self._handle("input", input), axis, keep_dims)

    @tl_call
    def argmin(self, input: Any, axis: Any, tie_break_left: bool = True, keep_dims: bool = False) -> Any:  # type: ignore[override]
        """Index of the smallest element along ``axis``, which goes: the first of equals."""
        return self._along("argmin", self._handle("input", input), axis, keep_dims)

    @tl_call
    def cumsum(self, input: Any, axis: int = 0, reverse: bool = False, dtype: Any = None) -> Any:  # type: ignore[override]
        """Running sum along ``axis``."""
        handle = self._handle("input", input)
        return self._running("cumsum", handle if dtype is None else self.cast(handle, dtype), axis, reverse)

    @tl_call
    def cumprod(self, input: Any, axis: int = 0, reverse: bool = False) -> Any:  # type: ignore[override]
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
    def softmax(self, x: Any, dim: Any = None, keep_dims: bool = False, ieee_rounding: bool = False) -> Any:  # type: ignore[override]
        """Softmax along ``dim``, the first axis by default."""
        return self._along("softmax", self._handle("x", x), 0 if dim is None else dim)

    # -- products and the rest ---------------------------------------------------------------------------------

    @tl_call
    def dot(  # type: ignore[override]
        self,
        input: Any,
        other: Any,
        acc: Any = None,
        input_precision: object = None,
        allow_tf32: object = None,
        max_num_imprecise_acc: object = None,
        out_dtype: Any = "f32",
    ) -> Any:
        """``input @ other``, added to ``acc`` in place where that is given; sums are f32, or i32."""
        x, y = self._handle("input", input), self._handle("other", other)
        if acc is None:
            return Language.dot(self, x, y, None, "i32" if x.dtype in ("i8", "i32") else str(out_dtype))
        return accumulate(self, x, y, self._handle("acc", acc))

    @tl_call
    def make_block_ptr(  # type: ignore[override]
        self, base: Any, shape: Any, strides: Any, offsets: Any, block_shape: Any, order: Any = None
    ) -> BlockPtr:
        """A block of the array of ``shape`` at ``base``. No time passes."""
        return BlockPtr(self._pointer(base), shape, strides, offsets, block_shape)

    @tl_call
    def make_tensor_descriptor(
        self, base: Any, shape: Any, strides: Any, block_shape: Any, padding_option: str = "zero"
    ) -> BlockPtr:
        """Blocks of the array of ``shape`` at ``base``: ``.load(offsets)``, ``.store(offsets, value)``."""
        return BlockPtr(self._pointer(base), shape, strides, [0] * len(shape), block_shape)

    @tl_call
    def load_tensor_descriptor(self, desc: BlockPtr, offsets: Sequence[Any]) -> Any:
        """``desc.load(offsets)``."""
        return desc.load(offsets)

    @tl_call
    def store_tensor_descriptor(self, desc: BlockPtr, offsets: Sequence[Any], value: Any) -> None:
        """``desc.store(offsets, value)``."""
        desc.store(offsets, value)

    @tl_call
    def advance(self, base: Any, offsets: Any) -> Any:  # type: ignore[override]
        """A block pointer moved on by ``offsets`` elements in each dimension."""
        if not isinstance(base, BlockPtr):
            raise BadArgumentError("base", f"{shown(base)} is not a block pointer; tl.make_block_ptr makes one")
        return base.advanced(tuple(offsets))

    @tl_call
    def device_print(self, prefix: str, *args: object, hex: bool = False) -> None:  # type: ignore[override]
        """Print to stderr: PE, block, simulated time, ``prefix`` and values. No time passes."""
        known = [np.array2string(v.data, threshold=16) if isinstance(v, Known) else v for v in args]
        print(f"[{self._pe.name} block {self.block} {self._pe.now():g} ns] {prefix}", *known, file=sys.stderr)

    @tl_call
    def device_assert(self, cond: Any, msg: str = "", mask: Any = None) -> None:
        """End the kernel with an error where a known condition does not hold; computed ones are not looked at."""
        values = data_of(cond)
        if values is None and isinstance(cond, TensorHandle) and cond._value is not None:
            values = cond.data
        if values is not None and not np.all(values if mask is None else values | ~data_of(mask)):
            raise self._error(msg or "the condition does not hold")

    def _pointer(self, base: Any) -> Ptr:
        if isinstance(base, Ptr):
            return base
        raise BadArgumentError("base", f"{shown(base)} is not a pointer: a tensor argument, or one moved on")


_MASKS = frozenset(
    ("equal", "not_equal", "less", "less_equal", "greater", "greater_equal", "logical_not")
)
"""Operations whose results are masks."""


def _axis(axis: object) -> int:
    number = arguments.integer("axis", axis)
    if number not in (0, 1, 2):
        raise BadArgumentError("axis", f"{number} is not an axis of the grid: 0, 1 or 2")
    return number


def _stored(dtype: Any) -> str:
    return "i32" if dtype == INT64 else str(dtype)


def _extents(given: Sequence[Any]) -> tuple[int, ...]:
    """Extents given as separate numbers or as one sequence."""
    one = len(given) == 1 and isinstance(given[0], Iterable)
    return tuple(int(n) for n in cast("Iterable[Any]", given[0] if one else given))
