"""Answers the one question of routing: which way does this traffic take from here to there?"""

from __future__ import annotations

import difflib
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass

from kernbench.errors import RoutingError
from kernbench.pgraph import Edge, Node, PropertyGraph
from kernbench.routing.core import NM_PER_MM, build_core, weight_nm
from kernbench.routing.lanes import Lanes
from kernbench.routing.tables import Table, Tables
from kernbench.routing.traffic import UCIE_KINDS, Route, Traffic, forbidden
from kernbench.topology import names

TABLE_BYTES = 64 << 20
"""Memory in bytes that a router spends on tables before it drops the least recently used."""


_BY_WAY_OF = {"pe_tcm": "pe_dma", "hbm_ctrl": "channel_router"}
"""Kinds of memory, and the kind of component outside the core that leads to them."""


@dataclass(frozen=True, slots=True)
class _Way:
    """A possible route: links before the core, the core from one component to another, links after it."""

    weight_nm: float
    order: float
    first: tuple[Edge, ...]
    core: tuple[Table, int, int] | None
    last: tuple[Edge, ...]


class Router:
    """Shortest routes over a compiled topology (ADR-0002, ADR-0051).

    Weights are the links' ``routing_weight``. Equal weights are decided by: the UCIe connection nearest
    the destination's row or column (or the first one, if the topology says so), fewer hops, moves along
    x before moves along y, name. Routes pass through transit components only; PE_DMA is passed through
    on the way to its own PE's TCM, a channel router on the way to and from its slice. The same question is
    answered with the same object.
    """

    def __init__(self, graph: PropertyGraph) -> None:
        self._graph = graph
        self._core = build_core(graph)
        self._lanes = Lanes(graph, self._core)
        self._makers = {within: Tables(self._core, within) for within in (False, True)}
        self._tables: OrderedDict[tuple[int, bool], Table] = OrderedDict()
        self._table_limit = max(16, TABLE_BYTES // (20 * max(len(self._core.names), 1)))
        self._routes: dict[tuple[str, str, Traffic, str], Route] = {}
        self._reversed: dict[Route, Route] = {}

    def route(self, src: str, dst: str, traffic: Traffic, via: str = "") -> Route:
        """The route from component ``src`` to component ``dst``, whose last link comes from ``via`` if given.

        ``via`` chooses among the channel routers of a slice; without it the first is taken.
        Raises :class:`RoutingError` when a name is unknown or not wired, or when the links that this
        traffic may use do not join the two.
        """
        key = (src, dst, traffic, via)
        found = self._routes.get(key)
        if found is None:
            found = self._routes[key] = self._find(src, dst, traffic, via)
        return found

    def reverse(self, route: Route) -> Route:
        """The same components backwards, over the twins of the links; the reverse of that is ``route``."""
        found = self._reversed.get(route)
        if found is None:
            try:
                links = tuple(self._twin(link) for link in reversed(route.links))
            except KeyError as error:
                ends = f"'{route.nodes[-1]}' to '{route.nodes[0]}'"
                raise RoutingError(f"no way back from {ends}: link {error} is missing") from None
            found = Route(route.nodes[::-1], links, route.weight)
            self._reversed[route], self._reversed[found] = found, route
        return found

    def _find(self, src: str, dst: str, traffic: Traffic, via: str) -> Route:
        a, b = self._wired(src), self._wired(dst)
        if src == dst:
            return Route((src,), (), 0.0)
        place_a, place_b = ((n.properties["sip"], n.properties["cube"]) for n in (a, b))
        banned = forbidden(traffic, same_cube=place_a == place_b and place_a[1] != -1)
        way = min(self._ways(a, b, banned, via), key=lambda w: (w.weight_nm, w.order), default=None)
        if way is None:
            reason = f", which may not use links of kind {', '.join(sorted(banned))}" if banned else ""
            through = f" by way of '{via}'" if via else ""
            raise RoutingError(f"no route from '{src}' to '{dst}'{through} for {traffic} traffic{reason}")
        links = (*way.first, *self._walk(way), *way.last)
        return Route((src, *(link.target for link in links)), links, way.weight_nm / NM_PER_MM)

    def _ways(self, a: Node, b: Node, banned: frozenset[str], via: str) -> Iterator[_Way]:
        index = self._core.index
        arrivals = [((), b.id)] if b.id in index else list(self._arrivals(b, banned))
        for last, start in arrivals:
            if via and not (last and last[-1].source == via):
                continue
            if start == a.id and last:
                yield _Way(_nm(last), len(last), (), None, last)
            if start not in index:
                continue
            table = self._table(index[start], within_cube=banned >= UCIE_KINDS)
            for first in self._departures(a, banned):
                source = index[first[-1].target if first else a.id]
                attached = (*first, *last)
                if table.weight[source] != float("inf"):
                    yield _Way(
                        float(table.weight[source]) + _nm(attached),
                        float(table.order[source]) + len(attached),
                        first,
                        (table, source, index[start]),
                        last,
                    )

    def _departures(self, a: Node, banned: frozenset[str]) -> list[tuple[Edge, ...]]:
        """Ways from a component into the core."""
        if a.id in self._core.index:
            return [()]
        ways: list[tuple[Edge, ...]] = []
        for link in self._links(a.id, banned):
            if link.target in self._core.index:
                ways.append((link,))
            elif self._kind(link.target) == "channel_router":
                ways += [
                    (link, on) for on in self._links(link.target, banned) if on.target in self._core.index
                ]
        return ways

    def _arrivals(self, b: Node, banned: frozenset[str]) -> Iterator[tuple[tuple[Edge, ...], str]]:
        """Ways into a component at the edge: (links, where they start)."""
        for link in self._links_into(b.id, banned):
            yield (link,), link.source
            if _BY_WAY_OF.get(str(b.properties["kind"])) == self._kind(link.source):
                for before in self._links_into(link.source, banned):
                    if before.source != b.id:
                        yield (before, link), before.source

    def _walk(self, way: _Way) -> list[Edge]:
        links: list[Edge] = []
        if way.core is not None:
            table, here, target = way.core
            core = self._core
            while here != target:
                number = table.next_link[here]
                links.append(core.links[number])
                here = core.index[links[-1].target]
        return links

    def _table(self, destination: int, within_cube: bool) -> Table:
        key = (destination, within_cube)
        table = self._tables.get(key)
        if table is not None:
            self._tables.move_to_end(key)
            return table
        spot = self._lanes.spot(self._core.names[destination])
        table = self._makers[within_cube].table(destination, self._lanes.costs(spot))
        self._tables[key] = table
        if len(self._tables) > self._table_limit:
            self._tables.popitem(last=False)
        return table

    def _links(self, source: str, banned: frozenset[str]) -> Iterator[Edge]:
        return (e for e in self._graph.out_edges(source, "LINK") if e.properties["kind"] not in banned)

    def _links_into(self, target: str, banned: frozenset[str]) -> Iterator[Edge]:
        return (self._twin(e) for e in self._links(target, banned))

    def _twin(self, link: Edge) -> Edge:
        return self._graph.edge(names.link(link.target, link.source))

    def _kind(self, name: str) -> object:
        return self._graph.node(name).properties["kind"]

    def _wired(self, name: str) -> Node:
        if name not in self._graph:
            known = [n.id for n in self._graph.nodes()]
            close = difflib.get_close_matches(name, known, n=1, cutoff=0.6)
            hint = f"did you mean '{close[0]}'?" if close else "the topology lists its components"
            raise RoutingError(f"'{name}' is not a component of this topology, {hint}")
        node = self._graph.node(name)
        if next(self._graph.out_edges(name, "LINK"), None) is None:
            raise RoutingError(f"'{name}' has no wires, name a component that has")
        return node


def _nm(links: tuple[Edge, ...]) -> int:
    return sum(weight_nm(link) for link in links)
