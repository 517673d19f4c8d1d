"""Block pointers, and from blocks in memory to runs of bytes: strides, bounds, masks."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kernbench import dtypes
from kernbench.kernels import arguments
from kernbench.kernels.arguments import BadArgumentError
from kernbench.kernels.pointer import Pointer

Mask = np.ndarray[Any, np.dtype[np.bool_]]
Ints = np.ndarray[Any, np.dtype[np.int64]]


@dataclass(frozen=True, slots=True)
class BlockPointer:
    """A block of an array in memory, made by ``tl.make_block_ptr``; all numbers count elements.

    ``shape`` and ``strides`` describe the array, ``offsets`` is the block's first element.
    """

    base: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    offsets: tuple[int, ...]
    block: tuple[int, ...]
    dtype: str

    def advanced(self, offsets: tuple[int, ...]) -> BlockPointer:
        """The block further on by ``offsets`` elements in each dimension."""
        return replace(self, offsets=tuple(a + b for a, b in zip(self.offsets, offsets, strict=True)))

    def inside(self, boundary_check: Sequence[int]) -> Mask:
        """Which elements of the block lie in the array; only dimensions that are checked may leave it."""
        inside = np.ones(self.block, bool)
        for axis, (first, extent, size) in enumerate(zip(self.offsets, self.block, self.shape, strict=True)):
            at = first + np.arange(extent)
            within = (at >= 0) & (at < size)
            if within.all():
                continue
            if axis not in boundary_check:
                raise BadArgumentError(
                    "ptr",
                    f"elements {first}..{first + extent - 1} of dimension {axis} leave its {size}; pass "
                    f"boundary_check=({axis},) or stop earlier",
                )
            inside &= within.reshape([-1 if d == axis else 1 for d in range(len(self.block))])
        return inside


@dataclass(frozen=True, slots=True)
class Access:
    """The bytes of one load or store, in the order of the block's elements.

    ``pieces`` are ``(first element of the block, count)`` of the elements that have an address, ``None`` when
    the block is one run. ``runs`` are ``(address, bytes)``; pieces that adjoin in memory share one.
    """

    shape: tuple[int, ...]
    dtype: str
    runs: tuple[tuple[int, int], ...]
    pieces: tuple[tuple[int, int], ...] | None

    @property
    def nbytes(self) -> int:
        """Bytes moved."""
        return sum(nbytes for _, nbytes in self.runs)

    @property
    def memory_shape(self) -> tuple[int, ...]:
        """Shape of the operand in memory: the block's, or the number of elements that have an address."""
        return self.shape if self.pieces is None else (sum(count for _, count in self.pieces),)


def access(
    argument: str,
    base: int,
    shape: tuple[int, ...],
    strides: tuple[int, ...] | None,
    dtype: str,
    mask: Mask | None,
    *,
    clip: bool = False,
) -> Access:
    """The access to a block of ``shape`` at ``base``; ``strides`` in elements, row-major without.

    ``mask`` lets elements through, all without. With ``clip`` elements past the end of a pointer's tensor are
    left out instead of refused: a mask that is not known yet may exclude them.
    """
    itemsize = dtypes.dtype(dtype).itemsize
    reach = base.reach // itemsize if isinstance(base, Pointer) else None
    row_major = _row_major(shape)
    if strides is None and mask is None and not (clip and reach is not None):
        arguments.fits(argument, base, math.prod(shape) * itemsize)
        return Access(shape, dtype, ((int(base), math.prod(shape) * itemsize),), None)
    at = _offsets(shape, strides or row_major)
    keep = np.ones(at.size, bool) if mask is None else np.broadcast_to(mask, shape).reshape(-1)
    if reach is not None:
        outside = keep & (at >= reach)
        if outside.any() and not clip:
            _refuse(argument, base, int(np.argmax(outside)), shape, masked=mask is not None)
        keep = keep & ~outside
    return _pieces(int(base), at, keep, shape, dtype, itemsize)


def _pieces(base: int, at: Ints, keep: Mask, shape: tuple[int, ...], dtype: str, itemsize: int) -> Access:
    """The runs of kept elements that follow each other, in the block and in memory."""
    chosen = np.flatnonzero(keep)
    if not chosen.size:
        return Access(shape, dtype, (), ())
    breaks = np.flatnonzero((np.diff(chosen) != 1) | (np.diff(at[chosen]) != 1)) + 1
    firsts = np.concatenate(([0], breaks))
    counts = np.diff(np.concatenate((firsts, [chosen.size])))
    pieces = tuple(zip(chosen[firsts].tolist(), counts.tolist(), strict=True))
    runs: list[tuple[int, int]] = []
    for first, count in zip(at[chosen[firsts]].tolist(), counts.tolist(), strict=True):
        address, nbytes = base + first * itemsize, count * itemsize
        if runs and sum(runs[-1]) == address:
            runs[-1] = (runs[-1][0], runs[-1][1] + nbytes)
        else:
            runs.append((address, nbytes))
    whole = pieces == ((0, math.prod(shape)),)
    return Access(shape, dtype, tuple(runs), None if whole else pieces)


def _offsets(shape: tuple[int, ...], strides: tuple[int, ...]) -> Ints:
    """Offset in memory of every element of the block, in elements."""
    at = np.zeros(shape, np.int64)
    for axis, (extent, stride) in enumerate(zip(shape, strides, strict=True)):
        at += (stride * np.arange(extent)).reshape([-1 if d == axis else 1 for d in range(len(shape))])
    return at.reshape(-1)


def _row_major(shape: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(math.prod(shape[axis + 1 :]) for axis in range(len(shape)))


def _refuse(argument: str, ptr: int, element: int, shape: tuple[int, ...], *, masked: bool) -> None:
    assert isinstance(ptr, Pointer)
    index = tuple(int(i) for i in np.unravel_index(element, shape))
    subject = "the mask lets element" if masked else "element"
    raise BadArgumentError(
        argument,
        f"{subject} {index} of the block {'through, which' if masked else ''} lies past the end of tensor "
        f"'{ptr.name}' of shape {ptr.shape}; mask it, or use a smaller block".replace("  ", " "),
    )
