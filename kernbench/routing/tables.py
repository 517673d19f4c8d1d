"""Shortest paths to one destination: distances and, for every component, the link to take next.

Two rounds of Dijkstra. The first is over routing weights in whole nanometres. The second runs over the
links that lie on some shortest path and decides among equals: preferred UCIe connections first, then
fewer hops. As every link costs at least one hop there, the remaining choices cannot lead in circles,
and the next link is the first in the core's order of preference.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra

from kernbench.errors import ConfigError
from kernbench.routing.core import Core, IntArray

FloatArray = NDArray[np.float64]

EXACT = 1 << 53
"""Integers below this are exact as floats, which is what scipy's Dijkstra adds up."""


@dataclass(frozen=True, slots=True)
class Table:
    """Ways to one destination, per component of the core."""

    weight: FloatArray
    """nm to the destination; infinite where there is no way."""
    order: FloatArray
    """Second criterion: misalignment times the number of components, plus hops."""
    next_link: memoryview
    """Number of the link to take; -1 at the destination and where there is no way."""


class Tables:
    """Makes the tables of one core, with (``within_cube``) or without UCIe links left out."""

    def __init__(self, core: Core, within_cube: bool) -> None:
        self._core = core
        self._size = len(core.names)
        usable = ~core.is_ucie if within_cube else np.ones(len(core.links), dtype=np.bool_)
        self._usable = usable
        # Links by target: the rows of the reversed graph, on which Dijkstra starts at the destination.
        self._by_target = np.argsort(core.target, kind="stable")
        self._reversed = self._matrix(usable, core.weight)
        if int(core.weight.sum()) >= EXACT:
            raise ConfigError("routing weights add up to more than 9e9 mm, expected less: nm must stay exact")

    def table(self, destination: int, misalignment: IntArray) -> Table:
        """The table to component ``destination``; ``misalignment`` is the extra cost per link."""
        core, size = self._core, self._size
        weight = self._dijkstra(self._reversed, destination)
        shortest = self._usable & (weight[core.source] == core.weight + weight[core.target])
        shortest &= np.isfinite(weight[core.source])
        cost = misalignment * size + 1
        order = self._dijkstra(self._matrix(shortest, cost), destination)
        best = np.flatnonzero(shortest & (order[core.source] == cost + order[core.target]))[::-1]
        next_link = np.full(size, -1, dtype=np.int32)
        next_link[core.source[best]] = best  # backwards, so that the most preferred link is written last
        return Table(weight, order, memoryview(next_link.data))

    def _matrix(self, usable: NDArray[np.bool_], data: IntArray) -> csr_array:
        chosen = self._by_target[usable[self._by_target]]
        rows = np.bincount(self._core.target[chosen], minlength=self._size)
        indptr = np.concatenate(([0], np.cumsum(rows))).astype(np.int32)
        indices = self._core.source[chosen].astype(np.int32)
        shape = (self._size, self._size)
        return csr_array((data[chosen].astype(np.float64), indices, indptr), shape=shape)

    @staticmethod
    def _dijkstra(matrix: csr_array, start: int) -> FloatArray:
        distances: FloatArray = np.asarray(dijkstra(matrix, directed=True, indices=[start]), dtype=np.float64)
        return distances.reshape(-1)
