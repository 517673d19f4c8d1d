"""A sorted map from disjoint byte ranges to values: page tables and sparse memory are built on it."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Generic, NamedTuple, TypeVar

V = TypeVar("V")


class Extent(NamedTuple, Generic[V]):
    """``value`` belongs to the bytes ``[start, end)``.

    Compiled code reads fields by name: an index into a subclass of tuple takes ten times as long there.
    """

    start: int
    end: int
    value: V


class ExtentMap:
    """Disjoint extents, ordered by address; looking one up is a bisection.

    Values are of one type, which whoever has the map names.

    ``cut(value, begin, end)`` gives the value of a part of an extent, ``begin`` and ``end`` in bytes from
    the extent's start: when an extent is split, each part gets its own value.
    """

    def __init__(self, cut: Callable[[Any, int, int], Any]) -> None:
        self._cut = cut
        self._starts: list[int] = []
        self._extents: dict[int, Extent[Any]] = {}

    def __len__(self) -> int:
        return len(self._starts)

    def __iter__(self) -> Iterator[Extent[Any]]:
        return (self._extents[start] for start in self._starts)

    def at(self, addr: int) -> Extent[Any] | None:
        """The extent that holds ``addr``, if any."""
        index = bisect_right(self._starts, addr) - 1
        if index < 0:
            return None
        extent = self._extents[self._starts[index]]
        return extent if addr < extent.end else None

    def overlapping(self, start: int, end: int) -> list[Extent[Any]]:
        """The extents that share a byte with ``[start, end)``, whole, by address."""
        extent = self._extents.get(start)
        if extent is not None and start < end <= extent.end:
            return [extent]
        first, last = self._span(start, end)
        return [self._extents[s] for s in self._starts[first:last]]

    def clipped(self, start: int, end: int) -> list[Extent[Any]]:
        """The parts of extents that lie in ``[start, end)``, by address."""
        extent = self._extents.get(start)
        if extent is not None and extent.end == end:
            return [extent]
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
        extent = self._extents.get(start)
        if extent is not None and extent.end == end:  # the same bytes again: nothing moves
            self._extents[start] = Extent(start, end, value)
        else:
            self._replace(start, end, [Extent(start, end, value)])

    def set_all(self, extents: Sequence[Extent[Any]]) -> None:
        """Add disjoint extents, ordered by address, where no extent is yet. Maps may share them."""
        if extents:
            begin, stop = extents[0].start, extents[len(extents) - 1].end
            if not self.overlapping(begin, stop):
                self._replace(begin, stop, list(extents))
                return
        for start, end, value in extents:
            self.set(start, end, value)

    def replace(self, start: int, end: int, extents: Sequence[tuple[int, int, Any]]) -> None:
        """Put disjoint ``(start, end, value)``, ordered by address, in place of all in ``[start, end)``."""
        if len(extents) == 1 and extents[0][0] == start and extents[0][1] == end:
            self.set(start, end, extents[0][2])
        else:
            self._replace(start, end, [Extent(*extent) for extent in extents])

    def remove(self, start: int, end: int) -> None:
        """Take ``[start, end)`` out; extents that reach over an end of it keep the rest."""
        if start < end:
            self._replace(start, end, [])

    def _replace(self, start: int, end: int, new: list[Extent[Any]]) -> None:
        first, last = self._span(start, end)
        if first == last and not new:
            return
        starts, extents = self._starts, self._extents
        if first < last:
            left, right = extents[starts[first]], extents[starts[last - 1]]
            for old in starts[first:last]:
                del extents[old]
            if left.start < start:
                new = [self._clip(left, left.start, start), *new]
            if right.end > end:
                new = [*new, self._clip(right, end, right.end)]
        begins = [extent.start for extent in new]
        extents.update(zip(begins, new, strict=True))
        starts[first:last] = begins

    def _span(self, start: int, end: int) -> tuple[int, int]:
        """Indexes ``[first, last)`` of the extents that share a byte with ``[start, end)``."""
        starts = self._starts
        if start >= end:
            return 0, 0
        first = bisect_right(starts, start)
        if first and self._extents[starts[first - 1]].end > start:
            first -= 1
        last = first
        if last < len(starts) and starts[last] < end:
            last = bisect_right(starts, end - 1, first)
        return first, last

    def _clip(self, extent: Extent[Any], start: int, end: int) -> Extent[Any]:
        first, last, value = extent
        if start <= first and last <= end:
            return extent
        begin, stop = max(start, first), min(end, last)
        return Extent(begin, stop, self._cut(value, begin - first, stop - first))


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
