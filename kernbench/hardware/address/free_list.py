"""Allocation over a list of free blocks sorted by offset: first fit, or smallest fit.

Unlike the record, the list also knows what is allocated, so that a wrong ``free`` is an error at once
instead of two tensors that share bytes later.
"""

from __future__ import annotations

from kernbench.errors import AddressError, AllocationError

_MOST = 1 << 62


class Block:
    """Bytes of a list, given back when nothing refers to the block any more."""

    def __init__(self, owner: FreeList, address: int, nbytes: int) -> None:
        self.owner = owner
        self.address = address
        """Where they begin."""
        self.nbytes = nbytes

    def __del__(self) -> None:
        self.owner.give_back(self.address, self.nbytes)


class FreeList:
    """Blocks of the byte range ``[base, base + capacity)``. ``name`` says in errors what is allocated.

    Bytes are taken of the first block that can hold them; with ``smallest`` of the smallest one, so that
    small values do not break up large blocks.
    """

    def __init__(self, capacity: int, base: int = 0, name: str = "memory", smallest: bool = False) -> None:
        if capacity < 0 or base < 0:
            raise AddressError(f"{name}: capacity {capacity} and base {base} must not be negative")
        self.name = name
        self.base = base
        self.capacity = capacity
        self._smallest = smallest
        self._free: list[tuple[int, int]] = [(base, capacity)] if capacity else []
        self._allocated: dict[int, int] = {}

    @property
    def blocks(self) -> tuple[tuple[int, int], ...]:
        """The free blocks, ``(offset, nbytes)`` by offset; no two of them touch."""
        return tuple(self._free)

    @property
    def free_bytes(self) -> int:
        """Bytes that are free in total."""
        return sum(nbytes for _, nbytes in self._free)

    @property
    def largest_free(self) -> int:
        """Bytes of the largest free block."""
        return max((nbytes for _, nbytes in self._free), default=0)

    def alloc(self, nbytes: int, align: int = 1) -> int:
        """Offset of ``nbytes`` (> 0) taken from a block that can hold them.

        The offset is a multiple of ``align`` (> 0); bytes skipped for it stay free.
        :class:`AllocationError` when no block is large enough.
        """
        if nbytes <= 0 or align <= 0:
            raise AddressError(f"{self.name}: nbytes {nbytes} and align {align} must be positive")
        if nbytes <= self.capacity and align <= _MOST:
            offset = self.fit(nbytes, align)
            if offset >= 0:
                self._allocated[offset] = nbytes
                return offset
        raise AllocationError(
            f"{self.name} is full: {nbytes} bytes wanted (aligned to {align}), the largest free block is "
            f"{self.largest_free} of {self.free_bytes} bytes free; free something or use smaller shards"
        )

    def fit(self, nbytes: int, align: int) -> int:
        """As :meth:`alloc`, of no more than there are in all; -1 when no block is large enough."""
        free = self._free
        found, most = -1, _MOST
        for index in range(len(free)):
            block = free[index]
            size = block[1]
            if size < nbytes or size >= most:
                continue
            start = block[0]
            if (start + align - 1) // align * align + nbytes <= start + size:
                found, most = index, size
                if not self._smallest:
                    break
        if found < 0:
            return -1
        start, size = free[found]
        offset = (start + align - 1) // align * align
        rest = start + size - (offset + nbytes)
        if offset == start and rest:
            free[found] = (offset + nbytes, rest)
        elif offset == start:
            del free[found]
        else:
            free[found] = (start, offset - start)
            if rest:
                free.insert(found + 1, (offset + nbytes, rest))
        return offset

    def take(self, nbytes: int, align: int) -> Block:
        """As :meth:`alloc`, as a block that gives itself back."""
        offset = self.fit(nbytes, align) if nbytes > 0 else -1
        if offset < 0:
            self.alloc(nbytes, align)  # says what is wrong
        return Block(self, offset, nbytes)

    def free(self, offset: int, nbytes: int) -> None:
        """Give back what :meth:`alloc` gave, exactly; anything else is an :class:`AddressError`."""
        held = self._allocated.get(offset)
        if held is None:
            raise AddressError(
                f"{self.name}: no block is allocated at {offset:#x}; it was freed before or never allocated"
            )
        if held != nbytes:
            raise AddressError(f"{self.name}: the block at {offset:#x} has {held} bytes, not {nbytes}")
        del self._allocated[offset]
        self.give_back(offset, nbytes)

    def give_back(self, offset: int, nbytes: int) -> None:
        """Bytes that were in use are free."""
        start, end = offset, offset + nbytes
        free = self._free
        index, above, joined = 0, len(free), False
        while index < above:  # the first block after these bytes
            middle = (index + above) // 2
            block = free[middle]
            before = block[0]
            if before < offset:
                index = middle + 1
            else:
                above = middle
        if index < len(free):
            after, size = free[index]
            if after == end:
                end, joined = after + size, True
        if index > 0:
            before, size = free[index - 1]
            if before + size == start:
                free[index - 1] = (before, end - before)
                if joined:
                    del free[index]
                return
        if joined:
            free[index] = (start, end - start)
        else:
            free.insert(index, (start, end - start))
