"""Host reads of parts: numpy's meaning of an index, and exactly the bytes that it needs."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernbench.errors import UsageError
from kernbench.host.indexing import box_of, intersect, runs, span
from kernbench.host.messages import ShardRef
from kernbench.host.placement import DPPolicy, place
from tests.examples import examples

shapes = st.lists(st.integers(1, 5), min_size=1, max_size=3).map(tuple)


@st.composite
def indexed(draw):
    shape = draw(shapes)
    keys = []
    for size in shape[: draw(st.integers(0, len(shape)))]:
        bound = st.none() | st.integers(-size - 1, size + 1)
        keys.append(
            draw(
                st.integers(-size, size - 1)
                | st.builds(slice, bound, bound, st.sampled_from([None, 1, 2, 3, -1, -2]))
            )
        )
    if draw(st.booleans()):
        keys.insert(draw(st.integers(0, len(keys))), Ellipsis)
        # What stands behind the dots must fit the last dimensions, where sizes differ.
        keys = [k for k in keys if not isinstance(k, int)]
    return shape, tuple(keys)


@examples(100)
@given(indexed())
def test_picking_from_the_box_is_what_numpy_gives(case):
    shape, key = case
    array = np.arange(math.prod(shape)).reshape(shape)
    box, pick = box_of(key, shape, "t")
    np.testing.assert_array_equal(array[box][pick], array[key])


@settings(deadline=None)
@given(shapes, st.data())
def test_runs_are_the_elements_of_the_box_in_order(shape, data):
    part = []
    for size in shape:
        low = data.draw(st.integers(0, size - 1))
        part.append(slice(low, data.draw(st.integers(low + 1, size))))
    array = np.arange(math.prod(shape)).reshape(shape)
    got = [i for first, count in runs(shape, tuple(part)) for i in range(first, first + count)]
    wanted = array[tuple(part)].ravel().tolist()
    assert got == wanted
    ref = span(ShardRef(0, 0, 0, 4096, 2 * array.size), shape, tuple(part), 2)
    assert (ref.pa, ref.nbytes) == (4096 + 2 * wanted[0], 2 * (wanted[-1] - wanted[0] + 1))


def test_whole_inner_dimensions_make_one_run():
    assert list(runs((4, 3, 5), (slice(1, 3), slice(0, 3), slice(0, 5)))) == [(15, 30)]
    assert list(runs((4, 6), (slice(0, 4), slice(2, 4)))) == [(2, 2), (8, 2), (14, 2), (20, 2)]


def test_intersect_is_local():
    shards = place(DPPolicy(pe="column_wise"), (4, 8), "f16", sip=0, cubes=1, pes=4)
    box = (slice(1, 3), slice(3, 6))
    assert [intersect(s, box) for s in shards] == [
        None,
        (slice(1, 3), slice(1, 2)),
        (slice(1, 3), slice(0, 2)),
        None,
    ]


@pytest.mark.parametrize(
    ("key", "error"),
    [
        ((0, 0, 0), IndexError),
        (5, IndexError),
        (-5, IndexError),
        ((..., ...), UsageError),
        ("a", UsageError),
        (1.0, UsageError),
        (None, UsageError),
        ([0, 1], UsageError),
        (True, UsageError),
        ((0, False), UsageError),
    ],
)
def test_other_indices_are_refused(key, error):
    with pytest.raises(error, match="tensor 'w'"):
        box_of(key, (4, 4), "tensor 'w'")


@pytest.mark.parametrize("number", [3, -4, 4, -5])
def test_an_index_is_out_of_range_where_numpy_says_so(number):
    with pytest.raises(IndexError, match=f"t: index {number} is out of range for dimension 1 of size 3"):
        box_of((0, number), (2, 3), "t")
