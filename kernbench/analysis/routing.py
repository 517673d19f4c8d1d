"""Derived parameters of ``queries/routing``: the simulator's routes on a run's topology."""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Mapping
from typing import Any

from kernbench.analysis.derived import AskedRun, Rows
from kernbench.errors import RoutingError, UsageError
from kernbench.kinds import Form, Traffic, component_kind
from kernbench.pgraph import PropertyGraph, QueryError, TopologyRecord, topology_graph
from kernbench.routing import Route, Router, fault_impact
from kernbench.topology import compile_topology, parse

_KEPT_TOPOLOGIES = 4
_KEPT_FAULTS = 4
"""Faulty topologies that are kept; the tables of their routers are computed as they are needed."""
SHORT_NAMES = {"host": "host.cpu"}
"""Names that people type instead of a component's own."""
_MEMORY_ACCESSES = ("dma_read", "dma_write", "host_read", "host_write")


def traffic_of(graph: PropertyGraph, component: str) -> Traffic:
    """The kind of traffic with which ``component`` reads and writes memory; COMMAND for all others."""
    return component_kind(graph.node(component)).sends or Traffic.COMMAND


def resolve_component(graph: PropertyGraph, name: str) -> str:
    """The component that a user means by ``name``: ``host`` is the host CPU, a PE stands for its DMA.

    ``UsageError`` for a name that the topology does not have.
    """
    full = SHORT_NAMES.get(name, name)
    if full in graph and graph.node(full).properties["kind"] == "pe":
        full = f"{full}.pe_dma"
    if full not in graph:
        raise UsageError(
            f"the topology '{graph.properties['name']}' has no component '{name}'; names look like "
            "'sip0.cube0.pe0', 'sip0.cube0.hbm_ctrl.pe1' or 'host'"
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

    def route(self, src: object, dst: object, traffic: object, via: str = "") -> Route:
        """The simulator's route; ``RoutingError`` when there is none."""
        start, end = (resolve_component(self.graph, str(name)) for name in (src, dst))
        return self.router.route(start, end, Traffic(str(traffic)), via)

    def entrances(self, dst: str) -> list[str]:
        """The channel routers by which ``dst`` is entered; none where any way in will do."""
        return [
            name for name in fault_impact.entrances(self.graph, resolve_component(self.graph, dst)) if name
        ]

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


def route(asked: AskedRun, params: Mapping[str, Any]) -> Rows:
    """``seq link path_weight hops`` per link of the simulator's route from ``src`` to ``dst``."""
    topology, via = asked.topology, str(params["via"])
    if via:
        entrances = topology.entrances(str(params["dst"]))
        if via not in entrances:
            known = f"it is entered by {', '.join(entrances)}" if entrances else "leave via out"
            raise QueryError(f"parameter 'via': '{via}' is no channel router of '{params['dst']}'; {known}")
    found = topology.route(params["src"], params["dst"], params["traffic"], via)
    return [
        {"seq": seq, "link": link.id, "path_weight": found.weight, "hops": len(found.links)}
        for seq, link in enumerate(found.links, 1)
    ]


def shared_links(asked: AskedRun, params: Mapping[str, Any]) -> Rows:
    """``seq other_seq link`` per link that is on both routes; the numbers are its positions on each."""
    first = asked.topology.route(params["src"], params["dst"], params["traffic"])
    second = asked.topology.route(params["other_src"], params["other_dst"], params["traffic"])
    position = {link.id: seq for seq, link in enumerate(second.links, 1)}
    return [
        {"seq": seq, "other_seq": position[link.id], "link": link.id}
        for seq, link in enumerate(first.links, 1)
        if link.id in position
    ]


def reached(asked: AskedRun, params: Mapping[str, Any]) -> Rows:
    """``component reachable weight hops ns`` per component of the kind; zeros where ``reachable`` is false.

    ``RoutingError`` where none is reachable from ``src``: a whole table of nothing says less than that.
    """
    topology = asked.topology
    found: Rows = []
    for node in topology.graph.nodes():
        if not node.properties["impl"] or params["kind"] not in ("", node.properties["kind"]):
            continue
        try:
            path = topology.route(params["src"], node.id, params["traffic"])
        except RoutingError:
            found.append({"component": node.id, "reachable": False, "weight": 0.0, "hops": 0, "ns": 0.0})
            continue
        figures = {"weight": path.weight, "hops": len(path.links), "ns": topology.latency_ns(path)}
        found.append({"component": node.id, "reachable": True, **figures})
    if not any(row["reachable"] for row in found):
        what = f"every component of kind '{params['kind']}'" if params["kind"] else "every component"
        raise RoutingError(
            f"{what} is unreachable from '{params['src']}' for {params['traffic']} traffic; choose another "
            f"start, or one of {', '.join(t.value for t in Traffic if t.value != params['traffic'])}"
        )
    return found


def single_points(asked: AskedRun, params: Mapping[str, Any]) -> Rows:
    """``seq id`` per link and component that lies on every path between the sets, in order of passing."""
    graph, traffic = asked.topology.graph, Traffic(str(params["traffic"]))
    points = fault_impact.single_points(graph, str(params["src"]), str(params["dst"]), traffic)
    return [{"seq": seq, "id": point} for seq, point in enumerate(points, 1)]


def rerouted(asked: AskedRun, params: Mapping[str, Any]) -> Rows:
    """``src dst traffic transactions reachable weight new_weight ns new_ns`` per pair that uses ``lost``.

    Pairs are those between which the run's transactions went; ``transactions`` counts all that the run had
    from ``src`` to ``dst``. They are counted here because in a store each pair would cost a scan of every
    transaction.
    """
    topology = asked.topology
    fault = topology.without(str(params["lost"]))
    ends = ["src", "dst", "kind"]
    # Threads that have grouped rows outlive it: see kernbench_graph.archive.record.
    grouped = asked.tables["Transaction"].group_by(ends, use_threads=False)
    groups = grouped.aggregate([([], "count_all")]).to_pylist()
    pairs = sorted((row["src"], row["dst"], row["kind"]) for row in groups)
    between: Counter[tuple[str, str]] = Counter()
    for row in groups:
        between[row["src"], row["dst"]] += row["count_all"]
    changed: dict[tuple[str, str, Traffic], dict[str, Any]] = {}
    for src, dst, kind in pairs:
        if kind.startswith("tcm_"):
            continue  # within a PE, where nothing is routed
        traffic = traffic_of(topology.graph, src) if kind in _MEMORY_ACCESSES else Traffic.COMMAND
        try:
            found = fault.reroute(src, dst, traffic)
        except RoutingError:
            continue
        if found is None:
            continue
        after = found.after
        changed[src, dst, traffic] = {
            "src": src,
            "dst": dst,
            "traffic": traffic.value,
            "transactions": between[src, dst],
            "weight": found.before.weight,
            "ns": topology.latency_ns(found.before),
            "reachable": after is not None,
            "new_weight": after.weight if after else 0.0,
            "new_ns": topology.latency_ns(after) if after else 0.0,
        }
    return list(changed.values())
