"""Tables of routes by the compiled core, in Python and by scipy are the same; the core checks its arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernbench.compiled import core as compiled_core
from kernbench.routing import tables
from kernbench.routing.core import Core
from kernbench.routing.tables import Table, Tables, _by_scipy, _dijkstra

pytestmark = pytest.mark.skipif(compiled_core is None, reason="there is no compiled core to compare")

SIZE = 12
LINKS = st.lists(
    st.tuples(st.integers(0, 11), st.integers(0, 11), st.integers(0, 4), st.integers(0, 2)), max_size=60
)


def whole(*numbers: int) -> Any:
    return np.array(numbers, np.int64)


def parts(links: list[tuple[int, int, int, int]]) -> Core:
    """A core of ``(source, target, weight, misalignment)``."""
    names = [str(i) for i in range(SIZE)]
    source, target, weight, _ = (
        (whole(*column) for column in zip(*links, strict=True)) if links else [whole()] * 4
    )
    none = np.zeros(len(links), np.bool_)
    return Core(names, {}, names, [None] * len(links), source, target, weight, none)  # type: ignore[list-item]


@given(LINKS, st.integers(0, 11), st.permutations(range(SIZE)))
def test_the_same_routes_whoever_is_asked_for_first(
    links: list[tuple[int, int, int, int]], destination: int, asked: list[int]
) -> None:
    links.sort()
    core, misalignment = parts(links), whole(*(link[3] for link in links))
    mine = Tables(core, False).table(destination, misalignment)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tables, "compiled_core", None)
        plain = Tables(core, False).table(destination, misalignment)
        expected = plain.all()

    def way(table: Table, component: int) -> list[int]:
        found = []
        while component != destination:
            found.append(table.link_from(component))
            component = links[found[-1]][1]
        return found

    for component in asked:
        assert mine.criteria(component) == plain.criteria(component)
        if mine.criteria(component)[0] < np.inf:
            assert way(mine, component) == way(plain, component)
    for ours, theirs in zip(mine.all()[:3], expected[:3], strict=True):
        assert ours.tolist() == theirs.tolist()


@given(LINKS, st.integers(0, 11))
def test_scipy_and_python_find_the_same_distances(links: list[tuple[int, int, int, int]], start: int) -> None:
    cheapest = {(a, b): cost + 1 for a, b, cost, _ in sorted(links, key=lambda link: -link[2])}
    rows = sorted((a, b, cost) for (a, b), cost in cheapest.items())
    indptr = np.concatenate(([0], np.cumsum(np.bincount([a for a, _, _ in rows], minlength=SIZE))))
    columns, costs = whole(*(b for _, b, _ in rows)), whole(*(cost for _, _, cost in rows))
    plain = _dijkstra(indptr.tolist(), columns.tolist(), costs.tolist(), start)
    assert plain == _by_scipy(indptr, columns, costs, start).tolist()


def test_no_more_is_worked_out_than_was_asked_for() -> None:
    chain = [(i + 1, i, 1, 0) for i in range(SIZE - 1)]
    table = Tables(parts(chain), False).table(0, np.zeros(len(chain), np.int64))
    assert table.criteria(3) == (3.0, 3.0)
    assert table._known is not None
    assert np.isfinite(table._known.weight).sum() == 4
    for component, rows in ((2, 4), (5, 6), (4, 6), (6, 7), (7, SIZE), (9, SIZE)):
        assert table.criteria(component) == (component, component)
        assert np.isfinite(table._known.weight).sum() == rows
        assert table._known.whole == (rows == SIZE)


def test_arrays_that_do_not_belong_together_are_refused() -> None:
    assert compiled_core is not None
    for indptr, sources, weights, numbers in (
        (whole(0, 2, 1), whole(1), whole(1), whole(0)),
        (whole(0, 1, 2), whole(1), whole(1), whole(0)),
        (whole(1, 1, 1), whole(1), whole(1), whole(0)),
        (whole(0, 1, 1), whole(2), whole(1), whole(0)),
        (whole(0, 1, 1), whole(1), whole(-1), whole(0)),
        (whole(0, 1, 1), whole(1), whole(1), whole(-1)),
        (whole(0, 1, 1), whole(1), whole(1, 1), whole(0)),
        (whole(0, 1, 1), whole(1), whole(1), whole()),
    ):
        with pytest.raises(ValueError, match=r"belong|backwards|nowhere"):
            compiled_core.Links(indptr, sources, weights, numbers)
    with pytest.raises(TypeError, match="64-bit"):
        compiled_core.Links(whole(0, 1, 1), whole(1).astype(np.float64), whole(1), whole(0))
    links = compiled_core.Links(whole(0, 1, 1), whole(1), whole(1), whole(3))
    for start, upto in ((2, 0), (-1, 0), (0, 2), (0, -2)):
        with pytest.raises(ValueError, match="no such component"):
            links.routes(start, upto, whole(0, 0, 0, 0), 1)
    with pytest.raises(ValueError, match="without misalignment"):
        links.routes(0, 1, whole(0, 0, 0), 1)
    assert links.routes(0, -1, whole(0, 0, 0, 2), 10)[3]
