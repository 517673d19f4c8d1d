"""The part of a PE's TCM that a kernel's loads and results live in."""

from __future__ import annotations

import gc
from collections.abc import Callable
from contextlib import suppress

from kernbench.errors import AllocationError
from kernbench.hardware.address.free_list import Block as Block
from kernbench.hardware.address.free_list import FreeList
from kernbench.language.arguments import NoRoomError

ALIGNMENT = 16
"""Bytes that every block starts at a multiple of."""


class Cycles:
    """Whether handles in reference cycles may hold blocks: not after a collection that did not help."""

    possible = True


class Scratch:
    """Blocks in ``[base, base + nbytes)``, each in the smallest gap that fits; ``base`` is in the TCM.

    ``cycles``: what is known of its kernel, on whichever PE.
    """

    def __init__(self, base: int, nbytes: int, cycles: Cycles) -> None:
        self.nbytes = nbytes
        self._free_list = FreeList(nbytes, base, "scratch", smallest=True)
        self.wait: Callable[[], bool] = lambda: False
        """Waits until something that holds blocks is over; False when nothing is under way that does."""
        self._cycles = cycles

    @property
    def free_bytes(self) -> int:
        """Bytes that are free, perhaps not in one piece."""
        return self._free_list.free_bytes

    def take(self, nbytes: int) -> Block:
        """A block of at least ``nbytes``; without one, an error gives the bytes wanted, free and in all."""
        if nbytes <= self.nbytes:
            size = -(-nbytes // ALIGNMENT) * ALIGNMENT
            try:
                return self._free_list.take(size, ALIGNMENT)
            except AllocationError:
                if self._cycles.possible:
                    gc.collect()
                    self._cycles.possible = self._free_list.largest_free >= size
            while self._free_list.largest_free < size and self.wait():
                pass
            if self._free_list.largest_free < size:
                gc.collect()
            with suppress(AllocationError):
                return self._free_list.take(size, ALIGNMENT)
        raise NoRoomError(
            f"scratch is full: {nbytes} bytes wanted, {self.free_bytes} of {self.nbytes} bytes free "
            f"(largest block {self._free_list.largest_free}); work on smaller blocks, let handles go, "
            "or give the PE more: pe.pe_tcm.scratch_bytes"
        )
