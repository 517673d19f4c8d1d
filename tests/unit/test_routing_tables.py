"""Tables of routes against sums over paths, whoever is asked for first, and no further than asked for."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from kernbench.hardware.routing.containers import Wholes
from kernbench.hardware.routing.core import Core
from kernbench.hardware.routing.tables import Tables

SIZE = 12
Links = list[tuple[int, int, int, int]]
"""``(source, target, weight, misalignment)``."""
LINKS = st.lists(
    st.tuples(st.integers(0, 11), st.integers(0, 11), st.integers(0, 4), st.integers(0, 2)), max_size=60
)


def whole(*numbers: int) -> Any:
    return np.array(numbers, np.int64)


def tables(links: Links) -> tuple[Tables, Wholes]:
    names = [str(i) for i in range(SIZE)]
    columns = [whole(*column) for column in zip(*links, strict=True)] if links else [whole()] * 4
    none = np.zeros(len(links), np.bool_)
    nowhere: list[Any] = [None] * len(links)
    return Tables(Core(names, {}, names, nowhere, *columns[:3], none), False), Wholes().of(columns[3])


def shortest(links: Links, destination: int) -> tuple[dict[int, tuple[int, int]], dict[int, int]]:
    """Weight and order from all that can reach ``destination``, and the link that each takes."""
    found = {destination: (0, 0)}
    for _ in range(SIZE):
        for source, target, weight, extra in links:
            if target in found:
                by_way = found[target][0] + weight, found[target][1] + extra * SIZE + 1
                found[source] = min(found.get(source, by_way), by_way)
    taken: dict[int, int] = {}
    for number, (source, target, weight, extra) in enumerate(links):
        if (
            target in found
            and (found[target][0] + weight, found[target][1] + extra * SIZE + 1) == found[source]
        ):
            taken.setdefault(source, number)
    return found, taken


@given(LINKS, st.integers(0, 11), st.permutations(range(SIZE)))
def test_the_shortest_routes_whoever_is_asked_for_first(
    links: Links, destination: int, asked: list[int]
) -> None:
    links.sort()
    maker, misalignment = tables(links)
    table = maker.table(destination, misalignment, Wholes().of(np.arange(SIZE * SIZE)))
    found, taken = shortest(links, destination)
    for component in asked:
        place = table.place(component)
        assert (place >= 0) == (component in found)
        if place < 0:
            continue
        assert (table.weight_from(place), table.order_from(place)) == found[component]
        here, expected = component, []
        while here != destination:
            expected.append(taken[here])
            here = links[taken[here]][1]
        assert table.way(place) == expected


def test_no_more_is_worked_out_than_was_asked_for() -> None:
    chain = [(i + 1, i, 1, 0) for i in range(SIZE - 1)]
    maker, misalignment = tables(chain)
    table = maker.table(0, misalignment, Wholes().of(np.arange(SIZE * SIZE)))
    for component, far in ((3, 3), (2, 3), (5, 5), (4, 5), (9, 9)):
        assert table.weight_from(table.place(component)) == component
        assert table.far_weight == far
