"""The BAAW of one PE: the segment table that resolves logical addresses (ADR-0011, ``la`` model).

A segment says where a run of logical bytes lies. Unlike the record's, it holds one physical base in both
channel mappings: channels take turns by burst, so the physical address of a byte names its channel, and
the split into requests (:mod:`kernbench.address.requests`) needs no table of its own. So a request for a
part of a segment is exactly that part, and data lie at the same addresses in both mappings.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Sequence
from typing import NamedTuple

from kernbench.address.address_map import AddressMap
from kernbench.address.layout import ADDRESS_SPACE
from kernbench.address.requests import PhysicalRequest
from kernbench.errors import AddressError

LA_BASE = ADDRESS_SPACE
"""First logical address. What is below is physical: no number means both."""


class Segment(NamedTuple):
    """``nbytes`` from logical address ``la`` on are found from physical address ``pa`` on."""

    la: int
    pa: int
    nbytes: int

    @property
    def end(self) -> int:
        """One past the last logical address."""
        return self.la + self.nbytes


class Baaw:
    """Segments of the logical space, and what is sent for an access. Segments come and go whole."""

    def __init__(self, addresses: AddressMap) -> None:
        self._addresses = addresses
        self._segments: list[Segment] = []

    @property
    def segments(self) -> tuple[Segment, ...]:
        """All segments, by logical address."""
        return tuple(self._segments)

    def install(self, entries: Sequence[tuple[int, int, int]]) -> None:
        """Add segments ``(la, pa, nbytes)``, all or none; one that overlaps another is an error."""
        added: list[Segment] = []
        for segment in sorted(Segment(*entry) for entry in entries):
            if segment.la < LA_BASE or segment.nbytes <= 0:
                raise AddressError(
                    f"install: la {segment.la:#x} + {segment.nbytes} bytes is no range of logical addresses, "
                    f"which begin at {LA_BASE:#x}"
                )
            self._addresses.split(segment.pa, segment.nbytes)  # all of it must lead to some memory
            taken = self._touching(segment.la, segment.end) or [s for s in added[-1:] if s.end > segment.la]
            if taken:
                raise AddressError(
                    f"install: la {segment.la:#x} + {segment.nbytes} bytes overlaps the segment at "
                    f"{taken[0].la:#x}; remove that first"
                )
            added.append(segment)
        for segment in added:
            insort(self._segments, segment)

    def remove(self, la: int, nbytes: int) -> None:
        """Remove the segments that make up ``[la, la + nbytes)``; anything else removes nothing."""
        found = self._touching(la, la + nbytes)
        position = la
        for segment in found:
            if segment.la != position or segment.end > la + nbytes:
                break
            position = segment.end
        if position != la + nbytes or not found:
            raise AddressError(
                f"remove: la {la:#x} + {nbytes} bytes is not made of whole segments; "
                "it was removed before, or never installed so"
            )
        first = self._segments.index(found[0])
        del self._segments[first : first + len(found)]

    def extents(self, la: int, nbytes: int) -> list[tuple[int, int]]:
        """The physical runs ``(pa, nbytes)`` behind ``[la, la + nbytes)``, in order, adjoining ones merged.

        An address below the logical space is physical already. A byte of no segment is an error.
        """
        if nbytes < 0 or la < 0:
            raise AddressError(f"address {la:#x} + {nbytes} bytes is no range of addresses")
        if nbytes == 0 or la + nbytes <= LA_BASE:
            return [(la, nbytes)] if nbytes else []
        runs: list[tuple[int, int]] = []
        position, end = la, la + nbytes
        for segment in self._touching(la, end):
            if segment.la > position:
                break
            pa, length = segment.pa + position - segment.la, min(end, segment.end) - position
            if runs and sum(runs[-1]) == pa:
                runs[-1] = (runs[-1][0], runs[-1][1] + length)
            else:
                runs.append((pa, length))
            position += length
        if position < end:
            raise AddressError(
                f"logical address {position:#x} is in no segment (access of {nbytes} bytes at {la:#x}); "
                "it lies outside its tensor, or the tensor was freed"
            )
        return runs

    def resolve(self, la: int, nbytes: int) -> list[PhysicalRequest]:
        """What to send for ``nbytes`` at ``la``: one request a memory, or one a channel of each slice."""
        requests = self._addresses.requests
        return [request for pa, length in self.extents(la, nbytes) for request in requests(pa, length)]

    def _touching(self, start: int, end: int) -> list[Segment]:
        """Segments that share a byte with ``[start, end)``, by address."""
        segments = self._segments
        first = bisect_right(segments, start, key=lambda s: s.la)
        if first and segments[first - 1].end > start:
            first -= 1
        last = first
        while last < len(segments) and segments[last].la < end:
            last += 1
        return segments[first:last] if start < end else []
