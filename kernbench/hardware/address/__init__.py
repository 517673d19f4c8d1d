"""Addresses: the 51-bit physical layout, what lies behind it in a topology, allocation, translation."""

from __future__ import annotations

import kernbench.support.compiled  # noqa: F401  (it says which of these modules are found compiled)
from kernbench.hardware.address.address_map import AddressMap, AddressTarget
from kernbench.hardware.address.allocators import WORD_BYTES, VirtualAllocator, memory_of_pe
from kernbench.hardware.address.baaw import Baaw
from kernbench.hardware.address.extent_map import Extent, ExtentMap
from kernbench.hardware.address.free_list import FreeList
from kernbench.hardware.address.layout import (
    ADDRESS_BITS,
    ADDRESS_SPACE,
    IocpuUnit,
    Kind,
    McpuUnit,
    PeUnit,
    Unit,
    address_bits,
)
from kernbench.hardware.address.models import AddressModel, address_model
from kernbench.hardware.address.page_table import PageTable
from kernbench.hardware.address.physical import PhysAddr
from kernbench.hardware.address.requests import PhysicalRequest
from kernbench.hardware.address.windows import AddressWindow

__all__ = [
    "ADDRESS_BITS",
    "ADDRESS_SPACE",
    "WORD_BYTES",
    "AddressMap",
    "AddressModel",
    "AddressTarget",
    "AddressWindow",
    "Baaw",
    "Extent",
    "ExtentMap",
    "FreeList",
    "IocpuUnit",
    "Kind",
    "McpuUnit",
    "PageTable",
    "PeUnit",
    "PhysAddr",
    "PhysicalRequest",
    "Unit",
    "VirtualAllocator",
    "address_bits",
    "address_model",
    "memory_of_pe",
]
