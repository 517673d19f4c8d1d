"""From a block of addresses to what is moved: distinct elements, in runs of bytes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from kernbench.hardware.address.runs import Form, Runs
from kernbench.language.arguments import BadArgumentError
from kernbench.support import dtypes
from kernbench.triton.pointers import Ptr

Ints = np.ndarray[Any, np.dtype[np.int64]]
Mask = np.ndarray[Any, np.dtype[np.bool_]]


class Moved(NamedTuple):
    """What a block of addresses asks of memory.

    ``runs`` of ``(address, bytes)`` ascend and do not touch; ``elements`` are in them, each once.
    ``chosen`` are the elements of the block that the mask lets through, ``places`` where each is among those
    of the runs, ``last`` the element of the block that is written to each; all None where the block is the
    runs, element by element.
    """

    runs: Sequence[tuple[int, int]]
    elements: int
    chosen: Ints | None = None
    places: Ints | None = None
    last: Ints | None = None


class _Found(NamedTuple):
    """The same, of a form of blocks: its runs from the lowest element on."""

    form: Form
    chosen: Ints | None = None
    places: Ints | None = None
    last: Ints | None = None


def moved(ptr: Ptr, mask: Any) -> tuple[tuple[int, ...], Moved]:
    """The shape of the block at ``ptr``, and what is moved of it.

    Raises:
        BadArgumentError: An element that ``mask`` lets through is not in the tensor.
    """
    at = np.asarray(ptr.at, np.int64)
    shape, keep = at.shape, None
    if mask is not None:
        chosen = np.asarray(mask, bool)
        try:
            wanted = np.broadcast_shapes(shape, chosen.shape)
        except ValueError:
            raise BadArgumentError("mask", f"shape {chosen.shape} does not fit the block {shape}") from None
        if wanted != shape:
            shape, at = wanted, np.broadcast_to(at, wanted)
        if not chosen.all():
            keep = np.broadcast_to(chosen, shape)
    kept = at if keep is None else at[keep]
    if not kept.size:
        return shape or (1,), Moved((), 0)
    itemsize = dtypes.SIZES[ptr.base.dtype]
    low, size = int(kept.min()), ptr.base.reach // itemsize
    if low < 0 or int(kept.max()) >= size:
        _refuse(ptr, at, keep, size)
    flat = np.ascontiguousarray(at - low).tobytes()
    found = _moved(flat, None if keep is None else np.ascontiguousarray(keep).tobytes(), itemsize)
    form, first = found.form, int(ptr.base) + low * itemsize
    runs = Runs(form, first) if len(form.sizes) > 1 else ((first, form.nbytes),)
    return shape or (1,), Moved(runs, form.nbytes // itemsize, *found[1:])


def _refuse(ptr: Ptr, at: Ints, keep: Mask | None, size: int) -> None:
    outside = (at < 0) | (at >= size)
    if keep is not None:
        outside = outside & keep
    bad = int(np.argmax(outside))
    element = tuple(int(n) for n in np.unravel_index(bad, at.shape or (1,)))
    where = f"element {element} of the block is at {int(at.reshape(-1)[bad])} of tensor '{ptr.base.name}'"
    number = f"block {ptr._tl.block} of the grid"
    raise BadArgumentError(
        "pointer", f"{where}, which has {size} elements; mask it, or mend strides or grid: this is {number}"
    )


@lru_cache(maxsize=256)
def _moved(offsets: bytes, keep: bytes | None, itemsize: int) -> _Found:
    """Of offsets from the lowest one. Kernels step through an array by blocks of one form."""
    at = np.frombuffer(offsets, np.int64)
    chosen = np.arange(at.size) if keep is None else np.flatnonzero(np.frombuffer(keep, bool))
    distinct, places = np.unique(at[chosen], return_inverse=True)
    breaks = np.flatnonzero(np.diff(distinct) != 1) + 1
    firsts = np.concatenate(([0], breaks))
    counts = np.diff(np.concatenate((firsts, [distinct.size])))
    form = Form(distinct[firsts] * itemsize, counts * itemsize)
    if chosen.size == at.size == distinct.size and bool((np.diff(at) > 0).all()):
        return _Found(form)
    last = np.zeros(distinct.size, np.int64)
    last[places] = chosen  # of equal places the last one stays
    return _Found(form, chosen, places, last)
