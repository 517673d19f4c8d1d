"""What the library's questions about routes need and no store knows: the router's answers.

A question names what it needs as a derived parameter; here is who works it out, by the question's name.
The router is made from the topology that the run was kept with, so these are the simulator's own routes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

from kernbench.api.topologies import component
from kernbench.errors import RoutingError
from kernbench.pgraph import GraphStore, PropertyGraph, Question
from kernbench.routing import Route, Router, Traffic
from kernbench.routing.loss import single_points, without

Rows = list[dict[str, Any]]
_SENDS = {"pe_dma": Traffic.PE_DMA, "m_cpu": Traffic.MCPU_DMA, "host_cpu": Traffic.HOST_MEMORY}
_MOVES = ("dma_read", "dma_write", "host_read", "host_write")


class Routed:
    """A kept topology with its router."""

    def __init__(self, graph: PropertyGraph) -> None:
        self.graph = graph
        self.router = Router(graph)

    def name(self, text: object) -> str:
        """The component that a user means; ``UsageError`` when there is none."""
        return component(self.graph, str(text))

    def route(self, src: object, dst: object, traffic: object, via: str = "") -> Route:
        """The simulator's route; ``RoutingError`` when there is none."""
        return self.router.route(self.name(src), self.name(dst), Traffic(str(traffic)), via)

    def latency_ns(self, route: Route) -> float:
        """Time of a message without bytes over ``route`` on an idle machine, ns."""
        per_mm = float(self.graph.properties["ns_per_mm"])
        overheads = sum(float(self.graph.node(name).properties["overhead_ns"]) for name in route.nodes)
        return overheads + per_mm * sum(float(link.properties["distance_mm"]) for link in route.links)


@lru_cache(maxsize=4)
def _routed(spec: str) -> Routed:
    from kernbench.topology import compile_topology
    from kernbench.topology.loader import parse

    return Routed(compile_topology(parse(spec, "kept topology")))


def derive(store: GraphStore, question: Question, run: str, params: Mapping[str, Any]) -> dict[str, Rows]:
    """The derived parameters of ``question``, asked of ``run``; the others are ``params``."""
    if not question.derived:
        return {}
    run_id = store.resolve(run)
    info = next(info for info in store.runs() if info["id"] == run_id)
    routed = _routed(store.load_topology(str(info["topology"])).spec)
    return {name: _DERIVE[question.name](routed, params, store, run_id) for name in question.derived}


def _path(routed: Routed, p: Mapping[str, Any], store: GraphStore, run: str) -> Rows:
    route = routed.route(p["src"], p["dst"], p["traffic"], p["via"])
    return [
        {"seq": seq, "link": link.id, "path_weight": route.weight, "hops": len(route.links)}
        for seq, link in enumerate(route.links, 1)
    ]


def _shared(routed: Routed, p: Mapping[str, Any], store: GraphStore, run: str) -> Rows:
    first = routed.route(p["src"], p["dst"], p["traffic"])
    second = routed.route(p["other_src"], p["other_dst"], p["traffic"])
    place = {link.id: seq for seq, link in enumerate(second.links, 1)}
    return [
        {"seq": seq, "other_seq": place[link.id], "link": link.id}
        for seq, link in enumerate(first.links, 1)
        if link.id in place
    ]


def _reach(routed: Routed, p: Mapping[str, Any], store: GraphStore, run: str) -> Rows:
    found: Rows = []
    for node in routed.graph.nodes():
        if not node.properties["impl"] or p["kind"] not in ("", node.properties["kind"]):
            continue
        try:
            route = routed.route(p["src"], node.id, p["traffic"])
        except RoutingError:
            continue
        ns = routed.latency_ns(route)
        found.append({"component": node.id, "weight": route.weight, "hops": len(route.links), "ns": ns})
    return found


def _loss(routed: Routed, p: Mapping[str, Any], store: GraphStore, run: str) -> Rows:
    rest, gone = without(routed.graph, str(p["lost"]))
    other = Routed(rest)
    table = store.load(run).tables["Transaction"].select(["src", "dst", "kind"])
    pairs = sorted({(row["src"], row["dst"], row["kind"]) for row in table.to_pylist()})
    changed: dict[tuple[str, str, Traffic], dict[str, Any]] = {}
    for src, dst, kind in pairs:
        if kind.startswith("tcm_"):
            continue  # within a PE, where nothing is routed
        sender = str(routed.graph.node(src).properties["kind"])
        traffic = _SENDS.get(sender, Traffic.COMMAND) if kind in _MOVES else Traffic.COMMAND
        try:
            route = routed.router.route(src, dst, traffic)
        except RoutingError:
            continue
        if not gone.intersection(link.id for link in route.links):
            continue
        row: dict[str, Any] = {
            "src": src,
            "dst": dst,
            "traffic": traffic.value,
            "weight": route.weight,
            "ns": routed.latency_ns(route),
        }
        try:
            new = other.router.route(src, dst, traffic)
            row |= {"reachable": True, "new_weight": new.weight, "new_ns": other.latency_ns(new)}
        except RoutingError:
            row |= {"reachable": False, "new_weight": 0.0, "new_ns": 0.0}
        changed[src, dst, traffic] = row
    return list(changed.values())


def _points(routed: Routed, p: Mapping[str, Any], store: GraphStore, run: str) -> Rows:
    points = single_points(routed.graph, str(p["src"]), str(p["dst"]), Traffic(str(p["traffic"])))
    return [{"seq": seq, "id": point} for seq, point in enumerate(points, 1)]


_DERIVE: dict[str, Callable[[Routed, Mapping[str, Any], GraphStore, str], Rows]] = {
    "routing/path": _path,
    "routing/shared-links": _shared,
    "routing/distances": _reach,
    "routing/within": _reach,
    "routing/loss": _loss,
    "routing/single-points": _points,
}
