"""Allocators and page tables against models that keep one entry per byte."""

from __future__ import annotations

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from kernbench.errors import AddressError, AllocationError
from kernbench.hardware.address import FreeList, PageTable, VirtualAllocator
from tests.examples import examples

STATEFUL = examples(60, stateful_step_count=40)


def runs(free: list[bool]) -> list[tuple[int, int]]:
    """The maximal runs of True, ``(start, length)``."""
    found: list[tuple[int, int]] = []
    for index, is_free in enumerate(free):
        if is_free and found and sum(found[-1]) == index:
            found[-1] = (found[-1][0], found[-1][1] + 1)
        elif is_free:
            found.append((index, 1))
    return found


class FreeListMachine(RuleBasedStateMachine):
    """One flag per byte says whether it is free."""

    @initialize(base=st.integers(0, 70))
    def start(self, base: int) -> None:
        self.base, self.free = base, [True] * 128
        self.held: list[tuple[int, int]] = []
        self.freed: list[tuple[int, int]] = []
        self.blocks = FreeList(len(self.free), base)

    @rule(nbytes=st.integers(1, 48), align=st.sampled_from([1, 2, 16, 24]))
    def alloc(self, nbytes: int, align: int) -> None:
        fits = [
            at
            for at in range(len(self.free) - nbytes + 1)
            if (self.base + at) % align == 0 and all(self.free[at : at + nbytes])
        ]
        if not fits:
            largest = max((size for _, size in runs(self.free)), default=0)
            with pytest.raises(AllocationError, match=f"{nbytes} bytes wanted .*block is {largest} of"):
                self.blocks.alloc(nbytes, align)
            return
        offset = self.blocks.alloc(nbytes, align)
        assert offset == self.base + fits[0]  # first fit
        self.free[fits[0] : fits[0] + nbytes] = [False] * nbytes
        self.held.append((offset, nbytes))

    @precondition(lambda self: self.held)
    @rule(data=st.data())
    def release(self, data: st.DataObject) -> None:
        offset, nbytes = self.held.pop(data.draw(st.integers(0, len(self.held) - 1)))
        self.blocks.free(offset, nbytes)
        at = offset - self.base
        self.free[at : at + nbytes] = [True] * nbytes
        self.freed.append((offset, nbytes))

    @rule(offset=st.integers(0, 220), nbytes=st.integers(-1, 50))
    def free_at_random(self, offset: int, nbytes: int) -> None:
        if (offset, nbytes) not in self.held:
            with pytest.raises(AddressError):
                self.blocks.free(offset, nbytes)

    @precondition(lambda self: self.freed)
    @rule(data=st.data())
    def double_free(self, data: st.DataObject) -> None:
        self.free_at_random(*data.draw(st.sampled_from(self.freed)))

    @invariant()
    def free_blocks_are_sorted_and_coalesced(self) -> None:
        expected = [(self.base + start, size) for start, size in runs(self.free)]
        assert list(self.blocks.blocks) == expected
        assert self.blocks.free_bytes == self.free.count(True)


class VirtualAllocatorMachine(RuleBasedStateMachine):
    """One flag per page of a small space says whether it is free."""

    PAGE = 64

    def __init__(self) -> None:
        super().__init__()
        self.free = [True] * 24
        self.base = 7 * self.PAGE
        self.held: list[tuple[int, int]] = []
        self.space = VirtualAllocator(self.PAGE, self.base, len(self.free) * self.PAGE)

    @rule(nbytes=st.integers(1, 500))
    def alloc(self, nbytes: int) -> None:
        pages = -(-nbytes // self.PAGE)
        fits = [at for at in range(len(self.free) - pages + 1) if all(self.free[at : at + pages])]
        if not fits:
            with pytest.raises(AllocationError):
                self.space.alloc(nbytes)
            return
        va = self.space.alloc(nbytes)
        assert va == self.base + fits[0] * self.PAGE
        self.free[fits[0] : fits[0] + pages] = [False] * pages
        self.held.append((va, nbytes))

    @precondition(lambda self: self.held)
    @rule(data=st.data())
    def release_then_release_again(self, data: st.DataObject) -> None:
        va, nbytes = self.held.pop(data.draw(st.integers(0, len(self.held) - 1)))
        pages, at = -(-nbytes // self.PAGE), (va - self.base) // self.PAGE
        with pytest.raises(AddressError):
            self.space.free(va, nbytes + self.PAGE)
        self.space.free(va, nbytes)
        with pytest.raises(AddressError):
            self.space.free(va, nbytes)
        self.free[at : at + pages] = [True] * pages

    @invariant()
    def counts_agree(self) -> None:
        assert self.space.space.free_bytes == self.free.count(True) * self.PAGE


class PageTableMachine(RuleBasedStateMachine):
    """One dictionary entry per mapped byte."""

    def __init__(self) -> None:
        super().__init__()
        self.table = PageTable(16)
        self.model: dict[int, int] = {}

    @rule(va=st.integers(0, 120), pa=st.integers(0, 200), nbytes=st.integers(1, 40))
    def map(self, va: int, pa: int, nbytes: int) -> None:
        if any(byte in self.model for byte in range(va, va + nbytes)):
            with pytest.raises(AddressError, match="overlaps"):
                self.table.map(va, pa, nbytes)
            return
        self.table.map(va, pa, nbytes)
        self.model.update((va + i, pa + i) for i in range(nbytes))

    @rule(
        entries=st.lists(
            st.tuples(st.integers(0, 120), st.integers(0, 200), st.integers(1, 12)), min_size=1, max_size=4
        )
    )
    def map_all(self, entries: list[tuple[int, int, int]]) -> None:
        wanted = [va + i for va, _, nbytes in entries for i in range(nbytes)]
        if len(set(wanted)) < len(wanted) or any(byte in self.model for byte in wanted):
            with pytest.raises(AddressError, match="overlaps"):
                self.table.map_all(entries)
            return
        self.table.map_all(entries)
        for va, pa, nbytes in entries:
            self.model.update((va + i, pa + i) for i in range(nbytes))

    @rule(va=st.integers(0, 160), nbytes=st.integers(1, 40))
    def unmap(self, va: int, nbytes: int) -> None:
        span = range(va, va + nbytes)
        missing = [byte for byte in span if byte not in self.model]
        if missing:
            with pytest.raises(AddressError, match=f"va {missing[0]:#x} "):
                self.table.unmap(va, nbytes)
            return
        self.table.unmap(va, nbytes)
        for byte in span:
            del self.model[byte]

    @precondition(lambda self: self.model)
    @rule(data=st.data(), nbytes=st.integers(1, 20))
    def unmap_from_a_mapped_byte(self, data: st.DataObject, nbytes: int) -> None:
        va = data.draw(st.sampled_from(sorted(self.model)))
        while any(byte not in self.model for byte in range(va, va + nbytes)):
            nbytes -= 1
        self.unmap(va, nbytes)

    @rule(va=st.integers(0, 160), nbytes=st.integers(0, 160))
    def extents(self, va: int, nbytes: int) -> None:
        found = self.table.extents(va, nbytes)
        flat = [pa + i for pa, size in found for i in range(size)]
        assert flat == [self.model.get(byte, byte) for byte in range(va, va + nbytes)]
        ends = [sum(run) for run in found]
        assert all(end != pa for end, (pa, _) in zip(ends, found[1:], strict=False))  # merged
        assert all(size > 0 for _, size in found)

    @invariant()
    def mappings_agree(self) -> None:
        held = {va: pa + va - start for start, end, pa in self.table.mappings for va in range(start, end)}
        assert held == self.model


TestFreeList = STATEFUL(FreeListMachine).TestCase
TestVirtualAllocator = STATEFUL(VirtualAllocatorMachine).TestCase
TestPageTable = STATEFUL(PageTableMachine).TestCase
