"""First fit, coalescing, alignment and the errors of a free list."""

from __future__ import annotations

import pytest

from kernbench.errors import AddressError, AllocationError
from kernbench.hardware.address import FreeList


def test_first_fit_takes_the_first_block_not_the_best() -> None:
    blocks = FreeList(100)
    a, b, c, d = (blocks.alloc(n) for n in (30, 10, 20, 40))
    blocks.free(a, 30)
    blocks.free(c, 20)
    assert blocks.blocks == ((0, 30), (40, 20))
    assert blocks.alloc(20) == 0  # the block of 20 at 40 would fit exactly
    assert blocks.blocks == ((20, 10), (40, 20))
    assert (b, d) == (30, 60)


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (0, 2, 1), (1, 0, 2)])
def test_neighbours_coalesce_in_any_order(order: tuple[int, ...]) -> None:
    blocks = FreeList(30, base=1000)
    offsets = [blocks.alloc(10) for _ in range(3)]
    for index in order:
        blocks.free(offsets[index], 10)
    assert blocks.blocks == ((1000, 30),)
    assert (blocks.free_bytes, blocks.largest_free) == (30, 30)


def test_bytes_skipped_for_alignment_stay_free() -> None:
    blocks = FreeList(100, base=3)
    assert blocks.alloc(10, align=16) == 16
    assert blocks.blocks == ((3, 13), (26, 77))
    assert blocks.alloc(13) == 3


def test_overflow_gives_the_size_wanted_the_largest_block_and_the_total() -> None:
    blocks = FreeList(100, name="TCM of pe0")
    offsets = [blocks.alloc(20) for _ in range(5)]
    for index in (0, 2, 3):
        blocks.free(offsets[index], 20)
    with pytest.raises(AllocationError) as error:
        blocks.alloc(50)
    assert isinstance(error.value, MemoryError)
    text = str(error.value)
    assert text.startswith("TCM of pe0 is full: 50 bytes wanted")
    assert "the largest free block is 40 of 60 bytes free" in text
    assert blocks.free_bytes == 60


@pytest.mark.parametrize(
    ("offset", "nbytes", "message"),
    [
        (0, 10, "freed before or never allocated"),  # freed in the test: a double free
        (50, 10, "freed before or never allocated"),
        (15, 5, "freed before or never allocated"),  # inside a block
        (10, 9, "has 10 bytes, not 9"),
        (10, 11, "has 10 bytes, not 11"),
    ],
)
def test_a_wrong_free_is_an_error_and_changes_nothing(offset: int, nbytes: int, message: str) -> None:
    blocks = FreeList(100, name="memory")
    first, _ = blocks.alloc(10), blocks.alloc(10)
    blocks.free(first, 10)
    before = blocks.blocks
    with pytest.raises(AddressError, match=message):
        blocks.free(offset, nbytes)
    assert blocks.blocks == before


def test_sizes_must_be_positive() -> None:
    for nbytes, align in ((0, 1), (-1, 1), (1, 0)):
        with pytest.raises(AddressError, match="must be positive"):
            FreeList(10).alloc(nbytes, align)
    with pytest.raises(AddressError, match="must not be negative"):
        FreeList(-1)


def test_an_empty_list_is_always_full() -> None:
    with pytest.raises(AllocationError, match="largest free block is 0 of 0"):
        FreeList(0).alloc(1)
