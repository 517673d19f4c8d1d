"""A compiled property graph as the record that stores keep, and back.

The graph that comes back has the same nodes, edges and properties in the same order, so that the router and
the engine work on a kept topology as on the one that was compiled, whatever the compiler does today.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from typing import Any

from kernbench_graph.model import Edge, Node, Properties, PropertyGraph
from kernbench_graph.records import LazyTables, TopologyRecord
from kernbench_graph.schema import SCHEMA, TOPOLOGY_VERSION

LINK, CONTAINS = "LINK", "CONTAINS"
"""Types of a compiled graph's edges."""
_OWN = ("kind", "impl", "sip", "cube", "pe", "x_mm", "y_mm", "overhead_ns")
_LINK = ("kind", "bw_gbs", "delay_ns", "distance_mm", "routing_weight")
_GRAPH = ("id", "name", "spec")
_FURTHER = "further_link_properties"
"""Property of a record that the graph has not: see :func:`_further`."""
_PIECE = 512
"""Nodes or edges whose text is made at a time: more leave the processor's cache."""
_text = json.JSONEncoder(ensure_ascii=False).encode
_sorted = json.JSONEncoder(ensure_ascii=False, sort_keys=True).encode


def topology_id(graph: PropertyGraph) -> str:
    """A hash of all that was compiled: nodes, edges and properties except ``id``, and the schema version."""
    own = {name: value for name, value in graph.properties.items() if name != "id"}
    digest = hashlib.sha256(f"schema {TOPOLOGY_VERSION}\n{_sorted(own)}".encode())
    nodes = list(graph.nodes())
    for first in range(0, len(nodes), _PIECE):
        some = nodes[first : first + _PIECE]
        texts = _texts([node.properties for node in some])
        lines = [f"\n{n.id}\t{' '.join(n.labels)}\t{text}" for n, text in zip(some, texts, strict=True)]
        digest.update("".join(lines).encode())
    shared: dict[int, str] = {}  # links of one sort share their properties
    edges = [*graph.edges(CONTAINS), *graph.edges(LINK)]
    for edge in edges:
        if id(edge.properties) not in shared:
            shared[id(edge.properties)] = f"{edge.type}\t{_sorted(edge.properties)}"
    for first in range(0, len(edges), _PIECE):
        some_edges = edges[first : first + _PIECE]
        lines = [f"\n{e.id}\t{e.source}\t{e.target}\t{shared[id(e.properties)]}" for e in some_edges]
        digest.update("".join(lines).encode())
    return digest.hexdigest()[:16]


def _texts(rows: list[Properties]) -> list[str]:
    """The JSON text of each of ``rows``, encoded in one call: that takes half the time."""
    texts = _sorted(rows)[2:-2].split("}, {")
    if len(texts) != len(rows):  # a value has the separator in it
        return [_sorted(row) for row in rows]
    return [f"{{{text}}}" for text in texts]


def topology_record(graph: PropertyGraph) -> TopologyRecord:
    """``graph`` as a store keeps it: its properties and the tables Component and Link.

    The tables are made when they are first looked at; a store that has the topology already does not.
    """
    own = graph.properties
    return TopologyRecord(
        id=str(own["id"]),
        name=str(own["name"]),
        spec=str(own["spec"]),
        tables=_Tables(graph),
        schema_version=str(own["schema_version"]),
        flit_bytes=int(own["flit_bytes"]),
        ns_per_mm=float(own["ns_per_mm"]),
        properties=_text(
            {name: value for name, value in (own | _further(graph)).items() if name not in _GRAPH}
        ),
    )


def _further(graph: PropertyGraph) -> dict[str, Any]:
    """Properties of links that the tables have no columns for: each sort, and how many in turn have it."""
    sorts: list[Properties] = []
    number: dict[str, int] = {}
    by_id: dict[int, int] = {}
    runs: list[list[int]] = []
    for link in graph.edges(LINK):
        p = link.properties
        if id(p) not in by_id:
            further = {name: value for name, value in p.items() if name not in _LINK}
            by_id[id(p)] = number.setdefault(_sorted(further), len(number))
            if by_id[id(p)] == len(sorts):
                sorts.append(further)
        if not runs or runs[-1][1] != by_id[id(p)]:
            runs.append([0, by_id[id(p)]])
        runs[-1][0] += 1
    return {_FURTHER: {"sorts": sorts, "runs": runs}} if any(sorts) else {}


class _Tables(LazyTables):
    """The tables of a compiled graph."""

    def __init__(self, graph: PropertyGraph) -> None:
        super().__init__(("Component", "Link"))
        self._graph = graph

    def _make(self, name: str) -> Any:
        columns = _components if name == "Component" else _links
        return _table(name, columns(self._graph))


def _components(graph: PropertyGraph) -> dict[str, list[Any]]:
    nodes = list(graph.nodes())
    parents = {edge.target: edge.source for edge in graph.edges(CONTAINS)}
    columns: dict[str, list[Any]] = {"name": [node.id for node in nodes]}
    for key in _OWN:
        columns[key] = [node.properties[key] for node in nodes]
    columns["label"] = [node.labels[-1] for node in nodes]
    columns["parent"] = [parents.get(node.id, "") for node in nodes]
    known = frozenset((*_OWN, "name"))
    columns["attributes"] = [
        _text({name: value for name, value in node.properties.items() if name not in known}) for node in nodes
    ]
    return columns


def _links(graph: PropertyGraph) -> dict[str, list[Any]]:
    links = list(graph.edges(LINK))
    columns: dict[str, list[Any]] = {
        "name": [link.id for link in links],
        "src": [link.source for link in links],
        "dst": [link.target for link in links],
    }
    for key in _LINK:
        columns[key] = [link.properties[key] for link in links]
    return columns


def further_link_properties(record: TopologyRecord) -> Iterator[Properties]:
    """Of each link in turn, the properties that the tables have no columns for; none if no link has any."""
    further = json.loads(record.properties).get(_FURTHER, {"sorts": [], "runs": []})
    return (further["sorts"][sort] for count, sort in further["runs"] for _ in range(count))


def topology_graph(record: TopologyRecord) -> PropertyGraph:
    """The compiled graph that ``record`` was made from."""
    properties: Properties = {name: getattr(record, name) for name in _GRAPH}
    more: dict[str, Any] = json.loads(record.properties)
    more.pop(_FURTHER, None)
    sorts = further_link_properties(record)
    graph = PropertyGraph(properties | more)
    parents = []
    for row in record.tables["Component"].to_pylist():
        own: Properties = {"name": row["name"]} | {key: row[key] for key in _OWN}
        graph.add_node(Node(row["name"], ("Component", row["label"]), own | json.loads(row["attributes"])))
        parents.append((row["parent"], row["name"]))
    for parent, name in parents:
        if parent:
            graph.add_edge(Edge(f"{parent}/{name}", parent, name, CONTAINS, {}))
    for row in record.tables["Link"].to_pylist():
        wire: Properties = {key: row[key] for key in _LINK} | next(sorts, {})
        graph.add_edge(Edge(row["name"], row["src"], row["dst"], LINK, wire))
    return graph


def _table(name: str, columns: dict[str, list[Any]]) -> Any:
    import pyarrow as pa

    order = [column.name for column in SCHEMA.table(name).columns]
    return pa.table({column: columns[column] for column in order})
