"""The contents of all memories of the machine, byte-addressable and sparse.

Arrays in the store never change: a write puts a new array over a range and the extents that it covers
in part keep views of their old arrays. Whatever was read earlier therefore stays as it was read (copy
on write), and reading what one write wrote, or any part of it, is a view of that array without a copy.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from kernbench.engine.program.operations import Region
from kernbench.errors import AddressError, VerificationError
from kernbench.hardware.address import ADDRESS_BITS, ExtentMap
from kernbench.hardware.address.runs import Runs
from kernbench.values.tensor_names import TensorNames

Array = npt.NDArray[Any]
Bytes = npt.NDArray[np.uint8]


class SimulatedMemory:
    """Bytes of the physical space, little-endian and row-major as numpy has them.

    ``strict`` (verification): reading a byte that was never written is a :class:`VerificationError` that
    names the tensor; otherwise such bytes read as zero. ``names`` knows the tensors. ``address_bits`` is
    the width of a physical address.
    """

    def __init__(
        self, *, strict: bool = False, names: TensorNames | None = None, address_bits: int = ADDRESS_BITS
    ) -> None:
        self.strict = strict
        self._address_bits = address_bits
        self._space = 1 << address_bits
        self._names = names or TensorNames()
        self._bytes = ExtentMap(lambda data, begin, end: data[begin:end])
        self._pending = ExtentMap(lambda op_id, _begin, _end: op_id)

    def write(self, addr: int, array: Array, *, owned: bool = False) -> None:
        """Put the bytes of ``array`` (row-major) at ``addr``; the range is no longer pending.

        A read-only array (with read-only bases) is kept as it is, and so is one that is ``owned``: the
        caller promises not to change it any more. Any other is copied.
        """
        self._put(addr, _frozen_bytes(array, owned))

    def read(self, addr: int, shape: Sequence[int], dtype: npt.DTypeLike) -> Array:
        """The array of ``shape`` and ``dtype`` at ``addr``, read-only."""
        wanted = np.dtype(dtype)
        return _as_array(self._get(addr, math.prod(shape) * wanted.itemsize), shape, wanted)

    def scatter(self, regions: Iterable[Region], array: Array, *, owned: bool = False) -> None:
        """Write ``array`` (row-major) over ``regions`` in turn; their bytes must add up to the array's."""
        regions = self._join(regions, array.nbytes)
        data = _frozen_bytes(array, owned)
        position = 0
        for addr, nbytes in regions:
            self._put(addr, data[position : position + nbytes])
            position += nbytes

    def scatter_where(self, regions: Iterable[Region], array: Array, mask: Array) -> None:
        """As :meth:`scatter`, but only the elements for which ``mask`` (bool, of equal size) is true."""
        values, let_through = array.reshape(-1), mask.reshape(-1)
        position = 0
        for addr, nbytes in self._join(regions, values.nbytes):
            count = nbytes // values.itemsize
            edges = np.flatnonzero(
                np.diff(let_through[position : position + count], prepend=False, append=False)
            )
            for first, end in edges.reshape(-1, 2).tolist():
                self.write(addr + first * values.itemsize, values[position + first : position + end])
            position += count

    def copy_written(self, source: SimulatedMemory, region: Region) -> None:
        """Take over the bytes of ``region`` that ``source`` holds; none of it is pending any more."""
        start, end = self._range(*region)
        for extent in source._bytes.clipped(start, end):
            self._put(extent.start, extent.value)
        self._pending.remove(start, end)

    def gather(self, regions: Iterable[Region], shape: Sequence[int], dtype: npt.DTypeLike) -> Array:
        """The array, read-only, whose bytes (row-major) are those of ``regions`` in turn."""
        return self.sampled(regions, shape, dtype)()

    def sampled(
        self, regions: Iterable[Region], shape: Sequence[int], dtype: npt.DTypeLike
    ) -> Callable[[], Array]:
        """What :meth:`gather` would give now, made when called."""
        wanted = np.dtype(dtype)
        if isinstance(regions, Runs):
            start, end = regions.span
            extent = self._bytes.at(start)
            if regions.form.step and extent is not None and end <= extent.end:
                return partial(_of_rows, extent.value[start - extent.start :], regions, shape, wanted)
        regions = self._join(regions, math.prod(shape) * wanted.itemsize)
        return partial(_of_parts, [self._get(addr, nbytes) for addr, nbytes in regions], shape, wanted)

    def forget(self, region: Region) -> None:
        """Make ``region`` unwritten again (its memory was freed): neither bytes nor pending writers."""
        start, end = self._range(*region)
        self._bytes.remove(start, end)
        self._pending.remove(start, end)

    def mark_pending(self, region: Region, op_id: int) -> None:
        """Operation ``op_id`` wrote ``region`` in simulated time, with values that are not computed yet.

        Takes the place of earlier marks. Bytes stay what they were until they are written, so that an
        operation before ``op_id`` can still be replayed on them.
        """
        start, end = self._range(*region)
        if start < end:
            self._pending.set(start, end, op_id)

    def pending(self, region: Region) -> int | None:
        """The operation (the one of highest id) that a byte of ``region`` waits for, if any."""
        found = self._pending.overlapping(*self._range(*region))
        return max(extent.value for extent in found) if found else None

    def waits(self, regions: Sequence[Region]) -> bool:
        """Whether any of ``regions`` is pending."""
        if isinstance(regions, Runs) and not self._pending.overlapping(*regions.span):
            return False
        return any(self.pending(region) is not None for region in regions)

    def _put(self, addr: int, data: Bytes) -> None:
        start, end = self._range(addr, data.size)
        if start < end:
            self._bytes.set(start, end, data)
            self._pending.remove(start, end)

    def _get(self, addr: int, nbytes: int) -> Bytes:
        """The bytes of a range, read-only: a view where one extent holds them all, else a copy."""
        start, end = self._range(addr, nbytes)
        parts = self._bytes.overlapping(start, end)
        if len(parts) == 1:
            data: Bytes
            first, last, data = parts[0].start, parts[0].end, parts[0].value
            if first <= start and end <= last:
                return data if nbytes == last - first else data[start - first : end - first]
        gaps = self._bytes.gaps(start, end)
        if gaps and self.strict:
            raise self._unwritten_error(start, end, *gaps[0])
        data = np.zeros(nbytes, np.uint8) if gaps else np.empty(nbytes, np.uint8)
        for part in self._bytes.clipped(start, end):
            data[part.start - start : part.end - start] = part.value
        data.flags.writeable = False
        if parts and not gaps and parts[0].start == start and parts[-1].end == end:
            # The pieces of one tensor are kept as one array from now on: the next read is a view.
            self._bytes.set(start, end, data)
        return data

    def _unwritten_error(self, start: int, end: int, gap_start: int, gap_end: int) -> VerificationError:
        op_id = self.pending(Region(gap_start, gap_end - gap_start))
        cause = "write it first" if op_id is None else f"they wait for op {op_id}, which is not replayed yet"
        missing = self._names.describe([Region(gap_start, gap_end - gap_start)])
        whole = self._names.describe([Region(start, end - start)])
        unwritten = "it was" if whole == missing else f"{missing} was"
        return VerificationError(f"read of {whole}: {unwritten} never written; {cause}")

    def _range(self, addr: int, nbytes: int) -> tuple[int, int]:
        if addr < 0 or nbytes < 0 or addr + nbytes > self._space:
            raise AddressError(
                f"memory range {addr:#x} + {nbytes} bytes is outside the "
                f"{self._address_bits}-bit physical space"
            )
        return addr, addr + nbytes

    def _join(self, regions: Iterable[Region], nbytes: int) -> Sequence[Region]:
        """``regions``, checked, with those that adjoin made one."""
        regions = tuple(regions)
        if len(regions) == 1 and regions[0][1] == nbytes:
            self._range(*regions[0])
            return regions
        joined: list[Region] = []
        for addr, size in regions:
            self._range(addr, size)
            if joined and sum(joined[-1]) == addr:
                joined[-1] = Region(joined[-1].addr, joined[-1].nbytes + size)
            else:
                joined.append(Region(addr, size))
        total = sum(region.nbytes for region in joined)
        if total != nbytes:
            raise AddressError(f"regions hold {total} bytes, the array has {nbytes}; they must be equal")
        return joined


def _of_parts(parts: list[Bytes], shape: Sequence[int], dtype: np.dtype[Any]) -> Array:
    """The array that these bytes hold."""
    if len(parts) == 1:
        return _as_array(parts[0], shape, dtype)
    joined = np.concatenate(parts) if parts else np.empty(0, np.uint8)
    joined.flags.writeable = False
    return _as_array(joined, shape, dtype)


def _of_rows(data: Bytes, runs: Runs, shape: Sequence[int], dtype: np.dtype[Any]) -> Array:
    """The array in ``runs`` as far apart as each other, the first at the beginning of ``data``."""
    rows = np.lib.stride_tricks.as_strided(data, (len(runs), int(runs.form.sizes[0])), (runs.form.step, 1))
    found = rows.reshape(-1)
    found.flags.writeable = False
    return _as_array(found, shape, dtype)


def _frozen_bytes(array: Array, owned: bool) -> Bytes:
    """The bytes of ``array`` as a read-only vector; no one else holds a writable view of it."""
    if not (array.flags.c_contiguous and (owned or _is_frozen(array))):
        array = array.copy(order="C")
    data = array.reshape(-1).view(np.uint8)
    data.flags.writeable = False
    return data


def _is_frozen(array: Array) -> bool:
    base: object = array
    while isinstance(base, np.ndarray):
        if base.flags.writeable:
            return False
        base = base.base
    return base is None or isinstance(base, bytes)


def _as_array(data: Bytes, shape: Sequence[int], dtype: np.dtype[Any]) -> Array:
    array: Array = data.view(dtype)
    if not array.flags.aligned:  # at an odd address: numpy computes on aligned copies only
        array = array.copy()
        array.flags.writeable = False
    return array.reshape(tuple(shape))
