"""Pointers of Triton kernels: a tensor argument and offsets in elements, and block pointers made of these."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from kernbench.errors import KernelError
from kernbench.language.arguments import BadArgumentError
from kernbench.language.handles import TensorHandle
from kernbench.language.pointer import Pointer
from kernbench.support import dtypes
from kernbench.triton.values import Int, KnownBlock, PointerTo, data_of, dtype
from kernbench.triton.values import dtype as kind


class Ptr:
    """An address, or a block of them: a tensor argument and offsets in elements."""

    __array_ufunc__ = None

    def __init__(self, base: Pointer, at: Any, tl: Any) -> None:  # ``tl`` is the kernel's language
        self.base = base
        self.at = at
        self._tl = tl

    @property
    def dtype(self) -> dtype:
        """The type of its elements, as ``element_ty`` of it is."""
        return dtype(self.base.dtype)

    type = dtype

    @property
    def shape(self) -> tuple[int, ...]:
        """The extents of the block of addresses."""
        return np.shape(self.at)

    def _moved(self, by: Any, sign: int) -> Any:
        if isinstance(by, TensorHandle):
            by = self._tl.loaded(by, f"pointer '{self.base.name}' +")
        offset = data_of(by)
        if offset is None:
            if isinstance(by, float):
                raise KernelError(f"pointer '{self.base.name}': {by!r} is not a number of elements")
            return NotImplemented
        if isinstance(offset, np.ndarray):
            offset = offset.astype(np.int64)
        return Ptr(self.base, self.at + offset if sign > 0 else self.at - offset, self._tl)

    def to(self, dtype: Any, bitcast: bool = False) -> Any:
        """The same addresses as pointers to elements of another type; as ``tl.int64`` the addresses."""
        base, name = self.base, str(kind(dtype))
        if name == base.dtype:
            return self
        at = np.asarray(self.at, np.int64) * dtypes.SIZES[base.dtype]
        if not isinstance(dtype, PointerTo):
            if name not in ("i64", "u64"):
                raise KernelError(
                    f"{self!r} is not a value: load and cast it, or cast the pointer: tl.pointer_type(...)"
                )
            known = KnownBlock((at + int(base)).astype(dtypes.dtype(name).numpy), self._tl)
            return known if at.ndim else Int(int(base) + int(at), kind(name))
        size = dtypes.SIZES[name]
        if np.any(at % size):
            raise KernelError(
                f"{self!r} is not at a multiple of {size} bytes, where elements of {name} begin"
            )
        there = Pointer(int(base), base.name, base.shape, name, reach=base.reach)
        return Ptr(there, at // size if at.ndim else int(at) // size, self._tl)

    def __add__(self, by: Any) -> Any:
        return self._moved(by, 1)

    __radd__ = __add__

    def __sub__(self, by: Any) -> Any:
        return self._moved(by, -1)

    def __getitem__(self, key: Any) -> Ptr:
        keys = key if isinstance(key, tuple) else (key,)
        if any(data_of(one) is not None or isinstance(one, TensorHandle) for one in keys):
            raise KernelError(f"pointer '{self.base.name}' is not indexed: tl.load(pointer + offsets)")
        return Ptr(self.base, np.asarray(self.at)[key], self._tl)

    def __getattr__(self, name: str) -> Any:
        return self._tl._method(self, name)

    def __repr__(self) -> str:
        return f"<pointer '{self.base.name}' {self.shape}>"


class BlockPtr:
    """A block of an array, made by ``make_block_ptr`` or a tensor descriptor; all numbers count elements."""

    def __init__(
        self,
        base: Ptr,
        shape: Iterable[Any],
        strides: Iterable[Any],
        offsets: Iterable[Any],
        block: Iterable[Any],
    ) -> None:
        self.base = base
        self.extents, self.strides, self.offsets, self.block_shape = (
            tuple(int(n) for n in numbers) for numbers in (shape, strides, offsets, block)
        )
        if len({len(self.extents), len(self.strides), len(self.offsets), len(self.block_shape)}) > 1:
            raise BadArgumentError("shape", "shape, strides, offsets and block_shape differ in length")

    @property
    def dtype(self) -> dtype:
        """The type of its elements, as ``element_ty`` of it is."""
        return self.base.dtype

    type = dtype

    @property
    def shape(self) -> tuple[int, ...]:
        """The extents of the block."""
        return self.block_shape

    def advanced(self, offsets: Sequence[Any]) -> BlockPtr:
        """The block further on by ``offsets`` elements in each dimension."""
        if len(offsets) != len(self.offsets):
            raise BadArgumentError("offsets", f"{tuple(offsets)} must have {len(self.offsets)} entries")
        return self.at([a + int(b) for a, b in zip(self.offsets, offsets, strict=True)])

    def at(self, offsets: Sequence[Any]) -> BlockPtr:
        """The block that begins at ``offsets``."""
        return BlockPtr(self.base, self.extents, self.strides, offsets, self.block_shape)

    def elements(self, checked: Sequence[int]) -> tuple[Ptr, KnownBlock | None]:
        """Its addresses, and which of them lie within the array along the axes ``checked``."""
        n = len(self.block_shape)
        at: Any = 0
        inside: Any = True
        for axis, (first, count, size) in enumerate(
            zip(self.offsets, self.block_shape, self.extents, strict=True)
        ):
            index = (first + np.arange(count)).reshape([-1 if d == axis else 1 for d in range(n)])
            at = at + index * self.strides[axis]
            if axis in checked:
                inside = inside & (index >= 0) & (index < size)
        tl = self.base._tl
        mask = None if inside is True else KnownBlock(np.broadcast_to(inside, self.block_shape), tl)
        return self.base + KnownBlock(at, tl), mask

    def load(self, offsets: Sequence[Any]) -> Any:
        """The block at ``offsets``; elements outside of the array are 0."""
        return self.base._tl.load(self.at(offsets), boundary_check=range(len(self.block_shape)))

    def store(self, offsets: Sequence[Any], value: Any) -> None:
        """Write the block at ``offsets``; elements outside of the array are not written."""
        self.base._tl.store(self.at(offsets), value, boundary_check=range(len(self.block_shape)))

    def __repr__(self) -> str:
        return f"<block {self.block_shape} at {self.offsets} of '{self.base.base.name}'>"
