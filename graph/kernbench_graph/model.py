"""Nodes, edges and the graph that holds them.

The simulator's engine is wired from these very objects and the stores keep them, so a node carries
its properties in one plain dictionary: snake_case keys, values that every store can hold (str, int,
float, bool).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

Value = str | int | float | bool
Properties = dict[str, Value]


@dataclass(slots=True, eq=False)
class Node:
    """A vertex: its own ``id``, one or more labels (CamelCase, most general first), properties."""

    id: str
    labels: tuple[str, ...]
    properties: Properties = field(default_factory=dict)


@dataclass(slots=True, eq=False)
class Edge:
    """A directed edge ``source -> target`` with its own ``id``, a type (UPPER_SNAKE) and properties."""

    id: str
    source: str
    target: str
    type: str
    properties: Properties = field(default_factory=dict)


class PropertyGraph:
    """A directed multigraph of :class:`Node` and :class:`Edge` objects, kept in insertion order.

    ``properties`` are the graph's own (name, content hash, units of its figures). ``notes`` are JSON texts
    that users of the graph leave on it; they are not part of its content and are not kept. ``worked_out``
    is for what users work out of it and want again: it lives as long as the graph, and is not pickled.
    """

    def __init__(self, properties: Properties | None = None) -> None:
        self.properties: Properties = dict(properties or {})
        self.notes: dict[str, str] = {}
        self.worked_out: dict[object, Any] = {}
        self._nodes: dict[str, Node] = {}
        self._edges: dict[str, Edge] = {}
        self._out: dict[str, list[Edge]] = {}

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "worked_out": {}}

    def add_node(self, node: Node) -> Node:
        """Add ``node`` and return it. A second node of the same id is a ``ValueError``."""
        if node.id in self._nodes:
            raise ValueError(f"node '{node.id}' is already in the graph")
        self._nodes[node.id] = node
        self._out[node.id] = []
        return node

    def add_edge(self, edge: Edge) -> Edge:
        """Add ``edge`` between nodes that are already there and return it."""
        if edge.id in self._edges:
            raise ValueError(f"edge '{edge.id}' is already in the graph")
        source, target = edge.source, edge.target
        if source not in self._nodes or target not in self._nodes:
            end = target if source in self._nodes else source
            raise ValueError(f"edge '{edge.id}' ends at '{end}', which is not in the graph")
        self._edges[edge.id] = edge
        self._out[source].append(edge)
        return edge

    def node(self, node_id: str) -> Node:
        """The node of that id; ``KeyError`` when there is none."""
        return self._nodes[node_id]

    def edge(self, edge_id: str) -> Edge:
        """The edge of that id; ``KeyError`` when there is none."""
        return self._edges[edge_id]

    def __contains__(self, node_id: str) -> bool:
        return node_id in self._nodes

    def nodes(self, label: str | None = None) -> Iterator[Node]:
        """All nodes, or those that carry ``label``, in insertion order."""
        return (n for n in self._nodes.values() if label is None or label in n.labels)

    def edges(self, edge_type: str | None = None) -> Iterator[Edge]:
        """All edges, or those of one type, in insertion order."""
        return (e for e in self._edges.values() if edge_type is None or e.type == edge_type)

    def out_edges(self, node_id: str, edge_type: str | None = None) -> Iterator[Edge]:
        """Edges that leave ``node_id``, in insertion order."""
        return (e for e in self._out[node_id] if edge_type is None or e.type == edge_type)

    def __len__(self) -> int:
        return len(self._nodes)

    def __repr__(self) -> str:
        name = self.properties.get("name", "without a name")
        return f"<PropertyGraph {name}: {len(self._nodes)} nodes, {len(self._edges)} edges>"

    def _repr_html_(self) -> str:
        from collections import Counter
        from html import escape

        from kernbench_graph.notebook import html_table

        nodes = Counter(str(node.properties.get("kind", node.labels[0])) for node in self._nodes.values())
        edges = Counter(str(edge.properties.get("kind", edge.type)) for edge in self._edges.values())
        tables = [
            html_table(("nodes", "count"), sorted(nodes.items())),
            html_table(("edges", "count"), sorted(edges.items())),
        ]
        cells = "".join(f'<td style="vertical-align:top">{table}</td>' for table in tables)
        return f"<p>{escape(repr(self)[1:-1])}</p><table><tr>{cells}</tr></table>"
