"""LadybugDB's nodes, relationships and paths as those of every store.

Its own carry internal ids. The ids of nodes that a relationship joins are looked up where the rows do not
hold the nodes themselves.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

from kernbench_graph.entities import GraphPath, GraphRelationship, graph_node, graph_relationship
from kernbench_graph.projection import second_label

Place = tuple[int, int]
"""Table and offset of a node."""
Ask = Callable[[str, dict[str, Any]], list[list[Any]]]
"""Rows of a statement in the transaction of the query."""
_AT_ONCE = 10_000
_TABLES = "CALL show_tables() RETURN id, name"


class Entities:
    """Converts the values of one answer."""

    def __init__(self, ask: Ask) -> None:
        self._ask = ask
        self._ids: dict[Place, str] = {}
        self._wanted: set[Place] = set()

    def converted(self, rows: list[list[Any]]) -> list[tuple[Any, ...]]:
        """The rows in plain values, nodes, relationships and paths."""
        for row in rows:
            for value in row:
                self._collect(value)
        if missing := self._wanted - self._ids.keys():
            self._look_up(missing)
        return [tuple(self._plain(value) for value in row) for row in rows]

    def _collect(self, value: Any) -> None:
        if isinstance(value, dict):
            if _absent(value):
                return
            if "_SRC" in value and "_DST" in value:
                self._wanted |= {_place(value["_SRC"]), _place(value["_DST"])}
            elif "_ID" in value and "_LABEL" in value:
                self._ids[_place(value["_ID"])] = str(value.get("id"))
            else:
                for item in value.values():
                    self._collect(item)
        elif isinstance(value, list | tuple):
            for item in value:
                self._collect(item)

    def _look_up(self, missing: set[Place]) -> None:
        labels = {int(row[0]): str(row[1]) for row in self._ask(_TABLES, {})}
        for table in sorted({table for table, _ in missing}):
            offsets = sorted(offset for found, offset in missing if found == table)
            for start in range(0, len(offsets), _AT_ONCE):
                text = ids_at(labels[table])
                for offset, id_ in self._ask(text, {"offsets": offsets[start : start + _AT_ONCE]}):
                    self._ids[table, int(offset)] = str(id_)

    def _plain(self, value: Any) -> Any:
        if isinstance(value, Decimal):
            return int(value) if value == value.to_integral_value() else float(value)
        if isinstance(value, dict):
            if _absent(value):
                return None
            if "_NODES" in value and "_RELS" in value:
                return self._path(value["_NODES"], value["_RELS"])
            if "_SRC" in value and "_DST" in value:
                return self._relationship(value)
            if "_ID" in value and "_LABEL" in value:
                properties = {name: item for name, item in value.items() if not name.startswith("_")}
                second = (
                    second_label(str(properties.get("label", ""))) if value["_LABEL"] == "Component" else ""
                )
                labels = [value["_LABEL"], second] if second else [value["_LABEL"]]
                return graph_node(labels, {name: self._plain(item) for name, item in properties.items()})
            return {key: self._plain(item) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [self._plain(item) for item in value]
        return value

    def _relationship(self, value: dict[str, Any]) -> GraphRelationship:
        properties = {
            name: self._plain(item)
            for name, item in value.items()
            if not name.startswith("_") and name not in ("nodes", "rels")
        }
        source, target = self._ids[_place(value["_SRC"])], self._ids[_place(value["_DST"])]
        return graph_relationship(str(value["_LABEL"]), source, target, properties)

    def _path(self, nodes: list[Any], relationships: list[Any]) -> Any:
        """A path; the relationships of a pattern of variable length, which come with the nodes within."""
        found = [self._plain(rel) for rel in relationships]
        if len(nodes) <= len(found):
            return found
        joined = [self._plain(node) for node in nodes]
        if any(part is None for part in (*joined, *found)):
            return None  # of a pattern that found nothing
        return GraphPath(tuple(joined), tuple(found))


def _absent(value: dict[str, Any]) -> bool:
    """Whether it stands for a node or relationship that was not found."""
    return value.get("_ID", value) is None or value.get("_SRC", value) is None


def ids_at(label: str) -> str:
    """Query for the ids of nodes of a label at ``$offsets`` of its table.

    >>> print(ids_at("Use"))
    UNWIND $offsets AS o MATCH (n:`Use`) WHERE offset(id(n)) = o RETURN o, n.id
    """
    return f"UNWIND $offsets AS o MATCH (n:`{label}`) WHERE offset(id(n)) = o RETURN o, n.id"


def _place(id_: dict[str, int]) -> Place:
    return int(id_["table"]), int(id_["offset"])
