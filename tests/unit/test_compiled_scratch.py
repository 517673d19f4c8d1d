"""Blocks of scratch by the compiled core lie where Python's first fit puts them, and are given back alike."""

from __future__ import annotations

import gc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernbench.address.free_list import FreeList
from kernbench.compiled import core
from kernbench.errors import AddressError, AllocationError
from kernbench.kernels import scratch
from kernbench.kernels.arguments import BadArgumentError

pytestmark = pytest.mark.skipif(core is None, reason="there is no compiled core to compare")

STEPS = st.lists(st.tuples(st.booleans(), st.integers(1, 90), st.integers(0, 99)), max_size=80)


@given(STEPS, st.sampled_from([0, 8, 4096, 1 << 50]), st.integers(0, 700), st.sampled_from([1, 16, 48]))
def test_the_same_blocks_are_taken_and_given_back(
    steps: list[tuple[bool, int, int]], base: int, capacity: int, align: int
) -> None:
    assert core is not None
    plain, mine = FreeList(capacity, base), FreeList(capacity, base)
    held: list[tuple[int, int, object]] = []
    for taking, nbytes, which in steps:
        if taking or not held:
            block = core.block_of(mine, mine._free, mine._allocated, nbytes, align)
            try:
                address = plain.alloc(nbytes, align)
            except AllocationError:
                assert block is None
                continue
            assert block.address == address
            held.append((address, nbytes, block))
            del block
        else:
            address, nbytes = held.pop(which % len(held))[:2]
            plain.free(address, nbytes)
        assert mine.blocks == plain.blocks
        assert mine._allocated == plain._allocated
    held.clear()
    assert mine.blocks == FreeList(capacity, base).blocks


def test_a_block_that_was_freed_before_is_an_error_of_the_free_list(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert core is not None
    seen: list[object] = []
    monkeypatch.setattr("sys.unraisablehook", lambda raised: seen.append(raised.exc_value))
    room = FreeList(64)
    block = core.block_of(room, room._free, room._allocated, 16, 16)
    room.free(block.address, 16)
    del block
    assert [type(one) for one in seen] == [AddressError]


def test_scratch_uses_it_and_python_says_what_does_not_fit() -> None:
    room = scratch.Scratch(4096, 64)
    block = room.take(10)
    assert not isinstance(block, scratch.PythonBlock)
    assert (block.address, room.free_bytes) == (4096, 48)
    with pytest.raises(BadArgumentError, match="49 bytes wanted, 48 of 64 bytes free"):
        room.take(49)
    with pytest.raises(BadArgumentError, match="bytes wanted, 48 of 64 bytes free"):
        room.take(1 << 80)
    del block
    gc.collect()
    assert room.free_bytes == 64
