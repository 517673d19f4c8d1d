"""The BAAW of one PE: the segment table that resolves logical addresses of the ``la`` model.

A segment says where a run of logical bytes lies. Unlike the record's, it holds one physical base in both
channel mappings: channels are interleaved by burst, so the physical address of a byte names its channel, and
the split into requests (:mod:`kernbench.hardware.address.requests`) needs no table of its own. So a request
for a part of a segment is exactly that part, and data lie at the same addresses in both mappings.
"""

from __future__ import annotations

from collections.abc import Sequence

from kernbench.errors import AddressError
from kernbench.hardware.address.address_map import AddressMap
from kernbench.hardware.address.extent_map import MAPPED_BITS, Extent, ExtentMap, runs
from kernbench.hardware.address.requests import PhysicalRequest


class Baaw:
    """Segments of the logical space, and what is sent for an access. Segments are removed whole."""

    def __init__(self, addresses: AddressMap) -> None:
        self._addresses = addresses
        self.base = addresses.space
        """First logical address. Lower addresses are physical: no number means both."""
        self._segments = ExtentMap(lambda pa, begin, _end: pa + begin)

    @property
    def segments(self) -> tuple[tuple[int, int, int], ...]:
        """``(start, end, pa)`` of all segments by logical address."""
        return tuple((extent.start, extent.end, extent.value) for extent in self._segments)

    def install(self, entries: Sequence[tuple[int, int, int]]) -> None:
        """Add segments ``(la, pa, nbytes)``, all or none; one that overlaps another is an error."""
        added: list[Extent] = []
        for la, pa, nbytes in sorted(entries):
            if la < self.base or nbytes <= 0:
                raise AddressError(
                    f"install: la {la:#x} + {nbytes} bytes is not a range of logical addresses, "
                    f"which begin at {self.base:#x}"
                )
            self._addresses.split(pa, nbytes)  # all of it must lead to some memory
            taken = [extent.start for extent in self._segments.overlapping(la, la + nbytes)]
            taken += [extent.start for extent in added[-1:] if extent.end > la]
            if taken:
                raise AddressError(
                    f"install: la {la:#x} + {nbytes} bytes overlaps the segment at {taken[0]:#x}; "
                    "remove that first"
                )
            added.append(Extent(la, la + nbytes, pa))
        self._segments.set_all(added)

    def remove(self, la: int, nbytes: int) -> None:
        """Remove the segments that make up ``[la, la + nbytes)``; anything else removes nothing."""
        end = la + nbytes
        found = self._segments.overlapping(la, end)
        whole = found and found[0].start == la and found[-1].end == end
        if not whole or self._segments.gaps(la, end):
            raise AddressError(
                f"remove: la {la:#x} + {nbytes} bytes is not made of whole segments; "
                "it was removed before, or never installed so"
            )
        self._segments.remove(la, end)

    def extents(self, la: int, nbytes: int) -> list[tuple[int, int]]:
        """The physical runs ``(pa, nbytes)`` behind ``[la, la + nbytes)``, in order, adjoining ones merged.

        An address below the logical space is physical already. A byte of no segment is an error.
        """
        if nbytes < 0 or la < 0:
            raise AddressError(f"address {la:#x} + {nbytes} bytes is not a range of addresses")
        end = la + nbytes
        if nbytes == 0 or end <= self.base:
            return [(la, nbytes)] if nbytes else []
        if gaps := [(la, end)] if end >> MAPPED_BITS else self._segments.gaps(la, end):
            raise AddressError(
                f"logical address {gaps[0][0]:#x} is in no segment (access of {nbytes} bytes at {la:#x}); "
                "it lies outside its tensor, or the tensor was freed"
            )
        return runs((part.value, part.end - part.start) for part in self._segments.clipped(la, end))

    def resolve(self, la: int, nbytes: int) -> list[PhysicalRequest]:
        """The requests for ``nbytes`` at ``la``: one for each memory, or for each channel of each slice."""
        requests = self._addresses.requests
        return [request for pa, length in self.extents(la, nbytes) for request in requests(pa, length)]
