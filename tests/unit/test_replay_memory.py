"""The memory store behaves as bytes do, hands out views, and knows what is pending or unwritten."""

from __future__ import annotations

import time

import ml_dtypes
import numpy as np
import pytest

from kernbench.engine.program.operations import Region
from kernbench.errors import AddressError, VerificationError
from kernbench.hardware.address import ADDRESS_SPACE
from kernbench.values.memory_store import SimulatedMemory

BASE = 1 << 47 | 1 << 37


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16, np.float32, np.int8, np.int32])
def test_what_was_written_is_read(dtype: type) -> None:
    memory = SimulatedMemory(strict=True)
    array: np.ndarray = np.arange(-6, 6).reshape(3, 4).astype(dtype)
    memory.write(BASE, array)
    read = memory.read(BASE, (3, 4), dtype)
    assert read.dtype == array.dtype
    np.testing.assert_array_equal(read, array)
    np.testing.assert_array_equal(memory.read(BASE + 4 * array.itemsize, (4,), dtype), array[1])


def test_whole_and_partial_reads_are_views_of_what_was_written() -> None:
    memory = SimulatedMemory()
    array = np.arange(12, dtype=np.float32).reshape(3, 4).copy()
    array.flags.writeable = False
    memory.write(BASE, array)
    assert np.shares_memory(memory.read(BASE, (3, 4), np.float32), array)
    assert np.shares_memory(memory.read(BASE + 16, (4,), np.float32), array)
    assert np.shares_memory(memory.read(BASE, (24,), np.int16), array)
    assert np.shares_memory(memory.gather([Region(BASE, 48)], (12,), np.float32), array)


def test_a_writable_array_is_copied_once_and_then_shared() -> None:
    memory = SimulatedMemory()
    array = np.arange(4, dtype=np.int32)
    memory.write(BASE, array)
    array[:] = 0
    first, second = memory.read(BASE, (4,), np.int32), memory.read(BASE, (4,), np.int32)
    assert first.tolist() == [0, 1, 2, 3]
    assert np.shares_memory(first, second)


def test_an_array_handed_over_is_not_copied() -> None:
    memory = SimulatedMemory()
    array = np.arange(8, dtype=np.int32)
    memory.write(BASE, array[:4], owned=True)
    memory.scatter([Region(BASE + 64, 8), Region(BASE + 96, 8)], array[4:], owned=True)
    for read in (memory.read(BASE, (2, 2), np.int32), memory.read(BASE + 96, (2,), np.int32)):
        assert np.shares_memory(read, array)
        assert not read.flags.writeable
    memory.write(BASE + 128, array[::2], owned=True)  # not contiguous
    assert not np.shares_memory(memory.read(BASE + 128, (4,), np.int32), array)


def test_a_read_only_view_of_a_writable_array_is_copied() -> None:
    memory = SimulatedMemory()
    owner = np.zeros(4, np.int32)
    view = owner[:]
    view.flags.writeable = False
    memory.write(BASE, view)
    owner[:] = 7
    assert memory.read(BASE, (4,), np.int32).tolist() == [0] * 4


def test_a_read_only_view_of_foreign_memory_is_copied() -> None:
    memory = SimulatedMemory()
    owner = bytearray(8)
    view = np.frombuffer(memoryview(owner).toreadonly(), np.uint8)
    memory.write(BASE, view)
    owner[0] = 1
    assert memory.read(BASE, (8,), np.uint8).tolist() == [0] * 8


def test_nobody_can_change_memory_through_a_read() -> None:
    memory = SimulatedMemory()
    memory.write(BASE, np.zeros(4, np.int32))
    memory.write(BASE + 16, np.zeros(4, np.int32))
    for read in (
        memory.read(BASE, (4,), np.int32),
        memory.read(BASE + 8, (4,), np.int32),
        memory.read(BASE + 64, (4,), np.int32),
        memory.read(BASE + 1, (3,), np.int32),
        memory.gather([Region(BASE, 4), Region(BASE + 16, 4)], (2,), np.int32),
    ):
        with pytest.raises(ValueError, match="read-only"):
            read[...] = 1


def test_later_writes_leave_arrays_alone_that_were_handed_out() -> None:
    memory = SimulatedMemory()
    memory.write(BASE, np.arange(8, dtype=np.int32))
    whole, part = memory.read(BASE, (8,), np.int32), memory.read(BASE + 8, (2,), np.int32)
    memory.write(BASE + 8, np.array([-1], np.int32))
    assert whole.tolist() == list(range(8))
    assert part.tolist() == [2, 3]
    assert memory.read(BASE, (8,), np.int32).tolist() == [0, 1, -1, 3, 4, 5, 6, 7]


def test_a_read_across_two_writes_in_another_dtype() -> None:
    memory = SimulatedMemory(strict=True)
    memory.write(BASE, np.array([0x04030201], np.uint32))
    memory.write(BASE + 4, np.array([0x0605], np.uint16))
    assert memory.read(BASE + 1, (5,), np.uint8).tolist() == [2, 3, 4, 5, 6]
    odd = memory.read(BASE + 1, (), np.uint32)
    assert odd == 0x05040302
    assert odd.flags.aligned


def test_pieces_read_together_become_one_array() -> None:
    memory = SimulatedMemory()
    for row in range(100):
        memory.write(BASE + 8 * row, np.full(2, row, np.int32))
    assert len(memory._bytes) == 100
    first = memory.read(BASE, (100, 2), np.int32)
    assert len(memory._bytes) == 1
    assert np.shares_memory(first, memory.read(BASE, (100, 2), np.int32))
    assert first[:, 0].tolist() == list(range(100))


def test_pieces_read_in_part_stay_apart() -> None:
    memory = SimulatedMemory()
    memory.write(BASE, np.zeros(2, np.int32))
    memory.write(BASE + 8, np.ones(2, np.int32))
    second = memory.read(BASE + 8, (2,), np.int32)
    for offset, count in ((4, 2), (0, 3), (4, 3)):
        assert memory.read(BASE + offset, (count,), np.int32).tolist() == [0, 0, 1, 1][offset // 4 :][:count]
    assert len(memory._bytes) == 2
    assert np.shares_memory(memory.read(BASE + 8, (2,), np.int32), second)


def test_gather_and_scatter_over_regions() -> None:
    memory = SimulatedMemory(strict=True)
    regions = [Region(BASE + 100, 6), Region(BASE, 2), Region(BASE + 50, 8)]
    array = np.arange(4, dtype=np.float32).reshape(2, 2)
    memory.scatter(regions, array)
    np.testing.assert_array_equal(memory.gather(regions, (2, 2), np.float32), array)
    assert memory.read(BASE + 100, (6,), np.uint8).tobytes() == array.tobytes()[:6]
    assert memory.read(BASE + 50, (2,), np.float32).tolist() == [2.0, 3.0]
    for call in (
        lambda: memory.gather(regions, (5,), np.float32),
        lambda: memory.scatter(regions[:2], array),
    ):
        with pytest.raises(AddressError, match="must be equal"):
            call()


def test_adjoining_regions_are_read_as_one_view() -> None:
    memory = SimulatedMemory()
    memory.write(BASE, np.arange(8, dtype=np.int32))
    halves = [Region(BASE, 16), Region(BASE + 16, 16)]
    assert np.shares_memory(memory.gather(halves, (8,), np.int32), memory.read(BASE, (8,), np.int32))


def test_arrays_of_any_layout_are_written_row_major() -> None:
    memory = SimulatedMemory(strict=True)
    array = np.arange(6, dtype=np.int8).reshape(2, 3)
    memory.write(BASE, array.T)
    assert memory.read(BASE, (6,), np.int8).tolist() == [0, 3, 1, 4, 2, 5]
    memory.write(BASE, np.broadcast_to(np.int8(9), (3, 2)))
    assert memory.read(BASE, (6,), np.int8).tolist() == [9] * 6


def test_scalars_and_empty_arrays() -> None:
    memory = SimulatedMemory(strict=True)
    memory.write(BASE, np.array(5, np.int32))
    assert memory.read(BASE, (), np.int32) == 5
    memory.write(BASE + 1, np.zeros((0, 3), np.float32))
    assert memory.read(BASE + 900, (0, 3), np.float32).shape == (0, 3)
    assert memory.gather([], (0,), np.float32).shape == (0,)
    assert len(memory._bytes) == 1


def test_unwritten_bytes_are_zero_or_an_error_that_names_them() -> None:
    loose, strict = SimulatedMemory(), SimulatedMemory(strict=True)
    for memory in (loose, strict):
        memory.write(0x1000, np.ones(4, np.uint8))
        memory.write(0x1006, np.ones(2, np.uint8))
    assert loose.read(0xFFF, (10,), np.uint8).tolist() == [0, 1, 1, 1, 1, 0, 0, 1, 1, 0]
    assert len(loose._bytes) == 2  # the zeros are not written
    with pytest.raises(
        VerificationError, match=r"read of \[0x1000, 0x1008\): \[0x1004, 0x1006\) was never written"
    ):
        strict.read(0x1000, (8,), np.uint8)
    strict.mark_pending(Region(0x1005, 1), 42)
    with pytest.raises(VerificationError, match="wait for op 42"):
        strict.gather([Region(0x1000, 2), Region(0x1004, 2)], (4,), np.uint8)


def test_forgotten_bytes_are_unwritten() -> None:
    memory = SimulatedMemory(strict=True)
    memory.write(BASE, np.arange(8, dtype=np.uint8))
    memory.mark_pending(Region(BASE + 6, 4), 3)
    memory.forget(Region(BASE + 2, 6))
    assert memory.read(BASE, (2,), np.uint8).tolist() == [0, 1]
    assert memory.pending(Region(BASE, 8)) is None
    assert memory.pending(Region(BASE + 8, 1)) == 3
    with pytest.raises(VerificationError):
        memory.read(BASE, (3,), np.uint8)


def test_pending_until_written() -> None:
    memory = SimulatedMemory()
    memory.write(BASE, np.zeros(16, np.uint8))
    memory.mark_pending(Region(BASE, 8), 5)
    memory.mark_pending(Region(BASE + 4, 8), 6)
    memory.mark_pending(Region(BASE, 0), 99)
    assert memory.pending(Region(BASE, 4)) == 5
    assert memory.pending(Region(BASE, 5)) == 6
    assert memory.pending(Region(BASE + 12, 4)) is None
    assert memory.read(BASE, (16,), np.uint8).tolist() == [0] * 16
    memory.write(BASE + 2, np.ones(8, np.uint8))
    assert memory.pending(Region(BASE + 2, 8)) is None
    assert memory.pending(Region(BASE, 16)) == 6
    memory.scatter([Region(BASE, 2), Region(BASE + 10, 2)], np.ones(4, np.uint8))
    assert memory.pending(Region(BASE, 16)) is None


@pytest.mark.parametrize("addr", [-1, ADDRESS_SPACE - 3])
def test_addresses_stay_in_the_physical_space(addr: int) -> None:
    memory = SimulatedMemory()
    for call in (
        lambda: memory.write(addr, np.zeros(4, np.uint8)),
        lambda: memory.read(addr, (4,), np.uint8),
        lambda: memory.scatter([Region(addr, 4)], np.zeros(4, np.uint8)),
        lambda: memory.gather([Region(addr, 4)], (4,), np.uint8),
        lambda: memory.mark_pending(Region(addr, 4), 1),
        lambda: memory.forget(Region(addr, 4)),
        lambda: memory.pending(Region(addr, 4)),
    ):
        with pytest.raises(AddressError, match="outside the 51-bit physical space"):
            call()


@pytest.mark.slow
def test_many_chunks_stay_fast() -> None:
    memory = SimulatedMemory()
    tile = np.zeros(64, np.uint8)
    tile.flags.writeable = False
    addresses = np.random.default_rng(0).permutation(50_000) * 128 + BASE
    begin = time.perf_counter()
    for addr in addresses.tolist():
        memory.write(addr, tile)
        memory.read(addr, (64,), np.uint8)
    # About 1 s on a slow machine; anything quadratic takes minutes.
    assert time.perf_counter() - begin < 20
    assert len(memory._bytes) == 50_000
