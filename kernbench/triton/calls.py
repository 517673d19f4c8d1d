"""The language of Triton kernels: ``tl`` with tensors of pointers, whose calls run ahead of the PE."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from greenlet import getcurrent

from kernbench.errors import KernelError
from kernbench.language import arguments
from kernbench.language.arguments import BadArgumentError, is_scalar
from kernbench.language.handles import TensorHandle
from kernbench.language.issue import elementwise_call, tl_call
from kernbench.language.pointer import Pointer, TensorArg
from kernbench.language.products import accumulate, product
from kernbench.language.thread import KernelGreenlet
from kernbench.operations import OPERATIONS
from kernbench.support import dtypes
from kernbench.support.hints import shown
from kernbench.triton.pointers import BlockPtr, Ptr
from kernbench.triton.scaled import ScaledCalls
from kernbench.triton.values import INT64, Int, KnownBlock, data_of, dtype, scalar
from kernbench.values.blocks import BlockRun

Grid = tuple[int, int, int]


def current(name: str) -> TritonLanguage:
    """The language of the kernel that is running; ``name`` is what is called of it."""
    kernel = getcurrent()
    if isinstance(kernel, KernelGreenlet) and isinstance(kernel.tl, TritonLanguage):
        return kernel.tl
    inside = isinstance(kernel, KernelGreenlet)
    where = "in a kernel without @triton.jit; decorate it and" if inside else "outside of a kernel;"
    raise KernelError(
        f"tl.{name} of kernbench.triton.language is called {where} launch it: kernel[grid](...)"
    )


class TritonLanguage(ScaledCalls):
    """``tl`` of a kernel under ``@triton.jit``: Triton's meaning of what both languages have."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self._kernel_thread = self._thread
        self.block: Grid = (0, 0, 0)
        self.grid: Grid = (1, 1, 1)
        self.functions: dict[Any, Callable[..., Any]] = {}
        """Functions under ``@triton.jit`` as this kernel calls them."""
        self.pointed: Sequence[TensorArg] = ()
        """Tensors that pointers in memory may name: those whose ``data_ptr()`` the host took."""
        self._under_way: BlockRun | None = None

    def begin_block(self, number: int, block: Grid, grid: Grid) -> None:
        """The kernel goes on with another block of the grid, the ``number``-th."""
        self.block, self.grid = block, grid
        self._computed_last = None
        self._fresh = True
        begins = getattr(self._data, "block_begins", None)
        self._under_way = begins(self._pe, block) if begins else None
        if self._under_way is not None:
            self._next_op_id = self._under_way.next_op_id
        if self._races is not None and self._kernel_thread is not None:
            self._thread = self._races.block(self._kernel_thread, number)

    def end_block(self) -> None:
        """Wait for all that the block has under way; then it is over."""
        self.drain()
        if self._under_way is not None:
            self._under_way.over()

    def found(self, address: int, element: str) -> Ptr:
        """The pointer at an address that was loaded from memory."""
        for tensor in self.pointed:
            base = tensor.pointer(self._pe)
            offset, itemsize = address - int(base), dtypes.SIZES[base.dtype]
            if 0 <= offset < base.reach and not offset % itemsize:
                if element != base.dtype:
                    raise self._error(f"tensor '{base.name}' holds {base.dtype}, not {element}")
                return Ptr(base, offset // itemsize, self)
        raise self._error(
            f"no tensor is at address {address:#x}, which a pointer in memory names; on the host keep the "
            "tensor, and write its data_ptr() into a tensor of torch.int64"
        )

    def argument(self, name: str, value: Any, offset: int = 0) -> Any:
        """An argument of the launch as the kernel gets it; a tensor from its element ``offset`` on."""
        if isinstance(value, Pointer):
            return Ptr(value, offset, self)
        if isinstance(value, list | np.ndarray) or (hasattr(value, "shape") and not is_scalar(value)):
            kind = f"{type(value).__module__}.{type(value).__qualname__}"
            raise KernelError(
                f"argument '{name}' is a {kind}, which is not on the machine: give kb.run_kernel a numpy "
                "array, or make a tensor of one, torch.from_numpy(array)"
            )
        wide = isinstance(value, int) and 2**31 <= value < 2**63
        return Int(value, INT64) if wide else scalar(value)

    @tl_call
    def program_id(self, axis: int = 0) -> int:
        """Index of this block along ``axis`` of the grid. No time passes."""
        return Int(self.block[_axis(axis)])

    @tl_call
    def num_programs(self, axis: int = 0) -> int:
        """Extent of the grid along ``axis``. No time passes."""
        return Int(self.grid[_axis(axis)])

    @tl_call
    def dot(
        self,
        input: Any,
        other: Any,
        acc: Any = None,
        input_precision: object = None,
        allow_tf32: object = None,
        max_num_imprecise_acc: object = None,
        out_dtype: Any = "f32",
        trans_a: bool = False,
        trans_b: bool = False,
    ) -> Any:
        """``input @ other``, added to ``acc`` in place where that is given; sums are f32, or i32.

        ``trans_a`` and ``trans_b`` are those of Triton 2.0: the operand with its last two axes exchanged.
        """
        x, y = self._handle("input", _narrow(input)), self._handle("other", _narrow(other))
        x, y = self.trans(x) if trans_a else x, self.trans(y) if trans_b else y
        if x.ndim == y.ndim == 3 and x.shape[0] == y.shape[0]:
            sums = [None if acc is None else acc[n] for n in range(x.shape[0])]
            return self.stacked(
                [self.dot(x[n], y[n], one, out_dtype=out_dtype) for n, one in enumerate(sums)]
            )
        if acc is None:
            return product(self, x, y, None, "i32" if dtype(x.dtype).is_int() else str(out_dtype))
        return accumulate(self, x, y, self._handle("acc", acc))

    @tl_call
    def dot_scaled(
        self,
        lhs: Any,
        lhs_scale: Any,
        lhs_format: str,
        rhs: Any,
        rhs_scale: Any,
        rhs_format: str,
        acc: Any = None,
        fast_math: bool = False,
        lhs_k_pack: bool = True,
        rhs_k_pack: bool = True,
        out_dtype: Any = "f32",
    ) -> Any:
        """``lhs @ rhs`` of elements that share scales along K, added to ``acc`` in place where it is given.

        The elements reach the matrix engine as bf16 (f16 of ``"fp16"``), which holds each exactly, and take
        the time of these.

        Args:
            lhs: (M, K); of ``"e2m1"``, two elements to a byte along K, i8.
            lhs_scale: (M, K / 32), i8: the bits of e8m0, powers of two; None for none.
            lhs_format: ``"e2m1"``, ``"e4m3"``, ``"e5m2"``, ``"bf16"`` or ``"fp16"``.
            rhs: (K, N), as lhs.
            rhs_scale: (N, K / 32).
            rhs_format: As lhs_format.
            acc: As in ``dot``.
            fast_math: Triton's; without effect.
            lhs_k_pack: Must be true: e2m1 is packed along K.
            rhs_k_pack: The same.
            out_dtype: f32.
        """
        for argument, packed in (("lhs_k_pack", lhs_k_pack), ("rhs_k_pack", rhs_k_pack)):
            if not packed:
                raise BadArgumentError(argument, "e2m1 is packed along K here; leave it out")
        x = self._scaled("lhs", lhs, lhs_scale, lhs_format, 1)
        y = self._scaled("rhs", rhs, rhs_scale, rhs_format, 0)
        if x.dtype != y.dtype:
            x, y = self.cast(x, "bf16"), self.cast(y, "bf16")
        return self.dot(x, y, acc, out_dtype=out_dtype)

    @tl_call
    def make_block_ptr(
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
    def advance(self, base: Any, offsets: Any) -> Any:
        """A block pointer moved on by ``offsets`` elements in each dimension."""
        if not isinstance(base, BlockPtr):
            raise BadArgumentError(
                "base", f"{shown(base)} is not a block pointer; tl.make_block_ptr makes one"
            )
        return base.advanced(tuple(offsets))

    @tl_call
    def device_print(self, prefix: str, *args: object, hex: bool = False) -> None:
        """Print to stderr: PE, block, simulated time, ``prefix`` and values; loads are waited for."""
        shown = [self._printed(value) for value in args]
        print(f"[{self._pe.name} block {self.block} {self._pe.now():g} ns] {prefix}", *shown, file=sys.stderr)

    def _printed(self, value: object) -> object:
        if isinstance(value, TensorHandle):
            self._wait_for(value)
            known = value._value is not None
        else:
            known = isinstance(value, KnownBlock)
        return np.array2string(value.data, threshold=16) if known else value  # type: ignore[attr-defined]

    @tl_call
    def device_assert(self, cond: Any, msg: str = "", mask: Any = None) -> None:
        """End the kernel where a condition does not hold, of what is known or loaded, which is waited for.

        Conditions on results of engines are not looked at: these have no numbers while time is simulated.
        """
        values = data_of(cond)
        if isinstance(cond, TensorHandle):
            self._wait_for(cond)
            values = None if cond._value is None else cond.data
        if values is not None and not np.all(values if mask is None else values | ~data_of(mask)):
            raise self._error(msg or "the condition does not hold")

    def _pointer(self, base: Any) -> Ptr:
        if isinstance(base, Ptr):
            return base
        raise BadArgumentError("base", f"{shown(base)} is not a pointer: a tensor argument, or one moved on")


for _row in OPERATIONS.values():
    for _name in _row.in_triton if _row.kind == "elementwise" else ():
        if not hasattr(TritonLanguage, _name):
            setattr(TritonLanguage, _name, elementwise_call(_row, _name, ("x", "y", "z")[: _row.arity]))


def called(name: str) -> Callable[..., Any]:
    """The function of ``triton.language`` that is the call ``name`` of the kernel that is running."""

    def call(*args: Any, **kwargs: Any) -> Any:
        return getattr(current(name), name)(*args, **kwargs)

    call.__name__ = call.__qualname__ = name
    call.__doc__ = getattr(TritonLanguage, name).__doc__
    return call


def _narrow(value: Any) -> Any:
    """A factor of a product; known integers as i32, which all of them must fit."""
    if not isinstance(value, KnownBlock) or value.dtype not in dtypes.INDICES:
        return value
    found = value.to("i32")
    if not np.array_equal(found.data, value.data):
        raise KernelError(
            f"a factor of {value.dtype} does not fit 32 bits; the matrix engine takes i8 and i32"
        )
    return found


def _axis(axis: object) -> int:
    number = arguments.integer("axis", axis)
    if number not in (0, 1, 2):
        raise BadArgumentError("axis", f"{number} is not an axis of the grid: 0, 1 or 2")
    return number
