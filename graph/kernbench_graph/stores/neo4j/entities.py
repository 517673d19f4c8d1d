"""The driver's nodes, relationships and paths as those of every store.

A relationship that comes without its nodes knows only the server's ids of these; the ids that the nodes have
as properties are looked up in the same transaction.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from neo4j import graph

from kernbench_graph.entities import GraphNode, GraphPath, GraphRelationship, graph_node, graph_relationship
from kernbench_graph.projection import second_label
from kernbench_graph.schema import SCHEMA
from kernbench_graph.stores.neo4j.server import Transaction

_IDS = "MATCH (n) WHERE elementId(n) IN $nodes RETURN elementId(n) AS node, n.id AS id"
_LABELS = frozenset(label.name for label in SCHEMA.labels)


def convert(rows: Iterable[Iterable[Any]], tx: Transaction) -> list[tuple[Any, ...]]:
    """Rows in plain values, nodes, relationships and paths.

    Properties and keys of maps that begin with ``_`` are the store's own and left out.
    """
    found = [tuple(row) for row in rows]
    wanted: set[str] = set()
    for row in found:
        for value in row:
            _collect(value, wanted)
    ids: dict[str, str] = {}
    if wanted:
        ids = {record["node"]: str(record["id"]) for record in tx.run(_IDS, nodes=sorted(wanted))}
    return [tuple(_plain(value, ids) for value in row) for row in found]


def _collect(value: Any, wanted: set[str]) -> None:
    if isinstance(value, graph.Relationship):
        wanted.update(node.element_id for node in value.nodes if node is not None)
    elif isinstance(value, graph.Path):
        for relationship in value.relationships:
            _collect(relationship, wanted)
    elif isinstance(value, Mapping):
        for item in value.values():
            _collect(item, wanted)
    elif isinstance(value, list | tuple):
        for item in value:
            _collect(item, wanted)


def _plain(value: Any, ids: Mapping[str, str]) -> Any:
    if isinstance(value, graph.Node):
        return _node(value, ids)
    if isinstance(value, graph.Relationship):
        return _relationship(value, ids)
    if isinstance(value, graph.Path):
        return GraphPath(
            tuple(_node(node, ids) for node in value.nodes),
            tuple(_relationship(relationship, ids) for relationship in value.relationships),
        )
    if isinstance(value, Mapping):
        return {key: _plain(item, ids) for key, item in value.items() if not key.startswith("_")}
    if isinstance(value, list | tuple):
        return [_plain(item, ids) for item in value]
    return value.iso_format() if hasattr(value, "iso_format") else value


def _node(node: graph.Node, ids: Mapping[str, str]) -> GraphNode:
    labels = [label for label in node.labels if label in _LABELS or second_label(label)]
    return graph_node(labels, _properties(node, ids))


def _relationship(relationship: graph.Relationship, ids: Mapping[str, str]) -> GraphRelationship:
    start, end = (ids.get(node.element_id, "") if node is not None else "" for node in relationship.nodes)
    return graph_relationship(relationship.type, start, end, _properties(relationship, ids))


def _properties(entity: graph.Entity, ids: Mapping[str, str]) -> dict[str, Any]:
    return {name: _plain(entity[name], ids) for name in entity if not name.startswith("_")}
