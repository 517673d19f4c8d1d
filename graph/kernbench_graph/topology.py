"""A compiled property graph as the record that stores keep, and back.

The graph that comes back has the same nodes, edges and properties in the same order, so that the router and
the engine work on a kept topology as on the one that was compiled, whatever the compiler does today.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

from kernbench_graph.model import Edge, Node, Properties, PropertyGraph
from kernbench_graph.schema import SCHEMA, SCHEMA_VERSION
from kernbench_graph.store import TopologyRecord

LINK, CONTAINS = "LINK", "CONTAINS"
"""Types of a compiled graph's edges."""
_OWN = ("kind", "impl", "sip", "cube", "pe", "x_mm", "y_mm", "overhead_ns")
_LINK = ("kind", "bw_gbs", "delay_ns", "distance_mm", "routing_weight")
_GRAPH = ("id", "name", "spec")


def topology_id(graph: PropertyGraph) -> str:
    """A hash of all that was compiled: nodes, edges and properties but for ``id``, and the schema version."""
    digest = hashlib.sha256(f"schema {SCHEMA_VERSION}\n".encode())
    own = {name: value for name, value in graph.properties.items() if name != "id"}
    digest.update(_sorted(own).encode())
    for node in graph.nodes():
        digest.update(f"\n{node.id}\t{' '.join(node.labels)}\t{_sorted(node.properties)}".encode())
    texts: dict[int, str] = {}  # links of one sort share their properties
    for edge in (*graph.edges(CONTAINS), *graph.edges(LINK)):
        text = texts.get(id(edge.properties))
        if text is None:
            text = texts[id(edge.properties)] = _sorted(edge.properties)
        digest.update(f"\n{edge.id}\t{edge.source}\t{edge.target}\t{edge.type}\t{text}".encode())
    return digest.hexdigest()[:16]


def topology_record(graph: PropertyGraph) -> TopologyRecord:
    """``graph`` as a store keeps it: its properties and the tables Component and Link."""

    nodes, links = list(graph.nodes()), list(graph.edges(LINK))
    parents = {edge.target: edge.source for edge in graph.edges(CONTAINS)}
    components: dict[str, list[Any]] = {"name": [node.id for node in nodes]}
    for key in _OWN:
        components[key] = [node.properties[key] for node in nodes]
    components["label"] = [node.labels[-1] for node in nodes]
    components["parent"] = [parents.get(node.id, "") for node in nodes]
    known = frozenset((*_OWN, "name"))
    components["attributes"] = [
        _text({name: value for name, value in node.properties.items() if name not in known}) for node in nodes
    ]
    wires: dict[str, list[Any]] = {
        "name": [link.id for link in links],
        "src": [link.source for link in links],
        "dst": [link.target for link in links],
    }
    for key in _LINK:
        wires[key] = [link.properties[key] for link in links]
    own = graph.properties
    return TopologyRecord(
        id=str(own["id"]),
        name=str(own["name"]),
        spec=str(own["spec"]),
        tables={"Component": _table("Component", components), "Link": _table("Link", wires)},
        schema_version=str(own["schema_version"]),
        flit_bytes=int(own["flit_bytes"]),
        ns_per_mm=float(own["ns_per_mm"]),
        properties=_text({name: value for name, value in own.items() if name not in _GRAPH}),
    )


def topology_graph(record: TopologyRecord) -> PropertyGraph:
    """The compiled graph that ``record`` was made from."""
    properties: Properties = {name: getattr(record, name) for name in _GRAPH}
    graph = PropertyGraph(properties | json.loads(record.properties))
    parents = []
    for row in record.tables["Component"].to_pylist():
        own: Properties = {"name": row["name"]} | {key: row[key] for key in _OWN}
        graph.add_node(Node(row["name"], ("Component", row["label"]), own | json.loads(row["attributes"])))
        parents.append((row["parent"], row["name"]))
    for parent, name in parents:
        if parent:
            graph.add_edge(Edge(f"{parent}/{name}", parent, name, CONTAINS, {}))
    for row in record.tables["Link"].to_pylist():
        wire: Properties = {key: row[key] for key in _LINK}
        graph.add_edge(Edge(row["name"], row["src"], row["dst"], LINK, wire))
    return graph


def _table(name: str, columns: dict[str, list[Any]]) -> Any:
    import pyarrow as pa

    order = [column.name for column in SCHEMA.table(name).columns]
    return pa.table({column: columns[column] for column in order})


def _sorted(properties: Properties) -> str:
    return json.dumps(properties, ensure_ascii=False, sort_keys=True)


def _text(properties: Properties) -> str:
    return json.dumps(properties, ensure_ascii=False)
