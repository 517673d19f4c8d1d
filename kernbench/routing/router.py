"""Routes between components: shortest by weight, restricted by the kind of traffic."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator
from functools import cached_property
from math import inf
from threading import get_ident
from typing import NamedTuple

from kernbench.errors import RoutingError
from kernbench.hints import closest
from kernbench.kinds import ComponentKind, Traffic, component_kind
from kernbench.pgraph import Edge, Node, PropertyGraph
from kernbench.routing.connections import ConnectionPolicy
from kernbench.routing.core import NM_PER_MM, build_core, weight_nm
from kernbench.routing.route import UCIE_KINDS, Route, forbidden
from kernbench.routing.tables import Table, Tables
from kernbench.topology import names

TABLE_BYTES = 128 << 20
"""Memory in bytes that a router spends on tables before it drops the least recently used."""
FEWEST_TABLES = 16
"""So many it keeps, however large."""


class _Candidate(NamedTuple):
    """A possible route: links before the core, the core from one component to another, links after it."""

    weight_nm: float
    order: float
    first: tuple[Edge, ...]
    core: tuple[Table, int, int] | None
    last: tuple[Edge, ...]


class _Attached(NamedTuple):
    """A way between a component and the core: its links, their weight, and where they meet the core."""

    links: tuple[Edge, ...]
    weight_nm: int
    name: str
    at: int | None
    """Number of that component in the core; None where it is none of the core's."""


class Router:
    """Shortest routes over a compiled topology (ADR-0002, ADR-0051).

    Weights are the links' ``routing_weight``. Equal weights are decided by: the UCIe connection nearest
    the destination's row or column (or the first one, if the topology says so), fewer hops, moves along
    x before moves along y, name. Routes pass through transit components only; PE_DMA is passed through
    on the way to its own PE's TCM, a channel router on the way to and from its slice. Answers go back the
    same way, or on the shortest route of their own where a link of it is one-way. The same question is
    answered with the same object.
    """

    def __init__(self, graph: PropertyGraph) -> None:
        self._graph = graph
        self._one_way = bool(graph.properties.get("one_way_links"))
        """Whether there are links without one back."""
        self._core = build_core(graph)
        self._connections = ConnectionPolicy(graph, self._core)
        self._makers = {within: Tables(self._core, within) for within in (False, True)}
        self._tables: OrderedDict[tuple[int, bool], Table] = OrderedDict()
        self._table_bytes = 0
        self._routes: dict[tuple[str, str, Traffic, str], Route] = {}
        self._targets: list[int] = self._core.target.tolist()
        self._wires: dict[str, Node] = {}
        self._departures: dict[tuple[str, frozenset[str]], list[_Attached]] = {}
        self._arrivals: dict[tuple[str, frozenset[str]], list[_Attached]] = {}

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

    def _find(self, src: str, dst: str, traffic: Traffic, via: str) -> Route:
        a, b = self._wired(src), self._wired(dst)
        if src == dst:
            return Route((src,), (), 0.0)
        links, weight = self._shortest(a, b, traffic, via)
        back: tuple[str, ...] = ()
        if self._one_way and not all(self._has_twin(link) for link in links):
            back = (dst, *(link.target for link in self._shortest(b, a, traffic, "")[0]))
        return Route((src, *(link.target for link in links)), links, weight, back)

    def _shortest(self, a: Node, b: Node, traffic: Traffic, via: str) -> tuple[tuple[Edge, ...], float]:
        """Links of the shortest route between two components, and their weight in mm."""
        cube_a, cube_b = ((n.properties["sip"], n.properties["cube"]) for n in (a, b))
        same_cube = cube_a == cube_b and cube_a[1] != -1
        banned = forbidden(traffic, same_cube, to_tcm=b.properties["kind"] == "pe_tcm")
        best = min(self._candidates(a, b, banned, via), key=lambda c: (c.weight_nm, c.order), default=None)
        if best is None:
            reason = f", which may not use links of kind {', '.join(sorted(banned))}" if banned else ""
            through = f" by way of '{via}'" if via else ""
            raise RoutingError(f"no route from '{a.id}' to '{b.id}'{through} for {traffic} traffic{reason}")
        return (*best.first, *self._walk(best), *best.last), best.weight_nm / NM_PER_MM

    def _has_twin(self, link: Edge) -> bool:
        return any(back.target == link.source for back in self._graph.out_edges(link.target, "LINK"))

    def _candidates(self, a: Node, b: Node, banned: frozenset[str], via: str) -> Iterator[_Candidate]:
        arrivals = self._arrivals.get((b.id, banned))
        if arrivals is None:
            arrivals = self._arrivals[b.id, banned] = self._attached(self._find_arrivals(b, banned))
        departures = self._departures.get((a.id, banned))
        if departures is None:
            departures = self._departures[a.id, banned] = self._attached(
                (links, links[-1].target if links else a.id) for links in self._find_departures(a, banned)
            )
        for last in arrivals:
            if via and not (last.links and last.links[-1].source == via):
                continue
            if last.name == a.id and last.links:
                yield _Candidate(last.weight_nm, len(last.links), (), None, last.links)
            if last.at is None:
                continue
            table = self._table(last.at, within_cube=banned >= UCIE_KINDS)
            for first in departures:
                assert first.at is not None
                weight, order = table.criteria(first.at)
                if weight != inf:
                    yield _Candidate(
                        weight + (first.weight_nm + last.weight_nm),
                        order + (len(first.links) + len(last.links)),
                        first.links,
                        (table, first.at, last.at),
                        last.links,
                    )

    def _attached(self, ways: Iterable[tuple[tuple[Edge, ...], str]]) -> list[_Attached]:
        """The ways, given with where they meet the core, with what else is known of each."""
        number = self._core.index.get
        return [_Attached(links, _nm(links), name, number(name)) for links, name in ways]

    def _find_departures(self, a: Node, banned: frozenset[str]) -> list[tuple[Edge, ...]]:
        """The link sequences from a component into the core."""
        if a.id in self._core.index:
            return [()]
        found: list[tuple[Edge, ...]] = []
        for link in self._links(a.id, banned):
            if link.target in self._core.index:
                found.append((link,))
            elif self._kind(link.target).forwards_flits:
                found += [
                    (link, on) for on in self._links(link.target, banned) if on.target in self._core.index
                ]
        return found

    def _find_arrivals(self, b: Node, banned: frozenset[str]) -> Iterator[tuple[tuple[Edge, ...], str]]:
        """The link sequences from the core into a component: (links, the component where they start)."""
        if b.id in self._core.index:
            yield (), b.id
            return
        for link in self._links_into(b.id, banned):
            yield (link,), link.source
            if self._kind(link.source).entrance_to == b.properties["kind"]:
                for before in self._links_into(link.source, banned):
                    if before.source != b.id:
                        yield (before, link), before.source

    def _walk(self, candidate: _Candidate) -> list[Edge]:
        if candidate.core is None:
            return []
        table, here, target = candidate.core
        return [self._core.links[number] for number in table.way(here, target, self._targets)]

    def _table(self, destination: int, within_cube: bool) -> Table:
        key = (destination, within_cube)
        table = self._tables.get(key)
        if table is not None:
            self._tables.move_to_end(key)
            return table
        policy = self._connections
        location = policy.destination(self._core.names[destination])
        table = self._makers[within_cube].table(destination, policy.costs(location))
        self._tables[key] = table
        self._table_bytes += table.nbytes
        while self._table_bytes > TABLE_BYTES and len(self._tables) > FEWEST_TABLES:
            self._table_bytes -= self._tables.popitem(last=False)[1].nbytes
        return table

    def _links(self, source: str, banned: frozenset[str]) -> Iterator[Edge]:
        return (e for e in self._graph.out_edges(source, "LINK") if e.properties["kind"] not in banned)

    def _links_into(self, target: str, banned: frozenset[str]) -> Iterator[Edge]:
        if self._one_way:
            return (e for e in self._incoming.get(target, ()) if e.properties["kind"] not in banned)
        return (self._twin(e) for e in self._links(target, banned))

    @cached_property
    def _incoming(self) -> dict[str, list[Edge]]:
        """The links into each component, of a machine whose links are not all in pairs."""
        found: dict[str, list[Edge]] = {}
        for link in self._graph.edges("LINK"):
            found.setdefault(link.target, []).append(link)
        return found

    def _twin(self, link: Edge) -> Edge:
        return self._graph.edge(names.link(link.target, link.source))

    def _kind(self, name: str) -> ComponentKind:
        return component_kind(self._graph.node(name))

    def _wired(self, name: str) -> Node:
        known = self._wires.get(name)
        if known is not None:
            return known
        if name not in self._graph:
            close = closest(name, [n.id for n in self._graph.nodes()])
            hint = f"did you mean '{close}'?" if close else "the topology lists its components"
            raise RoutingError(f"'{name}' is not a component of this topology, {hint}")
        node = self._graph.node(name)
        if next(self._graph.out_edges(name, "LINK"), None) is None:
            raise RoutingError(f"'{name}' has no wires, name a component that has")
        self._wires[name] = node
        return node


def router_of(graph: PropertyGraph) -> Router:
    """The router of a compiled topology, which is kept with it: the next run on it has its routes already.

    A thread has one of its own. What routes depend on is looked at: a graph that was changed gets a new one.
    """
    now = [
        (e.source, e.target, e.properties["kind"], e.properties["routing_weight"])
        for e in graph.edges("LINK")
    ], [*map(_decisive, graph.nodes())], graph.properties.get("routing_connection")  # fmt: skip
    key = "router", get_ident()
    before, router = graph.worked_out.get(key, (None, None))
    if before == now:
        assert isinstance(router, Router)
        return router
    fresh = Router(graph)
    graph.worked_out[key] = now, fresh
    return fresh


def _decisive(node: Node) -> tuple[object, ...]:
    """What a route over or to a node depends on."""
    p = node.properties
    return node.id, p.get("kind"), p.get("sip"), p.get("cube"), p.get("row"), p.get("x_mm"), p.get("y_mm")


def _nm(links: tuple[Edge, ...]) -> int:
    return sum(weight_nm(link) for link in links)
