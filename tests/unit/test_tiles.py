"""How many programs a product is cut into: as many as PEs need, and no more."""

import numpy as np
import pytest

import kernbench as kb
import kernbench.triton as triton
import kernbench.triton.language as tl
from kernbench.workloads.models.tiles import Tiles, height, shared
from kernbench.workloads.models.triton_kernels import block_of_product


@pytest.mark.parametrize(
    ("programs", "length", "workers", "expected"),
    [
        (20, 8192, 132, (6, 1408)),  # 128 blocks of 64, 22 each
        (128, 8192, 132, (1, 8192)),
        (1, 64, 132, (1, 64)),  # one block cannot be split
        (1, 300, 132, (2, 192)),  # five blocks: three and two
        (1, 8192, 1, (1, 8192)),
        (5, 64 * 9, 15, (3, 192)),
    ],
)
def test_a_sum_is_shared_by_pes_that_would_have_none(programs, length, workers, expected):
    parts, part = shared(programs, length, 64, workers)
    assert (parts, part) == expected
    assert (parts - 1) * part < length <= parts * part


def test_blocks_of_many_tokens_are_large_where_enough_pes_have_one():
    assert height(1, 1, 132) == 16
    assert height(50, 1000, 132) == 64
    assert height(512, 16, 132) == 64
    assert height(512, 17, 132) == 128
    decode, prefill = Tiles.of(1, 1280, 8192, 132), Tiles.of(512, 4096, 4096, 132)
    assert (decode.grid, decode.blocks["BM"], decode.blocks["BN"]) == ((20, 1, 6), 16, 64)
    assert (prefill.grid, prefill.blocks["BM"], prefill.blocks["BN"]) == ((32, 4, 1), 128, 128)
    assert Tiles.of(1, 8192, 8192, 1).grid == (128, 1, 1)


@triton.jit
def blocks_in_order(out):
    down, across = block_of_product()
    at = 2 * (tl.program_id(1) * tl.num_programs(0) + tl.program_id(0))
    tl.store(out + at, down)
    tl.store(out + at + 1, across)


@pytest.mark.slow
def test_blocks_that_read_the_same_weights_run_beside_each_other():
    """They are read from memory once for eight blocks of rows, not once for each."""
    done = kb.run_kernel(blocks_in_order[(3, 10)], out=np.zeros((30, 2), np.int32))
    first = [(down, across) for across in range(3) for down in range(8)]
    assert [tuple(pair) for pair in done.output] == [*first, (8, 0), (9, 0), (8, 1), (9, 1), (8, 2), (9, 2)]
