"""Answers as graphs: the paths and nodes of free Cypher, and the routes and causes of library questions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from kernbench.draw.cells import plain, text
from kernbench.draw.targets import Target, target_of
from kernbench.support.pgraph import GraphNode, GraphPath, GraphRelationship

_MOST = 300
"""Nodes that are drawn; the table has all."""
_PAIRS = (("holder", "waiter"), ("through", "op"), ("first", "follower"), ("src", "dst"))
"""Columns of two things; the first leads to the second."""
_CHAINS = {"routing/taken": ("location", "kind")}
"""By question: the column whose cells follow each other, and the one that says what leads there."""


def graph(
    columns: Sequence[str], rows: Sequence[Sequence[Any]], question: str = "", run: str | None = None
) -> dict[str, Any] | None:
    """The nodes and edges that an answer has, or None.

    Gives ``nodes`` (``id label kind facts x y leads value``), ``edges`` (``source target label facts way x
    y``), ``width``, ``height`` and ``left_out``, the number of nodes that are too many. ``facts`` are lines
    for people; ``leads`` and ``value`` say what a node of ``run`` opens, as cells of tables do; ``x y`` are
    the left edge and middle of a node, and the place of a label; ``way`` is a path of SVG.
    """
    found = _Graph(run)
    if question in _CHAINS:
        _chain(found, columns, rows, *_CHAINS[question])
        return found.plain() if found.edges else None
    for row in rows:
        for value in row:
            found.add(value)
    if not found.nodes and question:
        _pairs(found, columns, rows)
    return found.plain() if found.edges or len(found.nodes) > 1 else None


class _Graph:
    def __init__(self, run: str | None) -> None:
        self.run = run
        self.nodes: dict[str, dict[str, Any]] = {}
        self.edges: dict[tuple[str, str, str], dict[str, Any]] = {}
        self.left_out: set[str] = set()

    def add(self, value: Any) -> None:
        """Add the nodes, relationships and paths in a cell."""
        if isinstance(value, GraphNode):
            self.node(
                value.id, str(value.get("name") or value.get("number", value.id)),
                value.labels[0] if value.labels else "", value.properties, self._opens(value),
            )  # fmt: skip
        elif isinstance(value, GraphRelationship):
            self.edge(value.start, value.end, value.type, value.properties)
        elif isinstance(value, GraphPath):
            for one in (*value.nodes, *value.relationships):
                self.add(one)
        elif isinstance(value, list | tuple):
            for one in value:
                self.add(one)

    def _opens(self, node: GraphNode) -> Target | None:
        """What a node opens; nothing where it is of another run than the one that the page shows."""
        of_run = self.run is not None and node.id.startswith(f"{self.run}/")
        on_machine = self.run is not None and node.labels[:1] in (("Component",), ("Link",))
        return target_of(node) if of_run or on_machine or node.labels[:1] == ("Run",) else None

    def node(
        self, name: str, label: str, kind: str, facts: Mapping[str, Any], opens: Target | None = None
    ) -> None:
        """A node, unless there are too many."""
        if name in self.nodes:
            return
        if len(self.nodes) >= _MOST:
            self.left_out.add(name)
            return
        self.nodes[name] = {"id": name, "label": label, "kind": kind, "facts": list(_facts(facts))}
        if opens is not None:
            self.nodes[name] |= {"leads": opens.sort, "value": opens.key}

    def edge(self, source: str, target: str, label: str, facts: Mapping[str, Any]) -> None:
        """An edge; equal ones are one."""
        self.edges.setdefault(
            (source, target, label),
            {"source": source, "target": target, "label": label, "facts": list(_facts(facts))},
        )

    def plain(self) -> dict[str, Any]:
        """The graph; an end that no row holds is a node without a label."""
        from kernbench.support.pgraph import lay_out, name_at, path_of  # networkx

        for edge in self.edges.values():
            for end in (edge["source"], edge["target"]):
                self.node(end, end.rpartition("/")[2], "", {})
        shown = [
            edge for edge in self.edges.values()
            if edge["source"] in self.nodes and edge["target"] in self.nodes
        ]  # fmt: skip
        drawn = lay_out(list(self.nodes), list(dict.fromkeys((e["source"], e["target"]) for e in shown)))
        for key, (x, y) in drawn.places.items():
            self.nodes[key] |= {"x": x, "y": y}
        for edge in shown:
            way = drawn.ways[edge["source"], edge["target"]]
            x, y = name_at(way)
            edge |= {"way": path_of(way), "x": x, "y": y}
        return {
            "nodes": list(self.nodes.values()),
            "edges": shown,
            "width": drawn.width,
            "height": drawn.height,
            "left_out": len(self.left_out),
        }


def _facts(properties: Mapping[str, Any]) -> Iterator[str]:
    for name, value in properties.items():
        shown = text(plain(value))
        yield f"{name}: {shown if len(shown) <= 120 else shown[:117] + '...'}"


def _chain(found: _Graph, columns: Sequence[str], rows: Sequence[Sequence[Any]], at: str, by: str) -> None:
    places = [dict(zip(columns, row, strict=True)) for row in rows]
    first = ""
    for row in [row for row in places if "->" not in str(row[at])]:
        name = str(row[at])
        found.node(name, name, "Component", row)
        if first and first != name:
            found.edge(first, name, str(row[by]), row)
        first = name


def _pairs(found: _Graph, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    for source, target in _PAIRS:
        if source in columns and target in columns:
            for row in rows:
                facts = dict(zip(columns, row, strict=True))
                a, b = facts[source], facts[target]
                if a in (None, -1, "") or b in (None, -1, ""):
                    continue
                found.node(f"{a}", f"{a}", "", {})
                found.node(f"{b}", f"{b}", "", {})
                found.edge(f"{a}", f"{b}", str(facts.get("resource") or facts.get("hazard") or ""), facts)
            return
