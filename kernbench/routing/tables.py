"""Shortest paths to one destination: distances and, for every component, the link to take next.

Two rounds of Dijkstra. The first is over routing weights in whole nanometres. The second runs over the
links that lie on some shortest path and decides among equals: preferred UCIe connections first, then
fewer hops. As every link costs at least one hop there, the remaining choices cannot lead in circles,
and the next link is the first in the core's order of preference.
"""

from __future__ import annotations

from dataclasses import dataclass
from heapq import heappop, heappush
from math import inf
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernbench.compiled import core
from kernbench.errors import ConfigError
from kernbench.routing.core import Core, IntArray

FloatArray = NDArray[np.float64]

FEW = 40_000
"""Components in all tables of a core up to which plain Python is quicker than the import of scipy.

The compiled core is quicker than either."""
EXACT = 1 << 53
"""Integers below this are exact as floats, which is what Dijkstra's algorithm adds up here."""


@dataclass(frozen=True, slots=True)
class Table:
    """Routes to one destination, per component of the core."""

    weight: FloatArray
    """nm to the destination; infinite where there is no route."""
    order: FloatArray
    """Second criterion: misalignment times the number of components, plus hops."""
    next_link: memoryview
    """Number of the link to take; -1 at the destination and where there is no route."""


class _Rows(NamedTuple):
    """Links by their targets: their numbers, where those of each target begin, and their sources."""

    links: IntArray
    indptr: IntArray
    columns: IntArray


class Tables:
    """Makes the tables of one core, with (``within_cube``) or without UCIe links left out."""

    def __init__(self, core: Core, within_cube: bool) -> None:
        self._core = core
        self._size = len(core.names)
        usable = ~core.is_ucie if within_cube else np.ones(len(core.links), dtype=np.bool_)
        self._usable = usable
        # Links by target: the rows of the reversed graph, on which Dijkstra starts at the destination.
        self._by_target = np.argsort(core.target, kind="stable")
        self._made = 0
        self._rows = self._rows_of(usable)
        if int(core.weight.sum()) >= EXACT:
            raise ConfigError("routing weights add up to more than 9e9 mm, expected less: nm must stay exact")

    def table(self, destination: int, misalignment: IntArray) -> Table:
        """The table to component ``destination``; ``misalignment`` is the extra cost per link."""
        links, size = self._core, self._size
        self._made += 1
        weight = self._distances(self._rows, links.weight, destination)
        shortest = self._usable & (weight[links.source] == links.weight + weight[links.target])
        shortest &= np.isfinite(weight[links.source])
        cost = misalignment * size + 1
        order = self._distances(self._rows_of(shortest), cost, destination)
        best = np.flatnonzero(shortest & (order[links.source] == cost + order[links.target]))[::-1]
        next_link = np.full(size, -1, dtype=np.int32)
        next_link[links.source[best]] = best  # backwards, so that the most preferred link is written last
        return Table(weight, order, memoryview(next_link.data))

    def _rows_of(self, usable: NDArray[np.bool_]) -> _Rows:
        """The ``usable`` links as the rows of a sparse matrix, by target."""
        chosen = self._by_target[usable[self._by_target]]
        counts = np.bincount(self._core.target[chosen], minlength=self._size)
        return _Rows(chosen, np.concatenate(([0], np.cumsum(counts))), self._core.source[chosen])

    def _distances(self, rows: _Rows, cost: IntArray, start: int) -> FloatArray:
        """Least cost from every component to ``start`` over the links of ``rows``."""
        indptr, columns, costs = rows.indptr, rows.columns, cost[rows.links]
        if core is not None:
            return np.frombuffer(core.distances(indptr, columns, costs, start))
        if self._made * self._size <= FEW:
            return np.array(_dijkstra(indptr.tolist(), columns.tolist(), costs.tolist(), start))
        return _by_scipy(indptr, columns, costs, start)


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
