"""Placement: every policy covers the tensor, and the device layout is what the shards say."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernbench.errors import UsageError
from kernbench.host.placement import SPLITS, DPPolicy, cut, distinct, idle, nearest, place

sizes = st.sampled_from([1, 2, 3, 4, 6, 8])


@st.composite
def placed(draw):
    """A policy on a machine that is large enough, and a shape."""
    cubes, pes = draw(sizes), draw(sizes)
    policy = DPPolicy(
        draw(st.sampled_from(SPLITS)),
        draw(st.sampled_from(SPLITS)),
        draw(st.none() | st.integers(1, cubes)),
        draw(st.none() | st.integers(1, pes)),
    )
    shape = draw(st.integers(1, 40)), draw(st.integers(1, 40))
    return policy, shape, cubes, pes


@settings(deadline=None, max_examples=60)
@given(placed())
def test_distinct_blocks_tile_the_tensor_and_the_layout(case):
    policy, shape, cubes, pes = case
    shards = place(policy, shape, "f16", sip=1, cubes=cubes, pes=pes)
    without = idle(policy, shards, sip=1, cubes=cubes, pes=pes)
    assert sorted([*[s.place for s in shards], *without]) == [
        (1, c, p) for c in range(policy.num_cubes or cubes) for p in range(policy.num_pes or pes)
    ]
    covered = np.zeros(shape, np.int32)
    end = 0
    for shard in distinct(shards):
        covered[shard.index] += 1
        assert shard.offset_bytes == end
        assert shard.nbytes == 2 * math.prod(shard.shape)
        end += shard.nbytes
    assert (covered == 1).all()
    assert end == 2 * math.prod(shape)


@settings(deadline=None, max_examples=60)
@given(placed())
def test_nearest_gives_each_pe_the_whole_tensor_and_its_own_copy(case):
    policy, shape, cubes, pes = case
    shards = place(policy, shape, "f32", sip=0, cubes=cubes, pes=pes)
    whole = [s.offset_bytes for s in distinct(shards)]
    for own in shards:
        mapped = nearest(shards, own.cube, own.pe)
        assert [s.offset_bytes for s in mapped] == whole
        assert own in mapped
        # Nothing is fetched from another cube that this cube holds.
        here = {s.offset_bytes for s in shards if s.cube == own.cube}
        assert all(s.cube == own.cube for s in mapped if s.offset_bytes in here)


def test_column_wise_over_cubes_and_pes():
    shards = place(DPPolicy("column_wise", "column_wise"), (4, 12), "f16", sip=0, cubes=2, pes=3)
    assert [s.index[1] for s in shards] == [slice(2 * i, 2 * i + 2) for i in range(6)]
    assert [s.offset_bytes for s in shards] == [16 * i for i in range(6)]
    assert {s.shape for s in shards} == {(4, 2)}


def test_replicated_cubes_share_offsets():
    shards = place(DPPolicy("replicate", "row_wise"), (6, 4), "i8", sip=0, cubes=2, pes=3)
    assert [s.offset_bytes for s in shards] == [0, 8, 16, 0, 8, 16]


def test_tiles_run_along_rows_or_down_columns():
    shape = (4, 6)
    along = place(DPPolicy(pe="tiled_row_major"), shape, "i8", sip=0, cubes=1, pes=6)
    down = place(DPPolicy(pe="tiled_column_major"), shape, "i8", sip=0, cubes=1, pes=6)
    corner = [(s.index[0].start, s.index[1].start) for s in along]
    assert corner == [(0, 0), (0, 2), (0, 4), (2, 0), (2, 2), (2, 4)]
    assert [(s.index[0].start, s.index[1].start) for s in down] == [
        (0, 0), (2, 0), (0, 2), (2, 2), (0, 4), (2, 4),
    ]  # fmt: skip


def test_one_dimension_is_split_by_rows_or_columns_alike():
    for split in ("row_wise", "column_wise"):
        shards = place(DPPolicy(pe=split), (8,), "f32", sip=0, cubes=1, pes=4)
        assert [s.index[0].start for s in shards] == [0, 2, 4, 6]


def test_cut_is_row_major():
    array = np.arange(12).reshape(3, 4)
    shard = place(DPPolicy(pe="column_wise"), (3, 4), "f64", sip=0, cubes=1, pes=2)[1]
    assert cut(array, shard).flags.c_contiguous
    assert cut(array, shard).ravel().tolist() == [2, 3, 6, 7, 10, 11]


@pytest.mark.parametrize("split", ["row_wise", "column_wise"])
def test_parts_that_differ_are_those_of_pytorch(split):
    """DTensor gives each the size of the first, until none are left."""
    axis = 0 if split == "row_wise" else 1
    for size, sizes in ((10, [3, 3, 3, 1]), (5, [2, 2, 1]), (2, [1, 1])):
        shape = [7, 7]
        shape[axis] = size
        policy = DPPolicy(pe=split)
        shards = place(policy, shape, "f16", sip=0, cubes=1, pes=4)
        assert [shard.shape[axis] for shard in shards] == sizes
        assert [shard.offset_bytes for shard in shards] == [14 * sum(sizes[:i]) for i in range(len(sizes))]
        assert idle(policy, shards, sip=0, cubes=1, pes=4) == {(0, 0, pe) for pe in range(len(sizes), 4)}


def test_cubes_may_have_different_numbers_of_pes():
    shards = place(DPPolicy("row_wise", "row_wise"), (12, 1), "i8", sip=0, cubes=2, pes=(3, 2))
    assert [(s.cube, s.pe, s.shape[0]) for s in shards] == [
        (0, 0, 2),
        (0, 1, 2),
        (0, 2, 2),
        (1, 0, 3),
        (1, 1, 3),
    ]
    with pytest.raises(UsageError, match="num_pes=3, but the topology has 2 PEs per cube"):
        place(DPPolicy(num_pes=3), (12, 1), "i8", sip=0, cubes=2, pes=(3, 2))


@pytest.mark.parametrize(
    ("policy", "shape", "words"),
    [
        (DPPolicy(pe="tiled_row_major"), (8,), ("two dimensions",)),
        (DPPolicy(num_cubes=3), (8, 8), ("num_cubes=3", "2 cubes per SIP")),
        (DPPolicy(num_pes=5), (8, 8), ("num_pes=5", "4 PEs per cube")),
        (DPPolicy(), 3.5, ("shape 3.5",)),
        (DPPolicy(), (), ("at least one dimension",)),
        (DPPolicy(), (0, 4), ("1 or more",)),
    ],
)
def test_what_cannot_be_placed_says_why(policy, shape, words):
    with pytest.raises(UsageError) as caught:
        place(policy, shape, "f16", sip=0, cubes=2, pes=4, name="w")
    for word in words:
        assert word in str(caught.value)


@pytest.mark.parametrize("fields", [{"cube": "diagonal"}, {"pe": None}, {"num_pes": 0}, {"num_cubes": 1.5}])
def test_a_policy_is_checked_when_made(fields):
    with pytest.raises(UsageError):
        DPPolicy(**fields)


def test_a_policy_has_no_sip():
    with pytest.raises(TypeError):
        DPPolicy(sip="replicate")
