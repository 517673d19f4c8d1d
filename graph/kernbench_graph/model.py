"""Nodes, edges and the graph that holds them.

The simulator's engine is wired from these very objects and the stores keep them, so a node carries
its properties in one plain dictionary: snake_case keys, values that every store can hold (str, int,
float, bool). The graph itself is a :class:`networkx.MultiDiGraph` with the objects as attributes, so
that any networkx algorithm runs on it without a copy.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import networkx as nx

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
    that users of the graph leave on it; they are no part of its content and are kept nowhere.
    """

    def __init__(self, properties: Properties | None = None) -> None:
        self.properties: Properties = dict(properties or {})
        self.notes: dict[str, str] = {}
        self.networkx: nx.MultiDiGraph[str] = nx.MultiDiGraph()
        self._nodes: dict[str, Node] = {}
        self._edges: dict[str, Edge] = {}

    def add_node(self, node: Node) -> Node:
        """Add ``node`` and return it. A second node of the same id is a ``ValueError``."""
        if node.id in self._nodes:
            raise ValueError(f"node '{node.id}' is already in the graph")
        self._nodes[node.id] = node
        self.networkx.add_node(node.id, node=node)
        return node

    def add_edge(self, edge: Edge) -> Edge:
        """Add ``edge`` between nodes that are already there and return it."""
        if edge.id in self._edges:
            raise ValueError(f"edge '{edge.id}' is already in the graph")
        for end in (edge.source, edge.target):
            if end not in self._nodes:
                raise ValueError(f"edge '{edge.id}' ends at '{end}', which is not in the graph")
        self._edges[edge.id] = edge
        self.networkx.add_edge(edge.source, edge.target, key=edge.id, edge=edge)
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
        edge: Edge
        for _, _, edge in self.networkx.out_edges(node_id, data="edge"):
            if edge_type is None or edge.type == edge_type:
                yield edge

    def __len__(self) -> int:
        return len(self._nodes)
