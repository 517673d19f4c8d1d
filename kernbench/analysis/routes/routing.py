"""The simulator's routes on the topology that a run was kept with."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from itertools import pairwise

from kernbench.errors import RoutingError, UsageError
from kernbench.hardware.kinds import Form, Traffic, component_kind
from kernbench.hardware.routing import Route, Router, fault_impact
from kernbench.hardware.routing.core import NM_PER_MM, weight_nm
from kernbench.hardware.topology import compile_topology, parse
from kernbench.hardware.topology.places import places
from kernbench.support.hints import suggestion
from kernbench.support.pgraph import PropertyGraph, QueryError, TopologyRecord, topology_graph

_KEPT_TOPOLOGIES = 4
_KEPT_FAULTS = 4
"""Faulty topologies that are kept; the tables of their routers are computed as they are needed."""
HOST = "host"
"""What people type instead of the name of the host CPU."""


def traffic_of(graph: PropertyGraph, component: str) -> Traffic:
    """The kind of traffic with which ``component`` reads and writes memory; COMMAND for all others."""
    return component_kind(graph.node(component)).sends or Traffic.COMMAND


def resolve_component(graph: PropertyGraph, name: str) -> str:
    """The component that a user means by ``name``: ``host`` is the host CPU, a PE stands for its DMA.

    ``UsageError`` for a name that the topology does not have.
    """
    full = places(graph).part("host_cpu") if name == HOST else name
    if full in graph and graph.node(full).properties["kind"] == "pe":
        full = f"{full}.pe_dma"
    if full not in graph:
        known = [node.id for node in graph.nodes() if node.properties["impl"]]
        hint = suggestion(name, known) or f"names look like '{known[len(known) // 2]}' or 'host'"
        raise UsageError(
            f"the topology '{graph.properties['name']}' has no component '{name}'; {hint.rstrip()}"
        )
    if not graph.node(full).properties["impl"]:
        kind = component_kind(graph.node(full))
        if kind.form is Form.PART:
            raise UsageError(f"'{name}' has no wires; name '{full.rpartition('.')[0]}', which it is in")
        raise UsageError(f"'{name}' is a whole {kind.kind}; name a part of it")
    return full


def kept_topology(spec: str) -> PropertyGraph:
    """The topology of a kept run, compiled from its specification (JSON, as the record holds it)."""
    return compile_topology(parse(spec, "kept topology"))


class RoutedTopology:
    """A compiled topology and its router."""

    def __init__(self, graph: PropertyGraph) -> None:
        self.graph = graph
        self.router = Router(graph)
        self._faults: OrderedDict[str, fault_impact.FaultImpact] = OrderedDict()

    def without(self, lost: str) -> fault_impact.FaultImpact:
        """The same machine without ``lost``; ``RoutingError`` when it has no such part."""
        if lost not in self._faults:
            self._faults[lost] = fault_impact.FaultImpact(self.graph, self.router, lost)
            while len(self._faults) > _KEPT_FAULTS:
                self._faults.popitem(last=False)
        return self._faults[lost]

    def route(self, src: str, dst: str, traffic: str, via: str = "", lost: str = "") -> Route:
        """The simulator's route, or that without ``lost``; ``RoutingError`` when there is none."""
        start, end = (resolve_component(self.graph, name) for name in (src, dst))
        router = self._without(lost)
        try:
            return router.route(start, end, Traffic(traffic), via)
        except RoutingError as error:
            raise RoutingError(f"without '{lost}': {error}" if lost else str(error)) from error

    def routes(self, src: str, dst: str, traffic: str, via: str = "", lost: str = "") -> Iterator[Route]:
        """All routes, in order of weight, that of :meth:`route` first.

        None passes a component twice. They take links that this traffic may take, to ``dst`` from ``via``
        alone if it is given.

        Raises:
            RoutingError: There is none.
            UsageError: Both ends are one component.
        """
        import networkx as nx

        first = self.route(src, dst, traffic, via, lost)
        if not first.links:
            raise UsageError(f"'{src}' and '{dst}' are one component; name two")
        yield first
        start, end = first.nodes[0], first.nodes[-1]
        graph: nx.DiGraph[str] = nx.DiGraph()
        for link in self._without(lost).usable(start, end, Traffic(traffic), via):
            graph.add_edge(link.source, link.target, nm=weight_nm(link), link=link)
        for nodes in nx.shortest_simple_paths(graph, start, end, weight="nm"):
            if tuple(nodes) != first.nodes:
                links = [graph.edges[pair]["link"] for pair in pairwise(nodes)]
                yield Route(tuple(nodes), tuple(links), sum(map(weight_nm, links)) / NM_PER_MM)

    def _without(self, lost: str) -> Router:
        return self.without(lost).rest if lost else self.router

    def check_via(self, dst: str, via: str) -> None:
        """``QueryError`` unless ``via`` is empty or a channel router by which ``dst`` is entered."""
        entrances = fault_impact.entrances(self.graph, resolve_component(self.graph, dst))
        if via and via not in entrances:
            known = f"it is entered by {', '.join(entrances)}" if any(entrances) else "leave via out"
            raise QueryError(f"parameter 'via': '{via}' is not a channel router of '{dst}'; {known}")

    def latency_ns(self, route: Route) -> float:
        """Zero-load latency of a message without bytes over ``route``, ns."""
        total = 0.0
        for name in route.nodes:
            total += float(self.graph.node(name).properties["overhead_ns"])
        for link in route.links:
            total += float(link.properties["delay_ns"])
        return total


_kept: OrderedDict[str, RoutedTopology] = OrderedDict()


def routed_topology(record: TopologyRecord) -> RoutedTopology:
    """The machine that was compiled when the run was kept, with its router; the last few are kept."""
    if record.id not in _kept:
        _kept[record.id] = RoutedTopology(topology_graph(record))
        while len(_kept) > _KEPT_TOPOLOGIES:
            _kept.popitem(last=False)
    _kept.move_to_end(record.id)
    return _kept[record.id]
