"""The bit tables of the 51-bit physical address: data only.

Every kind of address has a table of fields that together cover all 51 bits, most significant first.
Fields named ``mbz`` must be zero. KB, MB, GB of the record are binary here (1024-based), as its slot
sizes are powers of two.
"""

from __future__ import annotations

from enum import Enum, IntEnum
from typing import NamedTuple

ADDRESS_BITS = 51
ADDRESS_SPACE = 1 << ADDRESS_BITS
"""One past the highest physical address of a machine of at most 16 SIPs, as the record has it."""

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30

AHBM_DIES = range(16)
"""``die_id`` of the memory dies (cubes)."""
IO_DIES = range(16, 21)
"""``die_id`` of the IO chiplets; 21..31 are reserved."""
UAL_BASE = 2 * GIB
"""Offset within an IO chiplet's die where the IOCPU region ends and the UAL region begins."""


class Bits(NamedTuple):
    """The field ``[high:low]`` (both inclusive) of an address."""

    name: str
    high: int
    low: int

    @property
    def limit(self) -> int:
        """One past the largest value that the field can hold."""
        return 1 << (self.high - self.low + 1)

    def get(self, addr: int) -> int:
        """The field's value in ``addr``."""
        return (addr >> self.low) & (self.limit - 1)

    def __str__(self) -> str:
        return f"{self.name}[{self.high}:{self.low}]"


class Kind(Enum):
    """The kinds of target that an address can lead to."""

    HBM = "hbm"
    PE_LOCAL = "pe_local"
    MCPU_LOCAL = "mcpu_local"
    CUBE_SRAM = "cube_sram"
    IOCPU = "iocpu"
    UAL = "ual"


class PeUnit(IntEnum):
    """Sub-units of a PE (``pe_sub_unit``)."""

    PE_CPU_DTCM = 0
    MATH_ENGINE_DTCM = 1
    IPCQ = 2
    PE_CPU_SFR = 3
    MATH_ENGINE_SFR = 4
    DMA_ENGINE_SFR = 5
    PE_TCM = 6


class McpuUnit(IntEnum):
    """Sub-units of a cube's M_CPU (``mcpu_sub_unit``)."""

    MCPU_ITCM = 0
    MCPU_DTCM = 1
    IPCQ = 2
    MCPU_SFR = 3
    MCPU_DMA_SFR = 4
    MCPU_SRAM = 5


class IocpuUnit(IntEnum):
    """Sub-units of an IO chiplet's CPU (``iocpu_sub_unit``)."""

    IOCPU_ITCM = 0
    IOCPU_DTCM = 1
    IPCQ = 2
    IOCPU_SFR = 3
    IO_DMA_SFR = 4
    IO_SRAM = 5


Unit = PeUnit | McpuUnit | IocpuUnit

UNITS: dict[Kind, type[PeUnit] | type[McpuUnit] | type[IocpuUnit]] = {
    Kind.PE_LOCAL: PeUnit,
    Kind.MCPU_LOCAL: McpuUnit,
    Kind.IOCPU: IocpuUnit,
}
"""The kinds that have sub-units."""

# Keyed by kind first: members of different IntEnums with one value are equal and would share a key.
BUDGETS: dict[Kind, dict[int, int]] = {
    Kind.PE_LOCAL: {
        PeUnit.PE_CPU_DTCM: 8 * KIB,
        PeUnit.MATH_ENGINE_DTCM: 8 * KIB,
        PeUnit.IPCQ: 256 * KIB,
        PeUnit.PE_CPU_SFR: 16 * KIB,
        PeUnit.MATH_ENGINE_SFR: 16 * KIB,
        PeUnit.DMA_ENGINE_SFR: 192 * KIB,
        PeUnit.PE_TCM: 2 * MIB,
    },
    Kind.MCPU_LOCAL: {
        McpuUnit.MCPU_ITCM: 512 * KIB,
        McpuUnit.MCPU_DTCM: 512 * KIB,
        McpuUnit.IPCQ: 256 * KIB,
        McpuUnit.MCPU_SFR: 8 * KIB,
        McpuUnit.MCPU_DMA_SFR: 16 * KIB,
        McpuUnit.MCPU_SRAM: 10 * MIB,
    },
    Kind.IOCPU: {
        IocpuUnit.IOCPU_ITCM: 512 * KIB,
        IocpuUnit.IOCPU_DTCM: 512 * KIB,
        IocpuUnit.IPCQ: 2 * MIB,
        IocpuUnit.IOCPU_SFR: 8 * KIB,
        IocpuUnit.IO_DMA_SFR: 16 * KIB,
        IocpuUnit.IO_SRAM: 64 * MIB,
    },
}
"""Bytes implemented of each sub-unit's slot; an offset at or past it is invalid."""

SIP_ID = Bits("sip_id", 50, 47)
DIE_ID = Bits("die_id", 46, 42)
ADDR_SPACE = Bits("addr_space", 37, 37)
RESOURCE_KIND = Bits("resource_kind", 36, 34)
CHIPLET_OFFSET = Bits("chiplet_offset", 39, 0)
RESOURCE_KINDS: tuple[Kind, ...] = (Kind.PE_LOCAL, Kind.MCPU_LOCAL, Kind.CUBE_SRAM)
"""By value of ``resource_kind``; 3..7 are reserved."""

_DIE = (SIP_ID, DIE_ID)
_AHBM = (*_DIE, Bits("mbz", 41, 38), ADDR_SPACE)
_RESOURCE = (*_AHBM, RESOURCE_KIND)
_IO = (*_DIE, Bits("mbz", 41, 40))

LAYOUTS: dict[Kind, tuple[Bits, ...]] = {
    Kind.HBM: (*_AHBM, Bits("hbm_offset", 36, 0)),
    Kind.PE_LOCAL: (
        *_RESOURCE,
        Bits("mbz", 33, 33),
        Bits("pe_id", 32, 29),
        Bits("pe_sub_unit", 28, 25),
        Bits("sub_offset", 24, 0),
    ),
    Kind.MCPU_LOCAL: (
        *_RESOURCE,
        Bits("mbz", 33, 30),
        Bits("mcpu_sub_unit", 29, 25),
        Bits("sub_offset", 24, 0),
    ),
    Kind.CUBE_SRAM: (*_RESOURCE, Bits("mbz", 33, 25), Bits("sram_offset", 24, 0)),
    # Bits [39:31] are no MBZ field of the record: were one of them set, the address would be UAL.
    Kind.IOCPU: (
        *_IO,
        Bits("region", 39, 31),
        Bits("iocpu_sub_unit", 30, 27),
        Bits("sub_offset", 26, 0),
    ),
    Kind.UAL: (*_IO, CHIPLET_OFFSET),
}


def address_bits(sips: int) -> int:
    """Bits of a physical address in a machine of ``sips`` packages: 51, and more beyond 16 packages.

    The record's ``sip_id`` has four bits and is the topmost field, so that it can grow upwards and leave all
    other fields, and the addresses of the first 16 packages, where they are.
    """
    return max(ADDRESS_BITS, SIP_ID.low + (sips - 1).bit_length())
