"""``load`` and ``store`` of Triton kernels: by tensors of pointers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from kernbench.engine.program.commands import Load, Store
from kernbench.engine.program.operations import Operand
from kernbench.language import arguments
from kernbench.language.arguments import BadArgumentError
from kernbench.language.handles import TensorHandle
from kernbench.language.issue import tl_call
from kernbench.support import dtypes
from kernbench.support.hints import shown
from kernbench.triton.access import moved
from kernbench.triton.operands import Operands
from kernbench.triton.pointers import BlockPtr, Ptr
from kernbench.triton.values import INTEGERS, Int, KnownBlock, data_of
from kernbench.triton.values import dtype as kind

if TYPE_CHECKING:
    from kernbench.triton.calls import TritonLanguage


class TritonMemory(Operands):
    """load, store."""

    @tl_call
    def load(
        self,
        pointer: Any,
        mask: Any = None,
        other: Any = None,
        boundary_check: Sequence[int] = (),
        padding_option: str = "",
        cache_modifier: str = "",
        eviction_policy: str = "",
        volatile: bool = False,
    ) -> Any:
        """Read what a block of pointers names into TCM; the kernel goes on at once.

        Each distinct element is moved once, neighbours as one run of bytes, in the order of memory whatever
        that of the block is. All runs of a block are one request to each memory that they reach; each pays
        the bursts that it touches. A single integer is waited for, so that the kernel may branch on it.

        Args:
            pointer: A tensor argument plus offsets in elements, or a block pointer.
            mask: Elements where it is 0 are not read. KnownBlock, or made of loaded integers.
            other: What elements that are not read hold, 0 by default.
            boundary_check: Axes of a block pointer along which the block may leave the array.
            padding_option: ``"zero"`` or ``"nan"``: what elements outside of the array hold.
            cache_modifier: Triton's; without effect, as is the next.
            eviction_policy: Triton's.
            volatile: Another PE may write the block meanwhile: this is not a race. The kernel waits, and what
                came before the store that is seen comes before what follows.
        """
        ptr, keep = self._chosen(pointer, mask, boundary_check)
        if padding_option not in ("", "zero", "nan"):
            raise BadArgumentError("padding_option", f"{shown(padding_option)} is not 'zero' or 'nan'")
        if isinstance(other, TensorHandle | KnownBlock):
            found = self.load(ptr, keep)
            return found if keep is None else cast("TritonLanguage", self).where(keep, found, other)
        number = arguments.scalar("other", float("nan") if padding_option == "nan" else other or 0)
        dtype = ptr.base.dtype
        arguments.held("other", number, dtype)
        shape, what = moved(ptr, None if keep is None else keep.data)
        if not what.runs:
            return self._full(shape, number, dtype)
        params: dict[str, Any] = {}
        source = Operand(shape, dtype, address=what.runs[0][0])
        if what.chosen is not None:
            params = {"take": (what.chosen, what.places), "other": number}
            source.shape = (what.elements,)
        room = self._scratch.take(arguments.nbytes(shape, dtype))
        op = self._new(
            "memory", "dma_read", (source,), shape, dtype, params, what.elements * dtypes.SIZES[dtype]
        )
        if volatile and op.order is not None:
            op.order.volatile = True
        self._send(Load(op, what.runs))
        handle = self._result(op, room)
        if volatile:
            self._wait_for(handle)
            self._saw(op)
        if ptr.shape == () and dtype in INTEGERS:
            return self._scalar(handle)
        return self.index(handle)

    @tl_call
    def store(
        self,
        pointer: Any,
        value: Any,
        mask: Any = None,
        boundary_check: Sequence[int] = (),
        cache_modifier: str = "",
        eviction_policy: str = "",
    ) -> None:
        """Write a block where a block of pointers says; the kernel goes on at once.

        Args:
            pointer: As in ``load``. Of elements that it names twice the last one is written.
            value: The block, or what broadcasts to it; it is cast to the type of the tensor.
            mask: Elements where it is 0 keep what memory holds.
            boundary_check: As in ``load``.
            cache_modifier: Triton's; without effect, as is the next.
            eviction_policy: Triton's.
        """
        ptr, keep = self._chosen(pointer, mask, boundary_check)
        shape, what = moved(ptr, None if keep is None else keep.data)
        if not what.runs:
            return
        dtype = ptr.base.dtype
        handle = self._fitted("value", value, shape, dtype)
        output = Operand(shape, dtype, address=what.runs[0][0])
        params: dict[str, Any] = {}
        if what.last is not None:
            output.shape, params = (what.elements,), {"put": what.last}
        size = what.elements * dtypes.SIZES[dtype]
        op = self._op(self._next_op_id(), "memory", "dma_write", (handle.operand(),), output, params, size)
        self._send(Store(op, what.runs))

    def _fitted(self, argument: str, value: Any, shape: tuple[int, ...], dtype: str) -> TensorHandle:
        """What is written to a block of ``shape``: ``value``, in its type and as large."""
        if dtype in INTEGERS and data_of(value) is not None:
            value = value if isinstance(value, KnownBlock) else Int(value)
            if dtype in dtypes.INDICES:
                low = np.asarray(data_of(value.to(kind(dtype))), dtypes.dtype(dtype).numpy)
                return self.constant(np.broadcast_to(low, shape), dtype)
            if isinstance(value, Int) or value.dtype in dtypes.INDICES:
                value = value.to(kind(dtype))
        if arguments.is_scalar(value):
            return self._full(shape, arguments.scalar(argument, value), dtype)
        tl = cast("TritonLanguage", self)
        handle = self._converted(self._handle(argument, value), dtype)
        if handle.shape != shape and int(np.prod(handle.shape)) == int(np.prod(shape)):
            handle = self._reshaped(handle, shape)
        if handle.shape != shape and (
            len(handle.shape) > len(shape)
            or any(n not in (1, m) for n, m in zip(handle.shape[::-1], shape[::-1], strict=False))
        ):
            raise BadArgumentError(
                argument,
                f"shape {handle.shape} does not fit the pointers' {shape}; give one to each element",
            )
        found: TensorHandle = tl.broadcast_to(handle, shape)
        return found

    def _scalar(self, handle: TensorHandle) -> Any:
        """A loaded integer as the kernel calculates with it; a handle where memory holds a computed one."""
        self._wait_for(handle)
        return handle if handle._value is None else Int(handle.data.reshape(-1)[0], kind(handle.dtype))

    def _chosen(self, pointer: Any, mask: Any, checked: Sequence[int]) -> tuple[Ptr, KnownBlock | None]:
        """The addresses of an access, and which of them are let through."""
        axes = arguments.integers("boundary_check", tuple(checked))
        if isinstance(pointer, BlockPtr):
            if mask is not None:
                raise BadArgumentError("mask", "a block pointer has boundary_check=")
            n = len(pointer.block_shape)
            return pointer.elements([arguments.axis("boundary_check", axis, n) for axis in axes])
        if not isinstance(pointer, Ptr):
            raise BadArgumentError(
                "pointer", f"{shown(pointer)} is not a pointer: a tensor argument plus offsets in elements"
            )
        if axes:
            raise BadArgumentError("boundary_check", "is for block pointers; use mask=")
        tl = cast("TritonLanguage", self)
        if isinstance(mask, TensorHandle):
            mask = tl.loaded(mask, "argument 'mask': it is")
        if mask is None or isinstance(mask, KnownBlock):
            return pointer, mask
        if not isinstance(mask, bool | int):
            raise BadArgumentError("mask", f"{shown(mask)} is not a mask")
        return pointer, None if mask else KnownBlock(np.zeros(pointer.shape, bool), tl)
