"""Allocators over the memories of a topology and over the virtual and logical space (ADR-0048 D3, D4, D7).

Each owns one memory and returns addresses that need nothing else to be used: physical ones from
:class:`PeAllocator` and :class:`SramAllocator`, virtual ones from :class:`VirtualAllocator`, logical ones
from :class:`LogicalAllocator`.
"""

from __future__ import annotations

from kernbench.address.address_map import AddressMap
from kernbench.address.free_list import FreeList
from kernbench.address.layout import ADDRESS_SPACE
from kernbench.errors import AddressError

WORD_BYTES = 16
"""Default alignment in TCM and SRAM, that of kernel scratch."""


class PeAllocator:
    """HBM slice and allocatable TCM of one PE. Slice ``n`` of a cube belongs to its PE ``n``.

    Where memory is interleaved, ``shared`` is what it shares with other PEs in place of a slice.
    ``hbm`` and ``tcm`` are the free lists (physical addresses); the allocatable TCM starts behind the
    scheduler-reserved bytes and the kernel scratch.
    """

    def __init__(
        self, addresses: AddressMap, sip: int, cube: int, pe: int, shared: FreeList | None = None
    ) -> None:
        tcm_base, tcm_bytes = addresses.allocatable_tcm(sip, cube, pe)
        where = addresses.pe_name(sip, cube, pe)
        self._burst_bytes = addresses.burst_bytes
        if shared is None:
            try:
                slice_ = addresses.hbm_window(sip, cube, pe)
            except AddressError as error:
                raise AddressError(f"{error}, or 'memory: interleaved' for PEs that share memory") from None
            shared = FreeList(slice_.nbytes, slice_.base, f"HBM slice of {where}")
        self.hbm = shared
        self.tcm = FreeList(tcm_bytes, tcm_base, f"TCM of {where}")

    def alloc_hbm(self, nbytes: int) -> int:
        """Physical address of ``nbytes`` in the slice, aligned to a burst, so none is shared."""
        return self.hbm.alloc(nbytes, self._burst_bytes)

    def free_hbm(self, pa: int, nbytes: int) -> None:
        """Give back what :meth:`alloc_hbm` returned for ``nbytes``."""
        self.hbm.free(pa, nbytes)

    def alloc_tcm(self, nbytes: int) -> int:
        """Physical address of ``nbytes`` in the TCM."""
        return self.tcm.alloc(nbytes, WORD_BYTES)

    def free_tcm(self, pa: int, nbytes: int) -> None:
        """Give back what :meth:`alloc_tcm` returned for ``nbytes``."""
        self.tcm.free(pa, nbytes)


class SramAllocator:
    """The shared SRAM of one cube; ``sram`` is its free list (physical addresses)."""

    def __init__(self, addresses: AddressMap, sip: int, cube: int) -> None:
        window = addresses.sram_window(sip, cube)
        self.sram = FreeList(window.nbytes, window.base, f"SRAM of sip{sip}.cube{cube}")

    def alloc(self, nbytes: int, align: int = WORD_BYTES) -> int:
        """Physical address of ``nbytes``."""
        return self.sram.alloc(nbytes, align)

    def free(self, pa: int, nbytes: int) -> None:
        """Give back what :meth:`alloc` returned for ``nbytes``."""
        self.sram.free(pa, nbytes)


class VirtualAllocator:
    """The virtual space that all PEs share, in whole pages.

    ``page_bytes`` is that of the PEs' page tables. The defaults put 64 GiB of virtual addresses right
    behind the 51-bit physical space, so that no number means both: the record's base of 4 GiB is also
    the TCM of PE 8 of the first cube, and a stray virtual address would read some other memory in silence.
    """

    def __init__(
        self, page_bytes: int = 4096, va_base: int = ADDRESS_SPACE, va_bytes: int = 64 << 30
    ) -> None:
        if page_bytes <= 0 or page_bytes & (page_bytes - 1):
            raise AddressError(f"page_bytes {page_bytes} must be a power of two")
        if va_base % page_bytes or va_bytes % page_bytes:
            raise AddressError(
                f"va_base {va_base:#x} and va_bytes {va_bytes:#x} must be whole pages of {page_bytes}"
            )
        self.page_bytes = page_bytes
        self.space = FreeList(va_bytes, va_base, "virtual address space")

    def alloc(self, nbytes: int) -> int:
        """Virtual address, at the start of a page, of ``nbytes`` rounded up to whole pages."""
        return self.space.alloc(self._pages(nbytes), self.page_bytes)

    def free(self, va: int, nbytes: int) -> None:
        """Give back what :meth:`alloc` returned for ``nbytes``."""
        self.space.free(va, self._pages(nbytes))

    def _pages(self, nbytes: int) -> int:
        return -(-nbytes // self.page_bytes) * self.page_bytes


class LogicalAllocator(VirtualAllocator):
    """The logical space of the ``la`` model, in whole bursts of ``burst_bytes``: segments need no pages.

    It lies where the virtual space does, for the same reason: the record's base of 4 GiB is also physical.
    All PEs share it, so that a tensor has one base; where a PE finds its bytes is in its segment table.
    """

    def __init__(self, burst_bytes: int, la_base: int = ADDRESS_SPACE) -> None:
        super().__init__(burst_bytes, la_base)
        self.space.name = "logical address space"
