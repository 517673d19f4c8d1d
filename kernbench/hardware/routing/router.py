"""Routes between components: shortest by weight, restricted by the kind of traffic."""

from __future__ import annotations

from collections import OrderedDict
from threading import get_ident

from kernbench.errors import RoutingError
from kernbench.hardware.kinds import ComponentKind, Traffic, component_kind
from kernbench.hardware.routing.connections import ConnectionPolicy
from kernbench.hardware.routing.core import NM_PER_MM, build_core, weight_nm
from kernbench.hardware.routing.preference import Preference
from kernbench.hardware.routing.route import UCIE_KINDS, Route, forbidden
from kernbench.hardware.routing.tables import RouteTable, Tables
from kernbench.support.hints import closest
from kernbench.support.pgraph import Edge, Node, PropertyGraph

TABLE_BYTES = 128 << 20
"""Memory in bytes that a router spends on tables before it drops the least recently used."""
_DECISIVE = ("routing_connection", "answers", "spread", "one_way_links")
"""Properties of a machine that routes depend on; likewise of links."""
_OF_LINKS = ("kind", "routing_weight", "axis", "way", "dealt")
FEWEST_TABLES = 16
"""So many it keeps, however large."""


class Attachment:
    """A way between a component and the core: its links, their weight, and where they meet the core."""

    def __init__(self, links: list[Edge], name: str, at: int) -> None:
        self.links = links
        self.weight_nm = 0
        for link in links:
            self.weight_nm += weight_nm(link)
        self.name = name
        self.at = at
        """Number of that component in the core; -1 where it is none of the core's."""


class RouteCandidate:
    """A possible route: links before the core, the core from a place of a table, links after it."""

    def __init__(
        self,
        weight_nm: int,
        order: int,
        first: list[Edge],
        table: RouteTable | None,
        place: int,
        last: list[Edge],
    ) -> None:
        self.weight_nm = weight_nm
        self.order = order
        self.first = first
        self.table = table
        """None: it has no part in the core."""
        self.place = place
        self.last = last


class Router:
    """Shortest routes over a compiled topology.

    Weights are the links' ``routing_weight``. Equal weights are decided by: the UCIe connection nearest
    the destination's row or column (or the first one, if the topology says so), fewer hops, moves along
    x before moves along y, what a machine's arrays prefer (:mod:`kernbench.hardware.routing.preference`),
    name. Routes pass through transit components only; PE_DMA is passed through on the way to and from its own
    PE's TCM, a channel router on the way to and from its slice. Answers go back the
    same way, or on the shortest route of their own where a link of it is one-way or the machine says so. The
    same question is answered with the same object.
    """

    def __init__(self, graph: PropertyGraph, own_back: bool = False) -> None:
        self._graph = graph
        self.own_back = own_back or graph.properties.get("answers") == "own"
        """Whether answers take routes of their own."""
        self.one_way = bool(graph.properties.get("one_way_links"))
        """Whether there are links without one back."""
        self._core = build_core(graph)
        self._connections = ConnectionPolicy(graph, self._core)
        self._preference = Preference(self._core, str(graph.properties.get("spread", "")))
        self._within, self._anywhere = Tables(self._core, True), Tables(self._core, False)
        self._tables: OrderedDict[tuple[int, bool], RouteTable] = OrderedDict()
        self._table_bytes = 0
        self._routes: dict[tuple[str, str, Traffic, str], Route] = {}
        self._departures: dict[tuple[str, frozenset[str]], list[Attachment]] = {}
        self._arrivals: dict[tuple[str, frozenset[str]], list[Attachment]] = {}
        self._out: dict[str, list[Edge]] = {}
        """The links that leave each component; likewise ``_into``."""
        self._kinds: dict[str, ComponentKind] = {}
        self._into: dict[str, list[Edge]] = {}
        for link in graph.edges("LINK"):
            self._out.setdefault(link.source, []).append(link)
            self._into.setdefault(link.target, []).append(link)

    @property
    def links(self) -> list[Edge]:
        """Links of the core, by the numbers that tables have."""
        return self._core.links

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
        best = self.shortest(a, b, traffic, via)
        links = self._links(best)
        back: tuple[str, ...] = ()
        one_way = self.one_way and not all(self._has_twin(link) for link in links)
        if self.own_back or one_way:
            try:
                back = (dst, *[link.target for link in self._links(self.shortest(b, a, traffic, ""))])
            except RoutingError:
                if one_way:
                    raise
                # As from a TCM to another part of its PE: its answers go the way back.
        nodes = (src, *[link.target for link in links])
        return Route(nodes, tuple(links), best.weight_nm / NM_PER_MM, back)

    def shortest(self, a: Node, b: Node, traffic: Traffic, via: str) -> RouteCandidate:
        """The first of the shortest routes from ``a`` to ``b``; see :meth:`route`."""
        banned = _banned(a, b, traffic)
        best = self._best(a, b, banned, via)
        if best is None:
            reason = f", which may not use links of kind {', '.join(sorted(banned))}" if banned else ""
            through = f" by way of '{via}'" if via else ""
            raise RoutingError(f"no route from '{a.id}' to '{b.id}'{through} for {traffic} traffic{reason}")
        return best

    def usable(self, src: str, dst: str, traffic: Traffic, via: str = "") -> list[Edge]:
        """The links of all possible routes from ``src`` to ``dst``; see :meth:`route`."""
        a, b = self._wired(src), self._wired(dst)
        banned = _banned(a, b, traffic)
        within = banned >= UCIE_KINDS
        found = [link for link in self._core.links if not (within and link.properties["kind"] in UCIE_KINDS)]
        for way in self._ways_from(a, banned):
            found += way.links
        for way in self._ways_to(b, banned):
            count = len(way.links)
            if not via or (count and way.links[count - 1].source == via):
                found += way.links
        return [link for link in found if link.target != src and link.source != dst]

    def _best(self, a: Node, b: Node, banned: frozenset[str], via: str) -> RouteCandidate | None:
        """The first of the shortest, None where there is none."""
        best: RouteCandidate | None = None
        departures = self._ways_from(a, banned)
        for last in self._ways_to(b, banned):
            count = len(last.links)
            if via and not (count and last.links[count - 1].source == via):
                continue
            if count and last.name == a.id and (best is None or _before(last.weight_nm, count, best)):
                best = RouteCandidate(last.weight_nm, count, [], None, 0, last.links)
            if last.at < 0:
                continue
            table = self._table(last.at, banned >= UCIE_KINDS)
            for first in departures:
                place = table.place(first.at)
                if place < 0:
                    continue
                weight = table.weight_from(place) + (first.weight_nm + last.weight_nm)
                order = table.order_from(place) + len(first.links) + count
                if best is None or _before(weight, order, best):
                    best = RouteCandidate(weight, order, first.links, table, place, last.links)
        return best

    def _links(self, best: RouteCandidate) -> list[Edge]:
        if best.table is None:
            return best.last
        links = self._core.links
        return best.first + [links[number] for number in best.table.way(best.place)] + best.last

    def _has_twin(self, link: Edge) -> bool:
        return any(back.target == link.source for back in self._out.get(link.target, ()))

    def _ways_from(self, a: Node, banned: frozenset[str]) -> list[Attachment]:
        """The ways from a component into the core."""
        key = (a.id, banned)
        found = self._departures.get(key)
        if found is not None:
            return found
        index = self._core.index
        found = self._departures[key] = []
        if a.id in index:
            found.append(Attachment([], a.id, index[a.id]))
            return found
        for link in self._allowed(self._out, a.id, banned):
            if link.target in index:
                found.append(Attachment([link], link.target, index[link.target]))
            elif self._kind(link.target).entrance_to == a.properties["kind"]:
                for on in self._allowed(self._out, link.target, banned):
                    if on.target in index:
                        found.append(Attachment([link, on], on.target, index[on.target]))
        return found

    def _ways_to(self, b: Node, banned: frozenset[str]) -> list[Attachment]:
        """The ways from the core, or from a component beside it, into a component."""
        key = (b.id, banned)
        found = self._arrivals.get(key)
        if found is not None:
            return found
        index = self._core.index
        found = self._arrivals[key] = []
        if b.id in index:
            found.append(Attachment([], b.id, index[b.id]))
            return found
        for link in self._allowed(self._into, b.id, banned):
            found.append(Attachment([link], link.source, index.get(link.source, -1)))
            if self._kind(link.source).entrance_to == b.properties["kind"]:
                for before in self._allowed(self._into, link.source, banned):
                    if before.source != b.id:
                        found.append(Attachment([before, link], before.source, index.get(before.source, -1)))
        return found

    def _allowed(self, links: dict[str, list[Edge]], name: str, banned: frozenset[str]) -> list[Edge]:
        return [link for link in links.get(name, ()) if link.properties["kind"] not in banned]

    def _table(self, destination: int, within_cube: bool) -> RouteTable:
        key = (destination, within_cube)
        table = self._tables.get(key)
        if table is not None:
            self._tables.move_to_end(key)
            return table
        policy = self._connections
        location = policy.destination(self._core.names[destination])
        maker = self._within if within_cube else self._anywhere
        table = self._tables[key] = maker.table(
            destination, policy.costs(location), self._preference.ranks(destination)
        )
        self._table_bytes += table.nbytes
        while self._table_bytes > TABLE_BYTES and len(self._tables) > FEWEST_TABLES:
            self._table_bytes -= self._tables.popitem(last=False)[1].nbytes
        return table

    def _kind(self, name: str) -> ComponentKind:
        found = self._kinds.get(name)
        if found is None:
            found = self._kinds[name] = component_kind(self._graph.node(name))
        return found

    def _wired(self, name: str) -> Node:
        if name in self._out:
            return self._graph.node(name)
        if name not in self._graph:
            close = closest(name, [n.id for n in self._graph.nodes()])
            hint = f"did you mean '{close}'?" if close else "the topology lists its components"
            raise RoutingError(f"'{name}' is not a component of this topology, {hint}")
        raise RoutingError(f"'{name}' has no wires, name a component that has")


def _banned(a: Node, b: Node, traffic: Traffic) -> frozenset[str]:
    """Kinds of link that the traffic may not use between the two."""
    p, q = a.properties, b.properties
    same_cube = p["cube"] != -1 and p["cube"] == q["cube"] and p["sip"] == q["sip"]
    return forbidden(traffic, same_cube, of_tcm="pe_tcm" in (p["kind"], q["kind"]))


def _before(weight_nm: int, order: int, best: RouteCandidate) -> bool:
    return weight_nm < best.weight_nm or (weight_nm == best.weight_nm and order < best.order)


def router_of(graph: PropertyGraph) -> Router:
    """The router of a compiled topology, which is kept with it: the next run on it has its routes already.

    A thread has one of its own. What routes depend on is looked at: a graph that was changed gets a new one.
    """
    now = [
        (e.source, e.target, *map(e.properties.get, _OF_LINKS))
        for e in graph.edges("LINK")
    ], [*map(_decisive, graph.nodes())], [graph.properties.get(key) for key in _DECISIVE]  # fmt: skip
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
