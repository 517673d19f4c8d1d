"""A machine with a part lost: what is left, and which parts everything between two sets depends on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import networkx as nx

from kernbench.errors import RoutingError
from kernbench.pgraph import Node, PropertyGraph
from kernbench.routing.router import Router
from kernbench.routing.traffic import TRANSIT_KINDS, Route, Traffic, forbidden

_SENDERS = {
    Traffic.PE_DMA: frozenset({"pe_dma"}),
    Traffic.MCPU_DMA: frozenset({"m_cpu"}),
    Traffic.HOST_MEMORY: frozenset({"host_cpu"}),
    Traffic.COMMAND: frozenset({"host_cpu", "io_cpu", "m_cpu", "pe_cpu"}),
}
_MEMORIES = frozenset({"hbm_ctrl", "sram", "pe_tcm"})


def without(graph: PropertyGraph, lost: str) -> tuple[PropertyGraph, set[str]]:
    """``graph`` less the links of ``lost``, and the ids of those links.

    ``lost`` is a link (with its twin), a component, or a group with all that is in it.
    :class:`RoutingError` for anything else.
    """
    if lost in graph:
        parts = set(members(graph, lost))
        gone = {e.id for e in graph.edges("LINK") if e.source in parts or e.target in parts}
    else:
        found = next((e for e in graph.edges("LINK") if e.id == lost), None)
        if found is None:
            raise RoutingError(f"'{lost}' is no link, component or group of the topology; name one of them")
        ends = {(found.source, found.target), (found.target, found.source)}
        gone = {e.id for e in graph.edges("LINK") if (e.source, e.target) in ends}
    rest = PropertyGraph(graph.properties)
    for node in graph.nodes():
        rest.add_node(node)
    for edge in graph.edges():
        if edge.id not in gone:
            rest.add_edge(edge)
    return rest, gone


def members(graph: PropertyGraph, name: str) -> Iterator[str]:
    """``name`` and all that it contains; :class:`RoutingError` when there is no such component or group."""
    if name not in graph:
        raise RoutingError(f"'{name}' is not in the topology; name a component, a PE, a cube or a SIP of it")
    yield name
    for edge in graph.out_edges(name, "CONTAINS"):
        yield from members(graph, edge.target)


def ways_in(graph: PropertyGraph, dst: str) -> tuple[str, ...]:
    """By way of what requests enter ``dst``: the channel routers of a slice that has them, by channel.

    Each channel's requests come by its own router and no other; ``("",)``, any way, for all else.
    """
    near = (graph.node(edge.target) for edge in graph.out_edges(dst, "LINK"))
    routers = [node for node in near if node.properties["kind"] == "channel_router"]
    if graph.node(dst).properties["kind"] != "hbm_ctrl" or not routers:
        return ("",)
    return tuple(node.id for node in sorted(routers, key=lambda node: int(node.properties["channel"])))


@dataclass(frozen=True, slots=True)
class Change:
    """A route over what was lost, and the one in its place; None where there is none."""

    before: Route
    after: Route | None


class Loss:
    """A machine, the same machine without ``lost`` (see :func:`without`), and what changes between them."""

    def __init__(self, graph: PropertyGraph, router: Router, lost: str) -> None:
        """``router`` is that of ``graph``, which is whole."""
        rest, self.gone = without(graph, lost)
        """Ids of the links that are lost."""
        self._graph, self._router, self._rest = graph, router, Router(rest)

    def change(self, src: str, dst: str, traffic: Traffic) -> Change | None:
        """What it does to the traffic from ``src`` to ``dst``; None for nothing.

        Where the channels of a slice have routers of their own there is a route for each: then the first
        channel that is cut off counts, else the one whose way is the longest now. :class:`RoutingError`
        where no way led before.
        """
        found: list[Change] = []
        for via in ways_in(self._graph, dst):
            before = self._router.route(src, dst, traffic, via)
            if self.gone.isdisjoint(link.id for link in before.links):
                continue
            try:
                found.append(Change(before, self._rest.route(src, dst, traffic, via)))
            except RoutingError:
                return Change(before, None)
        return max(found, key=lambda one: one.after.weight if one.after else 0.0, default=None)


def single_points(graph: PropertyGraph, src: str, dst: str, traffic: Traffic) -> list[str]:
    """Links and components on every possible way from ``src`` to ``dst``, in the order of passing.

    Each is a component, or a group of which those count that send or take this traffic. They themselves
    are not listed. Where the channels of a slice have routers of their own, a part counts that is on every
    way to one of the channels: without it, none of the bytes there can be had.
    :class:`RoutingError` when a name is unknown, a group has no such component, or there is no way at all.
    """
    senders = _ends(graph, src, _SENDERS[traffic], f"sends {traffic} traffic")
    wanted = _SENDERS[traffic] if traffic is Traffic.COMMAND else _MEMORIES
    takers = _ends(graph, dst, wanted, f"takes {traffic} traffic")
    places = {(n.properties["sip"], n.properties["cube"]) for n in senders + takers}
    within = len(places) == 1 and next(iter(places))[1] != -1
    banned = forbidden(traffic, same_cube=within)
    entries = {node.id: ways_in(graph, node.id) for node in takers}
    found: dict[str, int] = {}
    for channel in range(max(map(len, entries.values()))):
        allowed = {taker: ways[channel % len(ways)] for taker, ways in entries.items()}
        chain = _on_every_way(graph, senders, allowed, banned)
        if chain is None:
            raise RoutingError(
                f"there is no way from '{src}' to '{dst}' for {traffic} traffic; name other sets"
            )
        for place, name in enumerate(chain):
            found.setdefault(name, place)
    return sorted(found, key=found.__getitem__)


def _on_every_way(
    graph: PropertyGraph, senders: Sequence[Node], takers: Mapping[str, str], banned: frozenset[str]
) -> list[str] | None:
    """What every way from a sender to a taker passes, in order; None when there is no way.

    ``takers`` says by way of what each is entered, "" for anything.
    """
    start, goal = ("start", ""), ("goal", "")
    ways: nx.DiGraph[tuple[str, str]] = nx.DiGraph([(start, ("from", node.id)) for node in senders])
    ways.add_node(goal)
    sends = {node.id for node in senders}
    for link in graph.edges("LINK"):
        if link.properties["kind"] in banned:
            continue
        wire = ("link", link.id)
        kind = str(graph.node(link.source).properties["kind"])
        if link.source in sends:
            ways.add_edge(("from", link.source), wire)
        if kind in TRANSIT_KINDS or _leads_to(graph, kind, link.target) or kind == "channel_router":
            ways.add_edge(("through", link.source), wire)
        ways.add_edge(wire, ("through", link.target))
        if takers.get(link.target) in ("", link.source):
            ways.add_edge(wire, goal)
    if not nx.has_path(ways, start, goal):
        return None
    above = nx.immediate_dominators(ways, start)
    chain: list[str] = []
    here = above[goal]
    while here != start:
        if here[0] != "from":
            chain.append(here[1])
        here = above[here]
    return chain[::-1]


def _leads_to(graph: PropertyGraph, kind: str, target: str) -> bool:
    """A PE's DMA is passed through on the way to that PE's TCM."""
    return kind == "pe_dma" and graph.node(target).properties["kind"] == "pe_tcm"


def _ends(graph: PropertyGraph, name: str, kinds: frozenset[str], what: str) -> list[Node]:
    inside = [graph.node(part) for part in members(graph, name)]
    if inside[0].properties["impl"]:
        return inside[:1]
    found = [node for node in inside if node.properties["kind"] in kinds]
    if not found:
        raise RoutingError(f"nothing in '{name}' {what}; name another component or group")
    return found
