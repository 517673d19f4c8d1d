"""Shortest paths to one destination: distances and, for every component, the link to take next.

Two rounds of Dijkstra. The first is over routing weights in whole nanometres. The second runs over the
links that lie on some shortest path and decides among equals: preferred UCIe connections first, then
fewer hops. As every link costs at least one hop there, the remaining choices cannot lead in circles,
and the next link is the first in the core's order of preference.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from heapq import heappop, heappush
from math import inf
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernbench.compiled import core as compiled_core
from kernbench.errors import ConfigError
from kernbench.routing.core import Core, IntArray

FloatArray = NDArray[np.float64]

FEW = 40_000
"""Components in all tables of a core up to which plain Python is quicker than the import of scipy.

The compiled core is quicker than either."""
EXTENSIONS = 3
"""So often a table that does not go far enough is worked out anew; the last time, for all of its rows."""
EXACT = 1 << 53
"""Integers below this are exact as floats, which is what Dijkstra's algorithm adds up here."""


class Columns(NamedTuple):
    """Routes to one destination: a row for each component that usable links join to it."""

    weight: FloatArray
    """nm to the destination; infinite where there is no route."""
    order: FloatArray
    """Second criterion: misalignment times the number of components, plus hops."""
    next_link: memoryview
    """Number of the link to take; -1 at the destination and where there is no route."""
    whole: bool = True
    """Whether they say it of all rows; else those further than the one asked for count as infinitely far."""


class Table:
    """Routes to one destination from the components that are joined to it.

    ``columns`` works them out as far as a row, or for all rows (-1): most tables of a large machine are asked
    for neighbours alone, and for few others.
    """

    def __init__(self, places: dict[int, int], columns: Callable[[int], Columns]) -> None:
        self.places = places
        """Row of a component of the core; those without one have no route."""
        self._columns = columns
        self._extended = 0
        self._known: Columns | None = None

    def all(self) -> Columns:
        """The columns of all rows."""
        known = self._known
        if known is None or not known.whole:
            known = self._known = self._columns(-1)
        return known

    def criteria(self, component: int) -> tuple[float, float]:
        """``weight`` and ``order`` from a component of the core, infinite where there is no route."""
        at = self.places.get(component)
        if at is None:
            return inf, inf
        known = self._known
        if known is None:
            known = self._known = self._columns(at)
        elif known.weight[at] == inf and not known.whole:
            self._extended += 1
            known = self._known = self._columns(at if self._extended < EXTENSIONS else -1)
        return float(known.weight[at]), float(known.order[at])

    def link_from(self, component: int) -> int:
        """Number of the link to take from a component that has a route.

        It is one whose :meth:`criteria` were asked for, or one on the way from there.
        """
        known = self._known or self.all()
        return int(known.next_link[self.places[component]])

    def way(self, source: int, destination: int, targets: Sequence[int]) -> list[int]:
        """Numbers of the links from a component that has a route; ``targets`` of each link in the core."""
        next_link, places = (self._known or self.all()).next_link, self.places
        found = []
        while source != destination:
            number = next_link[places[source]]
            found.append(number)
            source = targets[number]
        return found

    @property
    def nbytes(self) -> int:
        """Bytes of its columns."""
        return len(self.places) * (8 + 8 + 4)


class _Rows(NamedTuple):
    """Links by their targets: their numbers in the part, where those of each target begin, their sources."""

    links: IntArray
    indptr: IntArray
    columns: IntArray


class _Grouped(NamedTuple):
    """Numbers in order of the parts they belong to; ascending within a part."""

    numbers: IntArray
    parts: IntArray

    def of(self, part: int) -> IntArray:
        """Those of one part."""
        begin, end = np.searchsorted(self.parts, (part, part + 1))
        return self.numbers[begin:end]


class _Part(NamedTuple):
    """Components that usable links join, and these links."""

    places: dict[int, int]
    """Place of each component of the core within the part."""
    numbers: IntArray
    """Of its links in the core, ascending."""
    source: IntArray
    """Per link, the place of its source; likewise ``target``."""
    target: IntArray
    weight: IntArray
    rows: _Rows
    compiled: Any
    """The same for the compiled core; None without."""


class Tables:
    """Makes the tables of one core, with (``within_cube``) or without UCIe links left out.

    Without UCIe links each cube is a part of its own, so that a table costs what a cube costs.
    """

    def __init__(self, core: Core, within_cube: bool) -> None:
        self._core = core
        self._size = len(core.names)
        self._usable = np.flatnonzero(~core.is_ucie) if within_cube else np.arange(len(core.links))
        self._parts: dict[int, _Part] = {}
        self._made = 0
        self._covered = 0
        if int(core.weight.sum()) >= EXACT:
            raise ConfigError("routing weights add up to more than 9e9 mm, expected less: nm must stay exact")

    def table(self, destination: int, misalignment: IntArray) -> Table:
        """The table to component ``destination``; ``misalignment`` is the extra cost per link."""
        self._made += 1
        links = self._part(destination)
        self._covered += len(links.places)
        start = links.places[destination]
        if links.compiled is None:
            return Table(links.places, lambda upto: self._columns(links, start, misalignment))
        routes, scale = links.compiled.routes, self._size

        def columns(upto: int) -> Columns:
            weight, order, next_link, whole = routes(start, upto, misalignment, scale)
            return Columns(
                np.frombuffer(weight), np.frombuffer(order), memoryview(next_link).cast("i"), whole
            )

        return Table(links.places, columns)

    def _columns(self, links: _Part, start: int, misalignment: IntArray) -> Columns:
        """All routes to a component of a part."""
        size = len(links.places)
        weight = self._distances(links.rows, links.weight, start)
        shortest = weight[links.source] == links.weight + weight[links.target]
        shortest &= np.isfinite(weight[links.source])
        cost = misalignment[links.numbers] * self._size + 1
        order = self._distances(_rows_of(links.source, links.target, size, shortest), cost, start)
        best = np.flatnonzero(shortest & (order[links.source] == cost + order[links.target]))[::-1]
        next_link = np.full(size, -1, dtype=np.int32)
        # Backwards, so that the most preferred link is written last.
        next_link[links.source[best]] = links.numbers[best]
        return Columns(weight, order, memoryview(next_link.data))

    @cached_property
    def _part_of(self) -> IntArray:
        """Per component the lowest number among those that usable links, either way round, join to it."""
        a, b = self._core.source[self._usable], self._core.target[self._usable]
        lowest = np.arange(self._size)
        while True:
            joined = np.minimum(lowest[a], lowest[b])
            lower = lowest.copy()
            np.minimum.at(lower, a, joined)
            np.minimum.at(lower, b, joined)
            lower = lower[lower]  # and what that one is joined to, which halves the rounds
            if np.array_equal(lower, lowest):
                return lowest
            lowest = lower

    @cached_property
    def _by_part(self) -> tuple[_Grouped, _Grouped]:
        """Components, and usable links, part by part."""
        of_links = self._part_of[self._core.source[self._usable]]
        return _grouped(np.arange(self._size), self._part_of), _grouped(self._usable, of_links)

    def _part(self, component: int) -> _Part:
        name = int(self._part_of[component])
        part = self._parts.get(name)
        if part is None:
            core = self._core
            components, numbers = (grouped.of(name) for grouped in self._by_part)
            place = np.empty(self._size, dtype=np.int64)
            place[components] = np.arange(len(components))
            source, target = place[core.source[numbers]], place[core.target[numbers]]
            rows = _rows_of(source, target, len(components), np.ones(len(numbers), dtype=np.bool_))
            places = {number: at for at, number in enumerate(components.tolist())}
            weight = core.weight[numbers]
            links = None
            if compiled_core is not None:
                by_row = (rows.indptr, rows.columns, weight[rows.links], numbers[rows.links])
                links = compiled_core.Links(*map(np.ascontiguousarray, by_row))
            part = self._parts[name] = _Part(places, numbers, source, target, weight, rows, links)
        return part

    def _distances(self, rows: _Rows, cost: IntArray, start: int) -> FloatArray:
        """Least cost from every component to ``start`` over the links of ``rows``."""
        indptr, columns, costs = rows.indptr, rows.columns, cost[rows.links]
        if self._covered <= FEW:
            return np.array(_dijkstra(indptr.tolist(), columns.tolist(), costs.tolist(), start))
        return _by_scipy(indptr, columns, costs, start)


def _grouped(numbers: IntArray, parts: IntArray) -> _Grouped:
    order = np.argsort(parts, kind="stable")
    return _Grouped(numbers[order], parts[order])


def _rows_of(source: IntArray, target: IntArray, size: int, chosen: NDArray[np.bool_]) -> _Rows:
    """The ``chosen`` links as the rows of the reversed graph, on which Dijkstra starts at the destination."""
    links = np.flatnonzero(chosen)
    links = links[np.argsort(target[links], kind="stable")]
    counts = np.bincount(target[links], minlength=size)
    return _Rows(links, np.concatenate(([0], np.cumsum(counts))), source[links])


def _dijkstra(indptr: list[int], columns: list[int], costs: list[int], start: int) -> list[float]:
    """Distances from ``start`` over links that are given as the rows of a sparse matrix."""
    distances = [inf] * (len(indptr) - 1)
    distances[start] = 0.0
    queue = [(0.0, start)]
    while queue:
        distance, at = heappop(queue)
        if distance > distances[at]:
            continue
        for link in range(indptr[at], indptr[at + 1]):
            longer = distance + costs[link]
            if longer < distances[columns[link]]:
                distances[columns[link]] = longer
                heappush(queue, (longer, columns[link]))
    return distances


def _by_scipy(indptr: IntArray, columns: IntArray, costs: IntArray, start: int) -> FloatArray:
    """The same."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import dijkstra

    size = len(indptr) - 1
    matrix = csr_array(
        (costs.astype(np.float64), columns.astype(np.int32), indptr.astype(np.int32)), shape=(size, size)
    )
    distances: FloatArray = np.asarray(dijkstra(matrix, directed=True, indices=[start]), dtype=np.float64)
    return distances.reshape(-1)
