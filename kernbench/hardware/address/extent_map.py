"""A sorted map from disjoint byte ranges to values: page tables and sparse memory are built on it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

MAPPED_BITS = 62
"""Addresses of extents are narrower than this."""


class Extent:
    """``value`` belongs to the bytes ``[start, end)``. Maps may share one: it does not change."""

    def __init__(self, start: int, end: int, value: Any) -> None:
        self.start = start
        self.end = end
        self.value = value


class ExtentMap:
    """Disjoint extents, ordered by address; looking one up is a bisection.

    Values are of one type, which whoever has the map names.

    ``cut(value, begin, end)`` gives the value of a part of an extent, ``begin`` and ``end`` in bytes from
    the extent's start: when an extent is split, each part gets its own value.
    """

    def __init__(self, cut: Callable[[Any, int, int], Any]) -> None:
        self._cut = cut
        self._extents: list[Extent] = []

    def __len__(self) -> int:
        return len(self._extents)

    def __iter__(self) -> Iterator[Extent]:
        return iter(self._extents)

    def at(self, addr: int) -> Extent | None:
        """The extent that holds ``addr``, if any."""
        index = self._first(addr)
        if index == len(self._extents):
            return None
        extent = self._extents[index]
        return extent if extent.start <= addr else None

    def overlapping(self, start: int, end: int) -> list[Extent]:
        """The extents that share a byte with ``[start, end)``, whole, by address."""
        if end <= start:
            return []
        first = self._first(start)
        return self._extents[first : self._last(first, end)]

    def clipped(self, start: int, end: int) -> list[Extent]:
        """The parts of extents that lie in ``[start, end)``, by address."""
        return [self._clip(extent, start, end) for extent in self.overlapping(start, end)]

    def gaps(self, start: int, end: int) -> list[tuple[int, int]]:
        """The ranges ``(start, end)`` of ``[start, end)`` that no extent covers, by address."""
        found = []
        position = start
        for extent in self.overlapping(start, end):
            if extent.start > position:
                found.append((position, extent.start))
            position = extent.end
        if position < end:
            found.append((position, end))
        return found

    def set(self, start: int, end: int, value: Any) -> None:
        """Give ``[start, end)`` (not empty) a value of its own, over whatever was there."""
        self.replace(start, end, [Extent(start, end, value)])

    def set_all(self, extents: Sequence[Extent]) -> None:
        """Add disjoint extents, ordered by address, where no extent is yet. Maps may share them."""
        if extents:
            begin, stop = extents[0].start, extents[len(extents) - 1].end
            if not self.overlapping(begin, stop):
                self.replace(begin, stop, extents)
                return
        for extent in extents:
            self.replace(extent.start, extent.end, [extent])

    def replace(self, start: int, end: int, new: Sequence[Extent]) -> None:
        """Put disjoint extents, ordered by address, in place of all in ``[start, end)``."""
        extents = self._extents
        first = self._first(start)
        last = self._last(first, end)
        if first < last:
            left, right = extents[first], extents[last - 1]
            if left.start < start:
                new = [self._clip(left, left.start, start), *new]
            if right.end > end:
                new = [*new, self._clip(right, end, right.end)]
        extents[first:last] = new

    def remove(self, start: int, end: int) -> None:
        """Take ``[start, end)`` out; extents that reach over an end of it keep the rest."""
        if start < end:
            self.replace(start, end, [])

    def _first(self, addr: int) -> int:
        """Index of the first extent that ends behind ``addr``."""
        extents = self._extents
        low, high = 0, len(extents)
        while low < high:
            middle = (low + high) >> 1
            extent = extents[middle]
            if extent.end > addr:
                high = middle
            else:
                low = middle + 1
        return low

    def _last(self, first: int, end: int) -> int:
        """Index of the first extent from number ``first`` on that begins at ``end`` or behind it."""
        extents = self._extents
        count = len(extents)
        while first < count:
            extent = extents[first]
            if extent.start >= end:
                break
            first += 1
        return first

    def _clip(self, extent: Extent, start: int, end: int) -> Extent:
        first, last = extent.start, extent.end
        if start <= first and last <= end:
            return extent
        begin, stop = max(start, first), min(end, last)
        return Extent(begin, stop, self._cut(extent.value, begin - first, stop - first))


def runs(pieces: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """``(start, nbytes)`` in the order given, with each that continues the one before it merged into that."""
    merged: list[tuple[int, int]] = []
    for start, nbytes in pieces:
        last = len(merged) - 1
        if merged and sum(merged[last]) == start:
            merged[last] = (merged[last][0], merged[last][1] + nbytes)
        else:
            merged.append((start, nbytes))
    return merged
