"""Topologies: compiling a file, counting its parts, the way between two of them."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Mapping
from typing import Any

from kernbench.errors import UsageError
from kernbench.pgraph import PropertyGraph, TopologyRecord

Topology = str | os.PathLike[str] | PropertyGraph | None
"""A compiled topology, a file, the name of a shipped one, or None for the default one."""

TRAFFIC = ("PE_DMA", "MCPU_DMA", "HOST_MEMORY", "COMMAND")
"""What may be carried over a route; see :class:`kernbench.routing.Traffic`."""

_SENDS = {"pe_dma": "PE_DMA", "m_cpu": "MCPU_DMA", "host_cpu": "HOST_MEMORY"}
_SHORT = {"host": "host.cpu"}


def load_topology(
    file: str | os.PathLike[str] | None = None, overrides: Mapping[str, object] | None = None
) -> PropertyGraph:
    """Read, check and compile a topology file into the graph that the simulator runs on.

    ``file`` is a path or the name of a topology that comes with the package; None is the default one.
    ``overrides`` replaces values by dotted key, such as ``{"cube.hbm.switch_penalty_ns": 4}``. What is
    wrong is a ``ConfigError`` that names file, line, key and what was expected.
    """
    from kernbench.topology import compile_topology, load

    return compile_topology(load(None if file is None else os.fspath(file), overrides))


def kept_topology(spec: str) -> PropertyGraph:
    """The topology of a kept run, compiled from its specification: JSON, as the record has it."""
    from kernbench.topology import compile_topology, parse

    return compile_topology(parse(spec, "kept topology"))


def as_graph(topology: Topology) -> PropertyGraph:
    """``topology`` itself when it is compiled already, else compiled from its file."""
    return topology if isinstance(topology, PropertyGraph) else load_topology(topology)


def topology_counts(graph: PropertyGraph) -> dict[str, dict[str, int]]:
    """How many components and links there are of each kind, most frequent first."""
    components = Counter(str(node.properties["kind"]) for node in graph.nodes() if node.properties["impl"])
    links = Counter(str(edge.properties["kind"]) for edge in graph.edges("LINK"))
    return {"components": dict(components.most_common()), "links": dict(links.most_common())}


def topology_overrides(graph: PropertyGraph) -> list[dict[str, Any]]:
    """The parts that are faster or slower than their kind, in the order of the topology file.

    Each has ``where``, ``speed`` (a number or ``"free"``), and how many ``components`` and ``links`` it is.
    """
    from kernbench.topology.overrides import matching

    found = []
    for override in json.loads(str(graph.properties["spec"])).get("overrides", []):
        parts = matching(graph, override["where"])
        components = sum(part in graph for part in parts)
        found.append(
            {
                "where": override["where"],
                "speed": "free" if override["free"] else override["speed"],
                "components": components,
                "links": len(parts) - components,
            }
        )
    return found


def component(graph: PropertyGraph, name: str) -> str:
    """The component that a user means by ``name``: ``host`` is the host CPU, a PE stands for its DMA.

    ``UsageError`` for a name that the topology does not have.
    """
    from kernbench.topology.properties import PARTS

    full = _SHORT.get(name, name)
    if full in graph and graph.node(full).properties["kind"] == "pe":
        full = f"{full}.pe_dma"
    if full not in graph:
        raise UsageError(
            f"the topology '{graph.properties['name']}' has no component '{name}'; names look like "
            "'sip0.cube0.pe0', 'sip0.cube0.hbm_ctrl.pe1' or 'host'"
        )
    if not graph.node(full).properties["impl"]:
        kind = str(graph.node(full).properties["kind"])
        if kind in PARTS:
            raise UsageError(f"'{name}' has no wires; name '{full.rpartition('.')[0]}', which it is in")
        raise UsageError(f"'{name}' is a whole {kind}; name a part of it")
    return full


def route(graph: PropertyGraph, src: str, dst: str, traffic: str | None = None) -> dict[str, Any]:
    """The way from ``src`` to ``dst`` that the simulator takes.

    ``traffic`` is one of :data:`TRAFFIC`; by default what ``src`` sends: a PE's DMA ``PE_DMA``, a
    management CPU ``MCPU_DMA``, the host ``HOST_MEMORY``, all others ``COMMAND``. Gives ``src dst traffic
    weight_mm hops``; each hop has ``node`` and the link that leads to it: ``link link_kind bw_gbs
    distance_mm weight_mm`` (None for the first). ``RoutingError`` when there is no way.
    """
    from kernbench.routing import Router, Traffic

    start, end = component(graph, src), component(graph, dst)
    kind = traffic or _SENDS.get(str(graph.node(start).properties["kind"]), "COMMAND")
    if kind not in TRAFFIC:
        raise UsageError(f"traffic '{kind}' does not exist; use one of {', '.join(TRAFFIC)}")
    found = Router(graph).route(start, end, Traffic(kind))
    hops: list[dict[str, Any]] = [
        {
            "node": start,
            "link": None,
            "link_kind": None,
            "bw_gbs": None,
            "distance_mm": None,
            "weight_mm": None,
        }
    ]
    for link in found.links:
        p = link.properties
        hops.append(
            {
                "node": link.target,
                "link": link.id,
                "link_kind": p["kind"],
                "bw_gbs": p["bw_gbs"],
                "distance_mm": p["distance_mm"],
                "weight_mm": p["routing_weight"],
            }
        )
    return {"src": start, "dst": end, "traffic": kind, "weight_mm": found.weight, "hops": hops}


def topology_record(graph: PropertyGraph) -> TopologyRecord:
    """``graph`` as a store keeps it: its properties and the tables Component, Link and Contains."""
    import pyarrow as pa

    own = ("name", "kind", "impl", "sip", "cube", "pe", "x_mm", "y_mm", "overhead_ns")
    nodes = list(graph.nodes())
    columns: dict[str, list[Any]] = {"id": [node.id for node in nodes]}
    for key in own:
        columns[key] = [node.properties[key] for node in nodes]
    columns["label"] = [node.labels[-1] for node in nodes]
    columns["attributes"] = [
        json.dumps({k: v for k, v in node.properties.items() if k not in own}, sort_keys=True)
        for node in nodes
    ]
    links = list(graph.edges("LINK"))
    wires: dict[str, list[Any]] = {
        "id": [link.id for link in links],
        "src": [link.source for link in links],
        "dst": [link.target for link in links],
    }
    for key in ("kind", "bw_gbs", "distance_mm", "routing_weight"):
        wires[key] = [link.properties[key] for link in links]
    parts = list(graph.edges("CONTAINS"))
    contains = {"parent": [edge.source for edge in parts], "child": [edge.target for edge in parts]}
    properties = graph.properties
    return TopologyRecord(
        id=str(properties["id"]),
        name=str(properties["name"]),
        spec=str(properties["spec"]),
        tables={"Component": pa.table(columns), "Link": pa.table(wires), "Contains": pa.table(contains)},
        schema_version=str(properties["schema_version"]),
    )
