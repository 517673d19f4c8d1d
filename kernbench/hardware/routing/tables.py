"""Shortest paths to one destination: distances and, for every component, the link to take next.

Dijkstra's algorithm over two criteria. The first is the routing weight in whole nanometres. The second
decides among equals: preferred UCIe connections first, then fewer hops. As every link costs at least one
hop there, the remaining choices cannot lead in circles, and the next link is the one of the least rank.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from kernbench.errors import ConfigError
from kernbench.hardware.routing.containers import Nearest, Wholes
from kernbench.hardware.routing.core import Core, IntArray

EXACT = 1 << 53
"""Integers below this are exact as floats, which weights become."""
_UNREACHED = 1 << 62
"""The weight of a place that has no route, or whose route is not known yet."""


class ConnectedPart:
    """Components that usable links join, and these links by their targets: the rows of a sparse matrix."""

    def __init__(
        self, components: IntArray, source: IntArray, target: IntArray, weight: IntArray, numbers: IntArray
    ) -> None:
        self.places: dict[int, int] = {number: at for at, number in enumerate(components.tolist())}
        """Place of each component of the core within the part."""
        by_target = np.argsort(target, kind="stable")
        self.targets = Wholes().of(target[by_target])
        """Per link the place of its target, ascending; likewise ``sources``."""
        self.sources = Wholes().of(source[by_target])
        self.weights = Wholes().of(weight[by_target])
        self.numbers = Wholes().of(numbers[by_target])
        """Per link its number in the core."""
        counts = np.bincount(target, minlength=len(components))
        self.begins = Wholes().of(np.concatenate(([0], np.cumsum(counts))))
        """Where the links of each target begin; one more at the end."""


class RouteTable:
    """Routes to one destination from the components that are joined to it.

    The search goes only as far as it is asked to, and continues from there later: most tables of a large
    machine are asked about neighbours only.
    """

    def __init__(
        self, part: ConnectedPart, destination: int, misalignment: Wholes, scale: int, ranks: Wholes
    ) -> None:
        self.ranks = ranks
        """Per link of the core its rank among equally good ones."""
        self.part = part
        count = len(self.part.places)
        self.start = self.part.places[destination]
        self.misalignment = misalignment
        self.scale = scale
        self.weight = Wholes().filled(count, _UNREACHED)
        """nm to the destination, by place."""
        self.order = Wholes().sized(count)
        """Second criterion, by place: misalignment times ``scale``, plus hops."""
        self.taken = Wholes().sized(count)
        """The link to take, by place: its row in the part."""
        self.waiting = Nearest()
        self.waiting.put(0, 0, self.start)
        self.weight.at[self.start] = self.order.at[self.start] = 0
        self.far_weight = self.far_order = -1
        """Criteria up to which all that is known is final."""
        self.nbytes = count * 3 * 8
        """Bytes of its columns."""

    def place(self, component: int) -> int:
        """Place of a component of the core that has a route, which is known then; -1 where there is none."""
        place = self.part.places.get(component)
        if place is None:
            return -1
        found: int = place
        weight = self.weight.at[found]
        if weight > self.far_weight or (weight == self.far_weight and self.order.at[found] > self.far_order):
            self._work_out(found)
        return found if self.weight.at[found] < _UNREACHED else -1

    def weight_from(self, place: int) -> int:
        """nm from a place that is known."""
        return self.weight.at[place]

    def order_from(self, place: int) -> int:
        """The second criterion there."""
        return self.order.at[place]

    def way(self, place: int) -> list[int]:
        """Numbers of the links on the route from a place, which must have one, in travel order."""
        part, taken = self.part, self.taken.at
        found = []
        while place != self.start:
            row = taken[place]
            found.append(part.numbers.at[row])
            place = part.targets.at[row]
        return found

    def step(self, place: int) -> tuple[int, int] | None:
        """The link to take from a place that has a route, and the place that it leads to; None at the end."""
        if place == self.start:
            return None
        row = self.taken.at[place]
        return self.part.numbers.at[row], self.part.targets.at[row]

    def _work_out(self, upto: int) -> None:
        """Go on until ``upto`` and all that is nearer is known."""
        part, waiting, scale = self.part, self.waiting, self.scale
        begins, sources, weights, numbers = (
            part.begins.at, part.sources.at, part.weights.at, part.numbers.at
        )  # fmt: skip
        weight, order, taken, extra = self.weight.at, self.order.at, self.taken.at, self.misalignment.at
        ranks = self.ranks.at
        while waiting.count:
            at = waiting.take()
            near, later = waiting.weight, waiting.order
            if near != weight[at] or later != order[at]:
                continue  # a shorter way was found since
            for row in range(begins[at], begins[at + 1]):
                source = sources[row]
                longer = near + weights[row]
                cost = later + extra[numbers[row]] * scale + 1
                if longer < weight[source] or (longer == weight[source] and cost < order[source]):
                    weight[source] = longer
                    order[source] = cost
                    taken[source] = row
                    waiting.put(longer, cost, source)
                elif (
                    longer == weight[source]
                    and cost == order[source]
                    and ranks[numbers[row]] < ranks[numbers[taken[source]]]
                ):
                    taken[source] = row
            if at == upto:
                self.far_weight, self.far_order = near, later
                return
        self.far_weight = self.far_order = _UNREACHED


class _Grouped:
    """Numbers in order of the parts they belong to; ascending within a part."""

    def __init__(self, numbers: IntArray, parts: IntArray) -> None:
        order = np.argsort(parts, kind="stable")
        self._numbers, self._parts = numbers[order], parts[order]

    def of(self, part: int) -> IntArray:
        """Those of one part."""
        begin, end = np.searchsorted(self._parts, (part, part + 1))
        found: IntArray = self._numbers[begin:end]
        return found


class Tables:
    """Makes the tables of one core, with (``within_cube``) or without UCIe links left out.

    Without UCIe links each cube is a part of its own, so that a table costs what a cube costs.
    """

    def __init__(self, core: Core, within_cube: bool) -> None:
        self._core = core
        self._size = len(core.names)
        self._usable = np.flatnonzero(~core.is_ucie) if within_cube else np.arange(len(core.links))
        self._parts: dict[int, ConnectedPart] = {}
        if int(core.weight.sum()) >= EXACT:
            raise ConfigError("routing weights add up to more than 9e9 mm, expected less: nm must stay exact")

    def table(self, destination: int, misalignment: Wholes, ranks: Wholes) -> RouteTable:
        """The table to component ``destination``; ``misalignment`` is the extra cost per link."""
        return RouteTable(self._part(destination), destination, misalignment, self._size, ranks)

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
        return _Grouped(np.arange(self._size), self._part_of), _Grouped(self._usable, of_links)

    def _part(self, component: int) -> ConnectedPart:
        name = int(self._part_of[component])
        part = self._parts.get(name)
        if part is None:
            core = self._core
            components, numbers = (grouped.of(name) for grouped in self._by_part)
            place = np.empty(self._size, dtype=np.int64)
            place[components] = np.arange(len(components))
            source, target = place[core.source[numbers]], place[core.target[numbers]]
            part = self._parts[name] = ConnectedPart(
                components, source, target, core.weight[numbers], numbers
            )
        return part
