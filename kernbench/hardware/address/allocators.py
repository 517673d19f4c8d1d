"""Allocators of tensor memory and of the virtual and logical address spaces.

An address is usable as it is: :func:`memory_of_pe` allocates physical ones, :class:`VirtualAllocator` virtual
and logical ones.
"""

from __future__ import annotations

from kernbench.errors import AddressError
from kernbench.hardware.address.address_map import AddressMap
from kernbench.hardware.address.free_list import FreeList
from kernbench.hardware.address.layout import ADDRESS_SPACE

WORD_BYTES = 16
"""Alignment in TCM and SRAM, that of kernel scratch."""


def memory_of_pe(addresses: AddressMap, memory: str, place: tuple[int, int, int]) -> FreeList:
    """The free list of physical addresses for tensors of the PE ``place`` (sip, cube, pe).

    ``hbm`` is its slice: slice ``n`` of a cube belongs to its PE ``n``. ``tcm`` is what lies behind the bytes
    reserved for the scheduler and the kernel scratch, ``sram`` the memory of its cube.
    """
    sip, cube, _ = place
    if memory == "sram":
        window = addresses.sram_window(sip, cube)
        return FreeList(window.nbytes, window.base, f"SRAM of sip{sip}.cube{cube}")
    where = addresses.pe_name(*place)
    if memory == "tcm":
        base, nbytes = addresses.allocatable_tcm(*place)
        return FreeList(nbytes, base, f"TCM of {where}")
    try:
        window = addresses.hbm_window(*place)
    except AddressError as error:
        raise AddressError(f"{error}, or 'memory: interleaved' for PEs that share memory") from None
    return FreeList(window.nbytes, window.base, f"HBM slice of {where}")


class VirtualAllocator:
    """The virtual space that all PEs share, in whole pages; of the ``la`` model the logical one, in bursts.

    ``page_bytes`` is that of the PEs' page tables; segments need no pages, so there it is that of a burst.
    The defaults put 64 GiB of virtual addresses right behind the 51-bit physical space, so that no number
    means both: the record's base of 4 GiB is also the TCM of PE 8 of the first cube, and a stray virtual
    address would read some other memory in silence.
    """

    def __init__(
        self,
        page_bytes: int = 4096,
        va_base: int = ADDRESS_SPACE,
        va_bytes: int = 64 << 30,
        name: str = "virtual address space",
    ) -> None:
        if page_bytes <= 0 or page_bytes & (page_bytes - 1):
            raise AddressError(f"page_bytes {page_bytes} must be a power of two")
        if va_base % page_bytes or va_bytes % page_bytes:
            raise AddressError(
                f"va_base {va_base:#x} and va_bytes {va_bytes:#x} must be whole pages of {page_bytes}"
            )
        self.page_bytes = page_bytes
        self.space = FreeList(va_bytes, va_base, name)

    def alloc(self, nbytes: int) -> int:
        """Virtual address, at the start of a page, of ``nbytes`` rounded up to whole pages."""
        return self.space.alloc(self._pages(nbytes), self.page_bytes)

    def free(self, va: int, nbytes: int) -> None:
        """Give back what :meth:`alloc` returned for ``nbytes``."""
        self.space.free(va, self._pages(nbytes))

    def _pages(self, nbytes: int) -> int:
        return -(-nbytes // self.page_bytes) * self.page_bytes
