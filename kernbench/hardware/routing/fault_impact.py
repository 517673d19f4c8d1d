"""The impact of a fault: the routes without a failed part, and single points of failure between two sets."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from kernbench.errors import RoutingError
from kernbench.hardware.kinds import ComponentKind, Traffic, component_kind
from kernbench.hardware.routing.route import Route, forbidden
from kernbench.hardware.routing.router import Router
from kernbench.hardware.topology import harvest
from kernbench.support.pgraph import Node, PropertyGraph

_Point = tuple[str, str]
"""A link, or a component as one that sends ("from") or is passed ("through"), with its name."""
_START: _Point = ("start", "")
_GOAL: _Point = ("goal", "")


def without(graph: PropertyGraph, failed: str) -> tuple[PropertyGraph, set[str]]:
    """``graph`` without the links of ``failed``, and the ids of those links.

    ``failed`` is a link (its twin fails with it), a component, or a group with all that is in it.
    :class:`RoutingError` for anything else.
    """
    if failed in graph:
        parts = set(members(graph, failed))
        gone = {e.id for e in graph.edges("LINK") if e.source in parts or e.target in parts}
    else:
        found = next((e for e in graph.edges("LINK") if e.id == failed), None)
        if found is None:
            raise RoutingError(f"'{failed}' is not a link, component or group of the topology; name one")
        ends = {(found.source, found.target), (found.target, found.source)}
        gone = {e.id for e in graph.edges("LINK") if (e.source, e.target) in ends}
    return harvest.without(graph, gone), gone


def members(graph: PropertyGraph, name: str) -> Iterator[str]:
    """``name`` and all that it contains; :class:`RoutingError` when there is no such component or group."""
    if name not in graph:
        raise RoutingError(f"'{name}' is not in the topology; name a component, a PE, a cube or a SIP of it")
    yield name
    for edge in graph.out_edges(name, "CONTAINS"):
        yield from members(graph, edge.target)


def entrances(graph: PropertyGraph, dst: str) -> tuple[str, ...]:
    """The components through which requests enter ``dst``: the channel routers of an HBM slice, by channel.

    The requests for a channel enter by its own router alone. ``("",)`` stands for any entrance, where the
    destination has no channel routers.
    """
    kind = graph.node(dst).properties["kind"]
    near = (graph.node(edge.target) for edge in graph.out_edges(dst, "LINK"))
    routers = [node for node in near if _is_channel(component_kind(node), kind)]
    if not routers:
        return ("",)
    return tuple(node.id for node in sorted(routers, key=lambda node: int(node.properties["channel"])))


@dataclass(frozen=True, slots=True)
class Reroute:
    """A route over the failed part, and the route that replaces it; None where there is none."""

    before: Route
    after: Route | None


class FaultImpact:
    """The routes of a machine before and after ``failed`` (see :func:`without`) fails."""

    def __init__(self, graph: PropertyGraph, router: Router, failed: str) -> None:
        """``router`` is that of ``graph``, the machine without the fault."""
        rest, self.gone = without(graph, failed)
        """Ids of the links that fail."""
        self._graph, self._router, self.rest = graph, router, Router(rest)
        """``rest`` is the router of the machine with the fault."""

    def reroute(self, src: str, dst: str, traffic: Traffic) -> Reroute | None:
        """The change to the route from ``src`` to ``dst``; None if it does not change.

        A slice with channel routers has a route for each channel: the first channel that is cut off counts,
        otherwise the one whose new route is the longest. :class:`RoutingError` where there was no route even
        before the fault.
        """
        found: list[Reroute] = []
        for via in entrances(self._graph, dst):
            before = self._router.route(src, dst, traffic, via)
            if self.gone.isdisjoint(link.id for link in before.links):
                continue
            try:
                found.append(Reroute(before, self.rest.route(src, dst, traffic, via)))
            except RoutingError:
                return Reroute(before, None)
        return max(found, key=lambda one: one.after.weight if one.after else 0.0, default=None)


def single_points(graph: PropertyGraph, src: str, dst: str, traffic: Traffic) -> list[str]:
    """Links and components on every possible path from ``src`` to ``dst``, in the order met.

    ``src`` and ``dst`` are components, or groups: of a group, the components that send or receive this
    traffic. They are not listed themselves. For a slice with channel routers, a part counts if it is on every
    path to one of the channels. :class:`RoutingError` when a name is unknown, a group has no such component,
    or there is no path at all.
    """

    def sends(kind: ComponentKind) -> bool:
        return kind.commands if traffic is Traffic.COMMAND else kind.sends is traffic

    def receives(kind: ComponentKind) -> bool:
        return kind.commands if traffic is Traffic.COMMAND else bool(kind.memory)

    senders = _ends(graph, src, sends, f"sends {traffic} traffic")
    receivers = _ends(graph, dst, receives, f"receives {traffic} traffic")
    cubes = {(n.properties["sip"], n.properties["cube"]) for n in senders + receivers}
    within = len(cubes) == 1 and next(iter(cubes))[1] != -1
    # PE links that are allowed for the sake of a TCM lead nowhere else: no route passes through a PE.
    of_tcm = any(node.properties["kind"] == "pe_tcm" for node in receivers)
    banned = forbidden(traffic, same_cube=within, of_tcm=of_tcm)
    entries = {node.id: entrances(graph, node.id) for node in receivers}
    found: dict[str, int] = {}
    for channel in range(max(map(len, entries.values()))):
        allowed = {receiver: of[channel % len(of)] for receiver, of in entries.items()}
        passed = _on_every_path(graph, senders, allowed, banned)
        if passed is None:
            raise RoutingError(
                f"there is no path from '{src}' to '{dst}' for {traffic} traffic; name other sets"
            )
        for position, name in enumerate(passed):
            found.setdefault(name, position)
    return sorted(found, key=found.__getitem__)


def _on_every_path(
    graph: PropertyGraph, senders: Sequence[Node], receivers: Mapping[str, str], banned: frozenset[str]
) -> list[str] | None:
    """Links and components on every path from a sender to a receiver, in order; None without a path.

    ``receivers`` maps each receiver to its entrance, "" for any.
    """
    kinds = {node.id: component_kind(node) for node in graph.nodes()}
    sends = {node.id for node in senders}
    paths: list[tuple[_Point, _Point]] = [(_START, ("from", node.id)) for node in senders]
    for link in graph.edges("LINK"):
        if link.properties["kind"] in banned:
            continue
        wire = ("link", link.id)
        kind = kinds[link.source]
        if link.source in sends:
            paths.append((("from", link.source), wire))
        if kind.transit or kind.forwards_flits or kind.entrance_to == kinds[link.target].kind:
            paths.append((("through", link.source), wire))
        paths.append((wire, ("through", link.target)))
        if receivers.get(link.target) in ("", link.source):
            paths.append((wire, _GOAL))
    passed = _cut_points(paths)
    return None if passed is None else [name for how, name in passed if how != "from"]


def _cut_points(paths: Sequence[tuple[_Point, _Point]]) -> list[_Point] | None:
    """Points on every way from the start to the goal, in order; None where there is no way.

    Each lies on any one way too, so only the points of a shortest way count. Such a point is on every way
    unless a detour that begins before it joins this way again after it.
    """
    leads_to: dict[_Point, list[_Point]] = {}
    for source, target in paths:
        leads_to.setdefault(source, []).append(target)
    way = _shortest_way(leads_to)
    if not way:
        return None
    place_of = {point: place for place, point in enumerate(way)}
    farthest = 0  # where detours join the way again
    found, met = [], set(way)
    for place, point in enumerate(way[:-1]):
        if 0 < place == farthest:
            found.append(point)
        ahead = [point]
        while ahead:
            for after in leads_to.get(ahead.pop(), ()):
                farthest = max(farthest, place_of.get(after, 0))
                if after not in met:
                    met.add(after)
                    ahead.append(after)
    return found


def _shortest_way(leads_to: Mapping[_Point, Sequence[_Point]]) -> list[_Point]:
    """A way of the fewest points from the start to the goal, both included; [] where there is none."""
    before = {_START: _START}
    ahead = [_START]
    for point in ahead:
        for after in leads_to.get(point, ()):
            if after not in before:
                before[after] = point
                ahead.append(after)
    if _GOAL not in before:
        return []
    way = [_GOAL]
    while way[-1] != _START:
        way.append(before[way[-1]])
    return way[::-1]


def _is_channel(kind: ComponentKind, memory: object) -> bool:
    """It forwards the requests for one channel of a ``memory``."""
    return kind.forwards_flits and kind.entrance_to == memory


def _ends(graph: PropertyGraph, name: str, wanted: Callable[[ComponentKind], bool], what: str) -> list[Node]:
    inside = [graph.node(part) for part in members(graph, name)]
    if inside[0].properties["impl"]:
        return inside[:1]
    found = [node for node in inside if wanted(component_kind(node))]
    if not found:
        raise RoutingError(f"nothing in '{name}' {what}; name another component or group")
    return found
