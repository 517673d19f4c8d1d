"""The page table of one PE: which virtual bytes are which physical bytes.

It is kept as sorted extents rather than one entry per page: a tensor of gigabytes is a few entries, and
a shard that ends inside a page needs no special case. Unlike the record, mappings never shadow each
other and nothing is left behind by an inexact unmap: both are errors.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from kernbench.errors import AddressError
from kernbench.hardware.address.extent_map import MAPPED_BITS, Extent, ExtentMap, runs
from kernbench.hardware.address.layout import ADDRESS_BITS


class Entries(tuple[tuple[int, int, int], ...]):
    """The ``(va, pa, nbytes)`` of a request, the same for all its PEs."""

    ordered: tuple[Extent, ...] | None = None
    """The same by address, once a page table has checked them: all tables share these."""


class PageTable:
    """Virtual to physical addresses. ``page_bytes`` is a power of two; extents may be smaller than a page.

    ``bits`` is the width of a physical address.
    """

    def __init__(self, page_bytes: int, bits: int = ADDRESS_BITS) -> None:
        if page_bytes <= 0 or page_bytes & (page_bytes - 1):
            raise AddressError(f"page_bytes {page_bytes} must be a power of two")
        self.page_bytes = page_bytes
        self._bits = bits
        self._extents = ExtentMap(lambda pa, begin, _end: pa + begin)

    @property
    def mappings(self) -> tuple[tuple[int, int, int], ...]:
        """``(start, end, pa)`` of all mappings by virtual address."""
        return tuple((extent.start, extent.end, extent.value) for extent in self._extents)

    def map(self, va: int, pa: int, nbytes: int) -> None:
        """Map ``[va, va + nbytes)`` to ``[pa, pa + nbytes)``; bytes mapped already are an error."""
        _check_range("va", va, nbytes)
        _check_physical(pa, nbytes, self._bits)
        self._check_free(va, nbytes)
        self._extents.set(va, va + nbytes, pa)

    def map_all(self, entries: Sequence[tuple[int, int, int]]) -> None:
        """Map ``(va, pa, nbytes)`` entries, all or none; what :meth:`map` refuses is refused here.

        A tensor's shards come as hundreds of adjoining entries: into an untouched range they go at once.
        """
        given = entries if isinstance(entries, Entries) else Entries(entries)
        if given.ordered is None:
            given.ordered = _ordered(given, self._bits)
        extents = given.ordered
        if extents and self._extents.overlapping(extents[0].start, extents[len(extents) - 1].end):
            for extent in extents:
                self._check_free(extent.start, extent.end - extent.start)
        self._extents.set_all(extents)

    def unmap(self, va: int, nbytes: int) -> None:
        """Unmap ``[va, va + nbytes)``: one mapping, part of one, or several that adjoin.

        A byte that is not mapped is an error, and then nothing is unmapped.
        """
        _check_range("va", va, nbytes)
        gaps = self._extents.gaps(va, va + nbytes)
        if gaps:
            raise AddressError(
                f"unmap: va {gaps[0][0]:#x} + {gaps[0][1] - gaps[0][0]} bytes is not mapped; "
                "it was unmapped before or never mapped"
            )
        self._extents.remove(va, va + nbytes)

    def extents(self, va: int, nbytes: int) -> list[tuple[int, int]]:
        """The physical runs ``(pa, nbytes)`` behind ``[va, va + nbytes)``, in order, adjoining ones merged.

        Bytes that are not mapped stand for themselves: their address is taken as physical;
        :class:`AddressError` when it cannot be one. No bytes give no runs.
        """
        if nbytes == 0:
            return []
        _check_range("address", va, nbytes)
        if (va + nbytes) >> MAPPED_BITS:
            return [self._identity(va, va + nbytes)]
        extent = self._extents.at(va)
        if extent is not None and va + nbytes <= extent.end:
            return [(extent.value + va - extent.start, nbytes)]
        return runs(self._pieces(va, va + nbytes))

    def _pieces(self, position: int, end: int) -> Iterator[tuple[int, int]]:
        for extent in self._extents.clipped(position, end):
            if extent.start > position:
                yield self._identity(position, extent.start)
            yield extent.value, extent.end - extent.start
            position = extent.end
        if position < end:
            yield self._identity(position, end)

    def _identity(self, start: int, end: int) -> tuple[int, int]:
        """An unmapped range, which must be physical."""
        if end > 1 << self._bits:
            raise AddressError(
                f"address {start:#x} + {end - start} bytes is neither in a tensor nor physical "
                f"({self._bits} bits)"
            )
        return start, end - start

    def _check_free(self, va: int, nbytes: int) -> None:
        taken = self._extents.overlapping(va, va + nbytes)
        if taken:
            raise AddressError(
                f"map: va {va:#x} + {nbytes} bytes overlaps the mapping at {taken[0].start:#x}; unmap it"
            )


def _ordered(entries: Entries, bits: int) -> tuple[Extent, ...]:
    """``(va, pa, nbytes)`` entries as extents by address."""
    ordered = sorted(entries)
    for va, pa, nbytes in ordered:
        _check_range("va", va, nbytes)
        _check_physical(pa, nbytes, bits)
    for (va, _, nbytes), (after, _, _) in pairwise(ordered):
        if va + nbytes > after:
            raise AddressError(
                f"map: va {after:#x} overlaps the entry at {va:#x} of the same request; map it once"
            )
    return tuple(Extent(va, va + nbytes, pa) for va, pa, nbytes in ordered)


def _check_range(field: str, start: int, nbytes: int) -> None:
    if start < 0 or nbytes <= 0:
        raise AddressError(f"{field} {start:#x} + {nbytes} bytes is not a range of addresses")


def _check_physical(pa: int, nbytes: int, bits: int) -> None:
    if not 0 <= pa <= (1 << bits) - nbytes:
        raise AddressError(f"map: pa {pa:#x} + {nbytes} bytes does not fit {bits} bits")
