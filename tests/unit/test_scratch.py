"""Blocks of a kernel's scratch: where they lie, how they are given back, what is said when none fits."""

from __future__ import annotations

import gc

import pytest

from kernbench.errors import AddressError, AllocationError
from kernbench.hardware.address.free_list import FreeList
from kernbench.language import scratch
from kernbench.language.arguments import BadArgumentError


def test_a_block_is_given_back_with_the_last_that_refers_to_it() -> None:
    room = FreeList(64, 8)
    block = again = room.take(20, 16)
    assert (block.address, room.blocks) == (16, ((8, 8), (36, 36)))
    del block
    assert room.free_bytes == 44
    del again
    assert room.blocks == ((8, 64),)


def test_a_block_gives_itself_back_and_nobody_else_does() -> None:
    room = FreeList(64)
    block = room.take(16, 16)
    with pytest.raises(AddressError, match="freed before or never allocated"):
        room.free(block.address, 16)
    assert room.free_bytes == 48
    del block
    assert room.blocks == ((0, 64),)


def test_more_than_64_bits_are_as_little_there_as_one_byte_too_many() -> None:
    room = FreeList(64, 1)
    for nbytes, align in ((65, 1), (1 << 80, 1), (1, 1 << 80)):
        with pytest.raises(AllocationError, match="the largest free block is 64 of 64 bytes free"):
            room.alloc(nbytes, align)


def test_scratch_says_what_does_not_fit() -> None:
    room = scratch.Scratch(4096, 64, scratch.Cycles())
    block = room.take(10)
    assert (block.address, room.free_bytes) == (4096, 48)
    with pytest.raises(
        BadArgumentError, match=r"49 bytes wanted, 48 of 64 bytes free .* pe\.pe_tcm\.scratch_bytes"
    ):
        room.take(49)
    with pytest.raises(BadArgumentError, match="bytes wanted, 48 of 64 bytes free"):
        room.take(1 << 80)
    del block
    gc.collect()
    assert room.free_bytes == 64


def test_small_values_do_not_break_up_room_for_large_ones() -> None:
    room = scratch.Scratch(0, 96, scratch.Cycles())
    large, between = room.take(64), room.take(16)
    del large
    small = room.take(16)
    assert (small.address, between.address) == (80, 64)
    assert room.take(64).address == 0


def test_the_smallest_gap_that_fits_is_taken() -> None:
    room = FreeList(100, smallest=True)
    blocks = [room.take(size, 1) for size in (40, 1, 20, 1, 30, 1, 7)]
    del blocks[4], blocks[2], blocks[0]
    assert room.blocks == ((0, 40), (41, 20), (62, 30))
    assert [room.take(size, 1).address for size in (25, 20, 21, 31)] == [62, 41, 62, 0]


def test_what_collecting_has_not_helped_is_not_collected_for_on_another_pe(monkeypatch) -> None:
    collected: list[int] = []
    monkeypatch.setattr(scratch.gc, "collect", lambda: collected.append(1))
    known = scratch.Cycles()
    first, second = scratch.Scratch(0, 32, known), scratch.Scratch(64, 32, known)
    held = first.take(32), second.take(32)
    counts = []
    for room in (first, second, scratch.Scratch(0, 32, known)):
        held += (room.take(32),) if room.free_bytes else ()
        with pytest.raises(BadArgumentError):
            room.take(16)
        counts.append(len(collected))
    assert counts == [2, 3, 4]  # one before waiting, for the first only; one before the error
