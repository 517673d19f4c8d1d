"""Nodes, relationships and paths in the rows of a query, the same from every store and engine.

A node is known by its ``id``, which no other node of any run or topology has. A relationship has no id of its
own: it is known by its type, its ends and its properties.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from kernbench_graph.schema import SCHEMA


@dataclass(frozen=True, slots=True, eq=False)
class GraphNode:
    """A node of the property graph. ``labels`` begins with the one that the schema describes."""

    labels: tuple[str, ...]
    properties: Mapping[str, Any]
    """By name, in alphabetical order, ``id`` and ``name`` among them; without those that it lacks."""

    @property
    def id(self) -> str:
        """Unique over all nodes of all runs and topologies."""
        return str(self.properties.get("id", ""))

    def __getitem__(self, name: str) -> Any:
        return self.properties[name]

    def get(self, name: str, default: Any = None) -> Any:
        """The property of that name, or ``default``."""
        return self.properties.get(name, default)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, GraphNode) and self.id == other.id

    def __hash__(self) -> int:
        return hash(self.id)

    def __str__(self) -> str:
        label = f":{self.labels[0]}" if self.labels else ""
        return f"({label} {self.properties.get('name') or self.id})"


@dataclass(frozen=True, slots=True)
class GraphRelationship:
    """A relationship of the property graph; ``start`` and ``end`` are the ids of its nodes."""

    type: str
    start: str
    end: str
    properties: Mapping[str, Any]

    def __getitem__(self, name: str) -> Any:
        return self.properties[name]

    def get(self, name: str, default: Any = None) -> Any:
        """The property of that name, or ``default``."""
        return self.properties.get(name, default)

    def __hash__(self) -> int:
        return hash((self.type, self.start, self.end))

    def __str__(self) -> str:
        shown = ", ".join(f"{name}: {_short(value)}" for name, value in self.properties.items())
        return f"[:{self.type}{f' {{{shown}}}' if shown else ''}]"


@dataclass(frozen=True, slots=True)
class GraphPath:
    """A path: its nodes, and the relationships between each of them and the next."""

    nodes: tuple[GraphNode, ...]
    relationships: tuple[GraphRelationship, ...]

    def __len__(self) -> int:
        """The number of relationships."""
        return len(self.relationships)

    def __str__(self) -> str:
        text = str(self.nodes[0])
        for at, rel in enumerate(self.relationships):
            forward = rel.start == self.nodes[at].id
            text += f"{'-' if forward else '<-'}[:{rel.type}]{'->' if forward else '-'}{self.nodes[at + 1]}"
        return text

    def _repr_html_(self) -> str:
        from kernbench_graph.drawing import entities_svg

        return entities_svg(self.nodes, self.relationships) or escape(str(self))


_FIRST = {label.name: place for place, label in enumerate(SCHEMA.labels)}


def graph_node(labels: Sequence[str], properties: Mapping[str, Any]) -> GraphNode:
    """A node with its labels and properties in order, without properties that are None."""
    ordered = sorted(labels, key=lambda label: (_FIRST.get(label, len(_FIRST)), label))
    return GraphNode(tuple(ordered), _in_order(properties))


def graph_relationship(type_: str, start: str, end: str, properties: Mapping[str, Any]) -> GraphRelationship:
    """A relationship with its properties in order, without those that are None."""
    return GraphRelationship(type_, start, end, _in_order(properties))


def entities_in(rows: Iterable[Sequence[Any]]) -> tuple[list[GraphNode], list[GraphRelationship]]:
    """The nodes and relationships in the rows of a result, also those in paths and lists, each once."""
    nodes: dict[str, GraphNode] = {}
    relationships: dict[tuple[Any, ...], GraphRelationship] = {}

    def look(value: Any) -> None:
        if isinstance(value, GraphNode):
            nodes.setdefault(value.id, value)
        elif isinstance(value, GraphRelationship):
            identity = (value.type, value.start, value.end, *map(str, value.properties.items()))
            relationships.setdefault(identity, value)
        elif isinstance(value, GraphPath):
            look((*value.nodes, *value.relationships))
        elif isinstance(value, list | tuple):
            for one in value:
                look(one)
        elif isinstance(value, dict):
            look(list(value.values()))

    look(list(rows))
    return list(nodes.values()), list(relationships.values())


def plain_entities(value: Any) -> Any:
    """``value`` with every node, relationship and path in it as dictionaries and lists, as JSON shows them.

    A node has the keys ``id labels properties``, a relationship ``type start end properties``, a path
    ``nodes relationships``.
    """
    if isinstance(value, GraphNode):
        return {"id": value.id, "labels": list(value.labels), "properties": dict(value.properties)}
    if isinstance(value, GraphRelationship):
        return {
            "type": value.type,
            "start": value.start,
            "end": value.end,
            "properties": dict(value.properties),
        }
    if isinstance(value, GraphPath):
        return {
            "nodes": [plain_entities(node) for node in value.nodes],
            "relationships": [plain_entities(rel) for rel in value.relationships],
        }
    if isinstance(value, dict):
        return {key: plain_entities(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain_entities(item) for item in value]
    return value


def _in_order(properties: Mapping[str, Any]) -> dict[str, Any]:
    return {name: properties[name] for name in sorted(properties) if properties[name] is not None}


def _short(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.6g}"
    return repr(value) if isinstance(value, str) else str(value)
