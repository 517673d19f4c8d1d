"""What a fault changes, and what everything depends on, as the graph has it: answers for what was asked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from kernbench.analysis.on_demand import Answers
from kernbench.analysis.routes.routing import traffic_of
from kernbench.analysis.run_view import RunView
from kernbench.errors import RoutingError
from kernbench.hardware.kinds import Traffic
from kernbench.hardware.routing.fault_impact import Reroute
from kernbench.hardware.routing.fault_impact import single_points as points_between

if TYPE_CHECKING:
    import pyarrow as pa

_MEMORY_ACCESSES = ("dma_read", "dma_write", "host_read", "host_write")


def single_points(asked: RunView, params: Mapping[str, Any]) -> Answers:
    """Links and components on every path from the set ``src`` to the set ``dst``, in order of passing."""
    src, dst, traffic = (str(params[name]) for name in ("src", "dst", "traffic"))
    name = f"{src} to {dst}, {traffic}"

    def tables() -> dict[str, pa.Table]:
        import pyarrow as pa

        graph = asked.topology.graph
        found = points_between(graph, src, dst, Traffic(traffic))
        return {
            "SinglePoints": pa.Table.from_pylist(
                [{"name": name, "src": src, "dst": dst, "traffic": traffic}]
            ),
            "Needed": pa.table({
                "points": pa.array([name] * len(found), pa.string()),
                "seq": pa.array(range(1, len(found) + 1), pa.int32()),
                "link": pa.array(["" if point in graph else point for point in found], pa.string()),
                "component": pa.array([point if point in graph else "" for point in found], pa.string()),
            }),
        }  # fmt: skip

    return {f"single points {name}": tables}


def fault(asked: RunView, params: Mapping[str, Any]) -> Answers:
    """The pairs between which the run's transactions went and whose route uses ``lost``."""
    lost = str(params["lost"])
    return {f"fault {lost}": lambda: _fault(asked, lost)}


def _fault(asked: RunView, lost: str) -> dict[str, pa.Table]:
    import pyarrow as pa

    topology = asked.topology
    gone = topology.without(lost).gone
    detours: dict[str, dict[str, Any]] = {}
    passed: dict[str, list[str]] = {}
    for src, dst, traffic, transactions, found in _find_changes(asked, lost):
        name, after = f"{lost}: {src} to {dst}, {traffic.value}", found.after
        detours[name] = {
            "name": name, "fault": lost, "src": src, "dst": dst, "traffic": traffic.value,
            "transactions": transactions, "reachable": after is not None,
            "weight": found.before.weight, "new_weight": after.weight if after else 0.0,
            "ns": topology.latency_ns(found.before), "new_ns": topology.latency_ns(after) if after else 0.0,
        }  # fmt: skip
        passed[name] = [link.id for link in after.links] if after else []
    ways = [(name, seq, link) for name, links in passed.items() for seq, link in enumerate(links, 1)]
    tables = {"Fault": pa.Table.from_pylist([{"name": lost, "links": len(gone)}])}
    if detours:
        tables["Detour"] = pa.Table.from_pylist([*detours.values()])
        tables["DetourPassed"] = pa.table({
            "detour": pa.array([way[0] for way in ways], pa.string()),
            "seq": pa.array([way[1] for way in ways], pa.int32()),
            "link": pa.array([way[2] for way in ways], pa.string()),
        })  # fmt: skip
    return tables


def _find_changes(asked: RunView, lost: str) -> Iterator[tuple[str, str, Traffic, int, Reroute]]:
    """Ends, traffic and transactions of each pair whose route changes, and the change."""
    topology = asked.topology
    faulty = topology.without(lost)
    # Threads that have grouped rows outlive it: see kernbench_graph.archive.record.
    grouped = asked.tables["Transaction"].group_by(["src", "dst", "kind"], use_threads=False)
    groups = grouped.aggregate([([], "count_all")]).to_pylist()
    between: Counter[tuple[str, str]] = Counter()
    for row in groups:
        between[row["src"], row["dst"]] += row["count_all"]
    seen = set()
    for src, dst, kind in sorted((row["src"], row["dst"], row["kind"]) for row in groups):
        if kind.startswith("tcm_"):
            continue  # within a PE, where nothing is routed
        traffic = traffic_of(topology.graph, src) if kind in _MEMORY_ACCESSES else Traffic.COMMAND
        if (src, dst, traffic) in seen:
            continue
        seen.add((src, dst, traffic))
        try:
            found = faulty.reroute(src, dst, traffic)
        except RoutingError:
            continue
        if found is not None:
            yield src, dst, traffic, between[src, dst], found
