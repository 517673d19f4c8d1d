"""Kernels of the parallel layers: each PE computes the columns that it holds."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence, Set
from typing import TYPE_CHECKING, Any

from kernbench.errors import KernelError
from kernbench.support import dtypes

if TYPE_CHECKING:
    from kernbench.language import Pointer

_TILE_BYTES = 128 << 10
"""Bytes of operands in scratch at a time."""


def linear(
    bases: Sequence[int] | int,
    holders: Set[tuple[int, int]],
    x: Pointer,
    weight: Pointer,
    y: Pointer,
    bias: Pointer | None,
    tl: Any,
) -> None:
    """``y = x @ weight + bias`` for the columns that this PE holds; the sum over K is in f32.

    ``x`` lies in blocks of equally many columns, each row by row: ``bases`` are their addresses, or their
    number where they lie one after another.
    """
    if (tl.device_id(1), tl.device_id(0)) not in holders:
        return
    itemsize = dtypes.dtype(x.dtype).itemsize
    batch, columns = y.local_shape
    apart = None if isinstance(bases, int) else bases
    blocks = bases if isinstance(bases, int) else len(bases)
    if batch == 1 and apart is None:
        blocks = 1  # the blocks of a single row are one row
    width = x.shape[1] // blocks
    most = _TILE_BYTES // ((batch + columns) * itemsize)
    total = None
    for first, count, k, depth in _tiles(blocks, width, most if apart is None else min(most, width)):
        # Several whole blocks, or part of one; one access, however many PEs hold the bytes.
        base = int(x) + first * batch * width * itemsize if apart is None else apart[first]
        at = base + k * itemsize
        if count > 1:
            a = tl.load(at, (count, batch, width), x.dtype)
            parts = [tl.reshape(a[i : i + 1], (batch, width)) for i in range(count)]
        else:
            parts = [tl.load(at, (batch, depth), x.dtype, strides=(width, 1))]
        for i, part in enumerate(parts):
            row = (first + i) * width + k
            b = tl.load(int(weight.local) + row * columns * itemsize, (depth, columns), weight.dtype)
            product = tl.dot(part, b, out_dtype="f32")
            total = product if total is None else total + product
    if bias is not None:
        total = total + tl.load(bias.local, (1, columns)).to("f32")
    tl.store(y.local, total)


def _tiles(blocks: int, width: int, most: int) -> Iterator[tuple[int, int, int, int]]:
    """(first block, blocks, first column within it, columns) of parts of at most ``most`` columns, or one."""
    if width >= most:
        step = max(1, most)
        for block in range(blocks):
            for k in range(0, width, step):
                yield block, 1, k, min(step, width - k)
        return
    group = most // width
    for first in range(0, blocks, group):
        yield first, min(group, blocks - first), 0, width


def embedding(
    holders: Set[tuple[int, int]], first: int, rows: int, ids: Pointer, table: Pointer, y: Pointer, tl: Any
) -> None:
    """Rows of ``table`` (from number ``first`` on, of ``rows`` in all) for ``ids``; zeros for the others'."""
    if (tl.device_id(1), tl.device_id(0)) not in holders:
        return
    own, columns = table.local_shape
    nbytes = columns * dtypes.dtype(table.dtype).itemsize
    numbers = tl.load(int(ids), (math.prod(ids.shape),), ids.dtype).data
    for i, number in enumerate(numbers.tolist()):
        if not 0 <= number < rows:
            raise KernelError(f"ids[{i}] is {number}; the table has {rows} rows")
        if first <= number < first + own:
            row = tl.load(int(table.local) + (number - first) * nbytes, (1, columns), table.dtype)
        else:
            row = tl.zeros((1, columns), table.dtype)
        tl.store(int(y.local) + i * nbytes, row)
