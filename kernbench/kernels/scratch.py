"""The part of a PE's TCM that a kernel's loads and results live in."""

from __future__ import annotations

import gc
from typing import Protocol

from kernbench.address.free_list import FreeList
from kernbench.compiled import core
from kernbench.errors import AllocationError
from kernbench.kernels.arguments import BadArgumentError

ALIGNMENT = 16
"""Bytes that every block starts at a multiple of."""


class Block(Protocol):
    """Bytes of scratch, given back when the last handle that uses them is gone."""

    @property
    def address(self) -> int:
        """Where they begin."""


class PythonBlock:
    """A block that gives itself back in Python; the core has one that does so in C."""

    __slots__ = ("_free_list", "_size", "address")

    def __init__(self, free_list: FreeList, address: int, size: int) -> None:
        self.address = address
        self._size = size
        self._free_list = free_list

    def __del__(self) -> None:
        self._free_list.free(self.address, self._size)


class Scratch:
    """First fit in ``[base, base + nbytes)``; ``base`` is an address in the PE's TCM."""

    def __init__(self, base: int, nbytes: int) -> None:
        self.nbytes = nbytes
        self._free_list = FreeList(nbytes, base, name="scratch")

    @property
    def free_bytes(self) -> int:
        """Bytes that are free, perhaps not in one piece."""
        return self._free_list.free_bytes

    def take(self, nbytes: int) -> Block:
        """A block of at least ``nbytes``; without one, an error gives the bytes wanted, free and in all."""
        size = -(-nbytes // ALIGNMENT) * ALIGNMENT
        free_list = self._free_list
        if core is not None and 0 < size <= self.nbytes:
            block: Block | None = core.block_of(
                free_list, free_list._free, free_list._allocated, size, ALIGNMENT
            )
            if block is not None:
                return block
        try:
            return PythonBlock(free_list, free_list.alloc(size, ALIGNMENT), size)
        except AllocationError:
            gc.collect()  # handles in reference cycles
        try:
            return PythonBlock(free_list, free_list.alloc(size, ALIGNMENT), size)
        except AllocationError:
            raise BadArgumentError(
                "scratch",
                f"{nbytes} bytes wanted, {self.free_bytes} of {self.nbytes} bytes free (largest block "
                f"{self._free_list.largest_free}); work on smaller blocks or let handles go with del",
            ) from None
