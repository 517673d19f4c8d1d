"""Block pointers, and from blocks in memory to runs of bytes: strides, bounds, masks."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from kernbench.engine.program.operations import Operand
from kernbench.language import arguments
from kernbench.language.arguments import BadArgumentError
from kernbench.language.pointer import Address
from kernbench.support import dtypes

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
        first = tuple([a + b for a, b in zip(self.offsets, offsets, strict=True)])
        return BlockPointer(self.base, self.shape, self.strides, first, self.block, self.dtype)

    def inside(self, boundary_check: Sequence[int]) -> Mask | None:
        """Which elements of the block lie in the array, ``None`` where all do.

        Only dimensions that are checked may leave it.
        """
        for first, extent, size in zip(self.offsets, self.block, self.shape, strict=True):
            if first < 0 or first + extent > size:
                break
        else:
            return None
        inside: Mask | None = None
        for axis, (first, extent, size) in enumerate(zip(self.offsets, self.block, self.shape, strict=True)):
            if first >= 0 and first + extent <= size:
                continue
            if axis not in boundary_check:
                raise BadArgumentError(
                    "ptr",
                    f"elements {first}..{first + extent - 1} of dimension {axis} leave its {size}; pass "
                    f"boundary_check=({axis},) or stop earlier",
                )
            at = first + np.arange(extent)
            within = (at >= 0) & (at < size)
            if inside is None:
                inside = np.ones(self.block, bool)
            inside &= within.reshape([-1 if d == axis else 1 for d in range(len(self.block))])
        return inside


class BlockBytes(NamedTuple):
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
        runs = self.runs
        return runs[0][1] if len(runs) == 1 else sum([nbytes for _, nbytes in runs])

    def operand(self) -> Operand:
        """What is in memory: of the block's shape, or the elements that have an address."""
        shape, dtype, runs, pieces = self
        if pieces is not None:
            shape = (sum([count for _, count in pieces]),)
        return Operand(shape, dtype, None, runs[0][0] if runs else None)


def access(
    argument: str,
    base: int,
    shape: tuple[int, ...],
    strides: tuple[int, ...] | None,
    dtype: str,
    mask: Mask | None,
    *,
    clip: bool = False,
    shift: int = 0,
) -> BlockBytes:
    """The access to a block of ``shape``, ``shift`` bytes on from ``base``; ``strides`` in elements.

    Without strides it is row-major, and nothing is shifted.
    ``mask`` lets elements through, all without. With ``clip`` elements outside of a pointer's tensor are
    left out instead of refused: a mask that is not known yet may exclude them.
    """
    itemsize = dtypes.SIZES.get(dtype, 0)
    if itemsize and mask is None and strides is None and not clip:  # the usual access
        nbytes = math.prod(shape) * itemsize
        arguments.fits(argument, base, nbytes)
        return BlockBytes(shape, dtype, ((int(base), nbytes),), None)
    if dtype in dtypes.PACKED:
        elements, size = dtypes.PACKED[dtype].packed
        dtypes.nbytes(shape, dtype)
        *steps, last = strides or dtypes.row_major(shape)
        if mask is not None or clip or last != 1 or any(step % elements for step in steps):
            raise BadArgumentError(
                argument, f"blocks of {dtype} take no mask, and rows of whole {elements} elements"
            )
        groups, pitches = (*shape[:-1], shape[-1] // elements), (*(step // elements for step in steps), 1)
        extent, runs, _ = _whole(groups, pitches, size)
        arguments.fits(argument, base, shift + extent * size)
        return BlockBytes(shape, dtype, tuple([(int(base) + shift + at, n) for at, n in runs]), None)
    ptr = base if isinstance(base, Address) else None
    tensor = None if ptr is None else ptr.tensor
    start = 0 if tensor is None else int(base) + shift - int(tensor)
    if mask is None:
        extent, runs, pieces = _whole(shape, strides or dtypes.row_major(shape), itemsize)
        if tensor is None or 0 <= start <= tensor.reach - extent * itemsize:
            first = int(base) + shift
            return BlockBytes(shape, dtype, tuple([(first + offset, size) for offset, size in runs]), pieces)
    at = _offsets(shape, strides or dtypes.row_major(shape))
    keep = np.ones(at.size, bool) if mask is None else np.broadcast_to(mask, shape).reshape(-1)
    if ptr is not None and tensor is not None:
        begins = start + at * itemsize
        outside = keep & ((begins < 0) | (begins + itemsize > tensor.reach))
        if outside.any() and not clip:
            index = tuple(int(i) for i in np.unravel_index(int(np.argmax(outside)), shape))
            chosen = "" if mask is None else ", which the mask lets through,"
            what = f"elements of the block from {index} on{chosen}"
            end = int(begins[keep].max()) + itemsize
            arguments.stays(argument, ptr, int(begins[keep].min()), end, what)
        keep = keep & ~outside
    return _pieces(int(base) + shift, at, keep, shape, dtype, itemsize)


@lru_cache(maxsize=256)
def _whole(
    shape: tuple[int, ...], strides: tuple[int, ...], itemsize: int
) -> tuple[int, tuple[tuple[int, int], ...], tuple[tuple[int, int], ...] | None]:
    """Of a block with no element left out: how many elements on it ends, its runs as if it began at
    address 0, its pieces. Kernels step through an array by blocks of one form.
    """
    at = _offsets(shape, strides)
    found = _pieces(0, at, np.ones(at.size, bool), shape, "", itemsize)
    return int(at.max()) + 1, found.runs, found.pieces


def _pieces(base: int, at: Ints, keep: Mask, shape: tuple[int, ...], dtype: str, itemsize: int) -> BlockBytes:
    """The runs of kept elements that follow each other, in the block and in memory."""
    chosen = np.flatnonzero(keep)
    if not chosen.size:
        return BlockBytes(shape, dtype, (), ())
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
    return BlockBytes(shape, dtype, tuple(runs), None if whole else pieces)


def _offsets(shape: tuple[int, ...], strides: tuple[int, ...]) -> Ints:
    """Offset in memory of every element of the block, in elements."""
    at = np.zeros(shape, np.int64)
    for axis, (extent, stride) in enumerate(zip(shape, strides, strict=True)):
        at += (stride * np.arange(extent)).reshape([-1 if d == axis else 1 for d in range(len(shape))])
    return at.reshape(-1)
