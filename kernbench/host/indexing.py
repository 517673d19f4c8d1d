"""Host reads of parts of a tensor: from an index to boxes, from boxes to bytes of shards."""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Iterator
from typing import Any

from kernbench.errors import UsageError
from kernbench.host.messages import ShardRef
from kernbench.host.placement import TensorShard
from kernbench.support.dtypes import row_major
from kernbench.support.hints import shown

Box = tuple[slice, ...]
"""One slice with start and stop a dimension: a contiguous range of indices in each."""


def box_of(key: Any, shape: tuple[int, ...], what: str) -> tuple[Box, tuple[slice | int, ...]]:
    """The smallest box that holds ``tensor[key]``, and the index that picks it out of the box.

    ``key`` may hold integers, slices and one ``...``; :class:`UsageError` for others, ``IndexError`` out
    of range, as numpy has it.
    """
    keys = list(key) if isinstance(key, tuple) else [key]
    if sum(k is Ellipsis for k in keys) > 1:
        raise UsageError(f"{what}: an index can have only one '...'")
    if not any(k is Ellipsis for k in keys):
        keys.append(Ellipsis)
    at = next(i for i, k in enumerate(keys) if k is Ellipsis)
    missing = len(shape) - (len(keys) - 1)
    if missing < 0:
        raise IndexError(f"{what}: {len(keys) - 1} indices for {len(shape)} dimensions")
    keys[at : at + 1] = [slice(None)] * missing
    box: list[slice] = []
    pick: list[slice | int] = []
    for dim, (k, size) in enumerate(zip(keys, shape, strict=True)):
        if isinstance(k, slice):
            indices = range(*k.indices(size))
            low, high = (min(indices), max(indices) + 1) if indices else (0, 0)
            box.append(slice(low, high))
            pick.append(slice(None, None, k.step))
            continue
        try:
            if isinstance(k, bool):  # an int to Python, a mask to numpy
                raise TypeError
            number = operator.index(k)
        except TypeError:
            raise UsageError(
                f"{what}: index {shown(k)}; use integers, slices and '...', or numpy() first"
            ) from None
        if not -size <= number < size:
            raise IndexError(f"{what}: index {number} is out of range for dimension {dim} of size {size}")
        box.append(slice(number % size, number % size + 1))
        pick.append(0)
    return tuple(box), tuple(pick)


def intersect(shard: TensorShard, box: Box) -> Box | None:
    """The part of ``box`` that lies in ``shard``, in local indices; ``None`` when there is none."""
    local = []
    for mine, wanted in zip(shard.index, box, strict=True):
        low, high = max(mine.start, wanted.start), min(mine.stop, wanted.stop)
        if low >= high:
            return None
        local.append(slice(low - mine.start, high - mine.start))
    return tuple(local)


def runs(shape: tuple[int, ...], part: Box) -> Iterator[tuple[int, int]]:
    """``(first element, elements)`` of the contiguous row-major runs of ``part`` in a block of ``shape``."""
    inner = len(shape)
    while inner > 0 and (part[inner - 1].start, part[inner - 1].stop) == (0, shape[inner - 1]):
        inner -= 1
    # Dimensions from `inner` on are whole: with the one before them they make one run.
    whole = math.prod(shape[inner:])
    if inner == 0:
        yield 0, whole
        return
    last = part[inner - 1]
    strides = row_major(shape)
    for outer in itertools.product(*(range(s.start, s.stop) for s in part[: inner - 1])):
        base = sum(i * strides[d] for d, i in enumerate(outer))
        yield base + last.start * whole, (last.stop - last.start) * whole


def span(ref: ShardRef, shape: tuple[int, ...], part: Box, itemsize: int) -> ShardRef:
    """The bytes of a shard from the first to the last element of ``part``: the transfer of one DMA."""
    strides = row_major(shape)
    first = sum(s.start * n for s, n in zip(part, strides, strict=True)) * itemsize
    last = sum((s.stop - 1) * n for s, n in zip(part, strides, strict=True)) * itemsize
    nbytes = last - first + itemsize
    return ShardRef(ref.sip, ref.cube, ref.pe, ref.pa + first, nbytes, ref.offset_bytes + first)
