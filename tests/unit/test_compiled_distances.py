"""Distances by the compiled core, in Python and by scipy are the same; the core checks its arrays."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernbench.compiled import core
from kernbench.routing.tables import _by_scipy, _dijkstra

pytestmark = pytest.mark.skipif(core is None, reason="there is no compiled core to compare")

LINKS = st.lists(st.tuples(st.integers(0, 11), st.integers(0, 11), st.integers(1, 5)), max_size=60)


@given(LINKS, st.integers(0, 11))
def test_three_ways_to_the_same_distances(links: list[tuple[int, int, int]], start: int) -> None:
    cheapest = {(a, b): cost for a, b, cost in sorted(links, key=lambda link: -link[2])}
    rows = sorted((a, b, cost) for (a, b), cost in cheapest.items())
    indptr = np.concatenate(([0], np.cumsum(np.bincount([a for a, _, _ in rows], minlength=12)))).astype(
        np.int64
    )
    columns = np.array([b for _, b, _ in rows], np.int64)
    costs = np.array([cost for _, _, cost in rows], np.int64)
    assert core is not None
    mine = np.frombuffer(core.distances(indptr, columns, costs, start)).tolist()
    assert mine == _dijkstra(indptr.tolist(), columns.tolist(), costs.tolist(), start)
    assert mine == _by_scipy(indptr, columns, costs, start).tolist()


def test_arrays_that_do_not_belong_together_are_refused() -> None:
    assert core is not None
    whole = np.array([0, 1], np.int64)
    for indptr, columns, costs, start in (
        ([0, 1, 1], [1], [1], 2),
        ([0, 1, 1], [1], [1], -1),
        ([0, 2, 1], [1], [1], 0),
        ([0, 1, 2], [1], [1], 0),
        ([0, 1, 1], [2], [1], 0),
        ([0, 1, 1], [1], [-1], 0),
        ([0, 1, 1], [1], [], 0),
    ):
        with pytest.raises(ValueError, match=r"belong together|backwards|nowhere"):
            core.distances(*(np.array(a, np.int64) for a in (indptr, columns, costs)), start)
    for wrong in (
        whole.astype(np.int32),
        whole.astype(np.float64),
        np.array([[0, 1]], np.int64),
        np.arange(4)[::2],
    ):
        with pytest.raises((TypeError, ValueError, BufferError)):
            core.distances(wrong, whole, whole, 0)
