"""``tl`` calls that move data between memory and the PE: load, store, ref, block pointers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from kernbench.engine.program.commands import Define, Load, Store
from kernbench.engine.program.operations import Operand
from kernbench.language import arguments
from kernbench.language.arguments import BadArgumentError
from kernbench.language.blocks import BlockBytes, BlockPointer, Mask, access
from kernbench.language.building import Builder
from kernbench.language.extents import broadcast, check_read, stored_shape
from kernbench.language.handles import TensorHandle, TensorRef
from kernbench.language.issue import tl_call
from kernbench.language.pointer import Address, Pointer
from kernbench.support.hints import shown

if TYPE_CHECKING:
    pass

DEFAULT_DTYPE = "f16"
Ptr = int | BlockPointer


class MemoryCalls(Builder):
    """load, store, ref, make_block_ptr, advance."""

    _title = "Memory"

    @tl_call
    def load(
        self,
        ptr: Ptr,
        shape: object = None,
        dtype: str | None = None,
        mask: TensorHandle | None = None,
        other: float = 0,
        strides: object = None,
        boundary_check: Sequence[int] = (),
        padding_option: str = "zero",
        volatile: bool = False,
    ) -> TensorHandle:
        """Read a block of memory into TCM; returns when it is there.

        The handle is known unless the memory holds a computed value. Each row of a strided block is a run of
        bytes of its own and pays the bursts that it touches. Elements that are masked off are not moved,
        unless the mask itself depends on computed values: then all that lies in the tensor is.

        Args:
            ptr: A tensor argument, an address in bytes, or a block pointer. A block at a tensor argument, its
                ``.local`` or some bytes on from there must lie in the tensor, or in this PE's shard of it.
            shape: Extents of the block; by default those of the tensor argument. Without strides the block
                must be consecutive in it: a run of elements, whole rows, or all of it.
            dtype: Element type; by default that of the tensor argument, also at ``ptr + bytes``; f16 at any
                other address.
            mask: Handle that broadcasts to ``shape``; elements where it is 0 are not read.
            other: Number that stands for elements that are not read.
            strides: Distance in elements between neighbours along each axis; row-major by default.
            boundary_check: Axes of a block pointer along which the block may leave the array.
            padding_option: ``"zero"``: elements outside of the array are ``other``.
            volatile: Another PE may write the block meanwhile. It is not a race, and what that PE did before
                the store that is seen comes before what this kernel does next.
        """
        if padding_option != "zero" and padding_option != "":
            raise BadArgumentError(
                "padding_option", f"{shown(padding_option)} is not known; use 'zero' and other="
            )
        if isinstance(shape, TensorHandle):
            raise BadArgumentError("shape", "a handle is not a shape; give a mask by name: mask=")
        number = arguments.scalar("other", other)
        block, operands = self._block(ptr, shape, dtype, strides, mask, boundary_check)
        if number:
            arguments.held("other", number, block.dtype)
        params: dict[str, Any] = {}
        if block.pieces is not None or operands:
            params = {"pieces": block.pieces or ((0, int(np.prod(block.shape))),), "other": number}
            if block.pieces == ():
                params["pieces"] = ()
        room = self._scratch.take(arguments.nbytes(block.shape, block.dtype))
        inputs = (block.operand(), *operands)
        op = self._new("memory", "dma_read", inputs, block.shape, block.dtype, params, block.nbytes)
        if volatile and op.order is not None:
            op.order.volatile = True
        self._send(Load(op, block.runs) if block.runs else Define(op))
        handle = self._result(op, room)
        if volatile:
            self._wait_for(handle)
            self._saw(op)
        return handle

    @tl_call
    def store(
        self,
        ptr: Ptr,
        value: TensorHandle,
        mask: TensorHandle | None = None,
        dtype: str | None = None,
        strides: object = None,
        boundary_check: Sequence[int] = (),
    ) -> None:
        """Write a handle's value to memory; returns when memory has it.

        Args:
            ptr: A tensor argument, an address in bytes, or a block pointer.
            value: The block, or a number; it is cast to the type of the target. Its shape is that of the
                tensor argument or block, or broadcasts to it in one pass over the result. At a plain address
                or with strides it is written as it is.
            mask: Handle that broadcasts to the block; elements where it is 0 keep what memory holds. The
                block may be larger than the tensor.
            dtype: Element type of the target; by default the tensor argument's, or the handle's own.
            strides: As in ``load``.
            boundary_check: As in ``load``; elements outside of the array are not written.
        """
        handle, block, masks = self._written("value", value, ptr, mask, dtype, strides, boundary_check)
        self._send(self._store("dma_write", (handle.operand(), *masks), block.operand(), block))

    @tl_call
    def ref(self, ptr: int, shape: object = None, dtype: str | None = None) -> TensorRef:
        """Name an array in memory without reading it, for a composite to stream. Defaults as in ``load``."""
        return self._memory("ptr", ptr, shape, dtype)

    @tl_call
    def make_block_ptr(
        self,
        base: int,
        shape: object,
        strides: object,
        offsets: object,
        block_shape: object,
        order: object = None,
        dtype: str | None = None,
    ) -> BlockPointer:
        """A block of the array of ``shape`` at ``base``, for ``load``, ``store`` and ``advance``.

        No time passes.

        Args:
            base: A tensor argument, or the address of the array's first element.
            shape: Of the array, in elements, as are the next three.
            strides: From one element to the next, for each dimension.
            offsets: Where the block begins.
            block_shape: Of the block.
            order: Triton's; without effect, the layout is in ``strides``.
            dtype: Of the elements; by default that of the tensor argument, also at ``ptr + bytes``.
        """
        address = arguments.address("base", base)
        sizes = arguments.shape("shape", shape)
        steps = arguments.integers("strides", strides, minimum=0)
        first = arguments.integers("offsets", offsets)
        block = arguments.shape("block_shape", block_shape)
        if not len(steps) == len(first) == len(block) == len(sizes):
            for argument, numbers in (("strides", steps), ("offsets", first), ("block_shape", block)):
                arguments.for_each_axis(argument, numbers, sizes)
        kept, known = (base, base.dtype) if isinstance(base, Address) else (address, DEFAULT_DTYPE)
        dtype = known if dtype is None else dtype
        return BlockPointer(kept, sizes, steps, first, block, arguments.dtype("dtype", dtype))

    @tl_call
    def advance(self, ptr: BlockPointer, offsets: object) -> BlockPointer:
        """``ptr`` moved on by ``offsets`` elements in each dimension. No time passes."""
        if not isinstance(ptr, BlockPointer):
            raise BadArgumentError("ptr", f"{shown(ptr)} is not a block pointer; tl.make_block_ptr makes one")
        steps = arguments.integers("offsets", offsets)
        arguments.for_each_axis("offsets", steps, ptr.shape)
        return ptr.advanced(steps)

    def _written(
        self,
        argument: str,
        value: object,
        ptr: object,
        mask: object,
        dtype: str | None,
        strides: object,
        boundary_check: Sequence[int],
    ) -> tuple[TensorHandle, BlockBytes, tuple[Operand, ...]]:
        """What a store writes, where, and the mask as an operand if it is not known yet."""
        handle = self._stored(argument, value, ptr, mask, dtype, strides)
        if dtype is None and not isinstance(ptr, Pointer | BlockPointer):
            dtype = handle.dtype
        shape = None if isinstance(ptr, BlockPointer) else handle.shape
        return handle, *self._block(ptr, shape, dtype, strides, mask, boundary_check)

    def _store(
        self, name: str, inputs: tuple[Operand, ...], target: Operand, block: BlockBytes
    ) -> Store | Define:
        """The command of an operation ``name`` that writes ``target``, the bytes of ``block``."""
        params = {} if block.pieces is None else {"pieces": block.pieces}
        op = self._op(self._next_op_id(), "memory", name, inputs, target, params, block.nbytes)
        return Store(op, block.runs) if block.runs else Define(op)

    def _stored(
        self, argument: str, value: object, ptr: object, mask: object, dtype: str | None, strides: object
    ) -> TensorHandle:
        """The value that a store writes, as large as what it is written to."""
        if arguments.is_scalar(value):
            named = ptr.dtype if isinstance(ptr, Pointer | BlockPointer) else None
            if dtype is None and named is None:
                raise BadArgumentError("dtype", "is needed for a number at a plain address")
            value = self._full((1,), value, dtype or named)
        handle = self._handle(argument, value)
        masked = None if mask is None else self._handle("mask", mask).shape
        target, named = None, ""
        if isinstance(ptr, BlockPointer):
            target, named, masked = ptr.block, "the block", None
        elif isinstance(ptr, Pointer) and strides is None:
            target, named = ptr.shape, f"tensor '{ptr.name}'"
        shape = stored_shape(handle.shape, target, masked, named)
        if math.prod(shape) == math.prod(handle.shape):
            same = shape == handle.shape or not isinstance(ptr, BlockPointer)
            return handle if same else self._reshaped(handle, shape)
        return self._repeated(handle if handle.ndim <= len(shape) else self._reshaped(handle, (1,)), shape)

    def _block(
        self,
        ptr: object,
        shape: object,
        dtype: str | None,
        strides: object,
        mask: object,
        boundary_check: Sequence[int],
    ) -> tuple[BlockBytes, tuple[Operand, ...]]:
        """The access that a load or store describes, and the mask as an operand if it is not known yet."""
        known: Mask | None = None
        operands: tuple[Operand, ...] = ()
        base: int
        steps: tuple[int, ...] | None = None
        shift = 0
        checked = arguments.integers("boundary_check", boundary_check)
        if isinstance(ptr, BlockPointer):
            if strides is not None or shape is not None or dtype is not None:
                raise BadArgumentError("ptr", "a block pointer has its own shape, strides and dtype")
            base, size, steps, name = ptr.base, ptr.block, ptr.strides, ptr.dtype
            known = ptr.inside([arguments.axis("boundary_check", n, len(size)) for n in checked] or ())
            step_bytes = arguments.nbytes((1,), name)
            shift = sum([a * b for a, b in zip(ptr.offsets, steps, strict=True)]) * step_bytes
        else:
            if checked:
                raise BadArgumentError("boundary_check", "is for block pointers; use mask=")
            base, size, name = self._described("ptr", ptr, shape, dtype)
            if strides is None:
                check_read("shape", ptr, size)
            else:
                steps = arguments.integers("strides", strides, minimum=0)
                arguments.for_each_axis("strides", steps, size)
        if mask is not None:
            handle = self._handle("mask", mask)
            if broadcast(handle.shape, size) != size:
                raise BadArgumentError("mask", f"shape {handle.shape} does not broadcast to the block {size}")
            if handle.pending:
                operands = (handle.operand(),)
            else:
                chosen = np.broadcast_to(handle.data != 0, size)
                known = chosen if known is None else known & chosen
        return access("ptr", base, size, steps, name, known, clip=bool(operands), shift=shift), operands

    def _described(
        self, argument: str, ptr: object, shape: object, dtype: object
    ) -> tuple[int, tuple[int, ...], str]:
        """Address, shape and dtype of an array in memory."""
        if isinstance(ptr, TensorHandle):
            raise BadArgumentError(
                argument,
                "is a tensor, and there are no tensors of pointers; pass an address in bytes, or name rows "
                "and columns with tl.make_block_ptr",
            )
        kept = arguments.address(argument, ptr)
        if isinstance(ptr, Address):
            kept, dtype = ptr, ptr.dtype if dtype is None else dtype
            if shape is None and isinstance(ptr, Pointer):
                shape = ptr.shape
        if shape is None:
            raise BadArgumentError(
                "shape",
                "is needed with a plain address; pointer + bytes is one, anywhere in the tensor or shard",
            )
        name = arguments.dtype("dtype", DEFAULT_DTYPE if dtype is None else dtype)
        return kept, arguments.shape("shape", shape), name

    def _memory(self, argument: str, ptr: object, shape: object, dtype: object) -> TensorRef:
        """The contiguous array that pointer, shape and dtype describe, checked against the tensor's end."""
        address, size, name = self._described(argument, ptr, shape, dtype)
        check_read(argument, ptr, size)
        array = TensorRef(int(address), size, name)
        arguments.fits(argument, ptr, array.nbytes)
        return array
