"""A run and its topology as one networkx graph, with the labels and properties that the stores use."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import networkx as nx
import pyarrow as pa

from graph.schema import SCHEMA
from graph.store import RunRecord, TopologyRecord

Key = tuple[str, Any]
"""A node's key: its label and its id, as ids are unique within a label only."""


def run_graph(run: RunRecord, topology: TopologyRecord) -> nx.MultiDiGraph[Key]:
    """The graph of :mod:`graph.schema` in memory.

    Nodes are keyed ``(label, id)``, such as ``("Component", "host.cpu")`` or ``("Transaction", 7)``, and
    carry ``labels`` (a component has two) and their properties. Edges carry ``type`` and their properties.
    Takes some seconds for a million hops; for numbers alone ask the store instead.
    """
    graph: nx.MultiDiGraph[Key] = nx.MultiDiGraph()
    tables, parts, run_id = run.tables, topology.tables, run.info["id"]
    properties = SCHEMA.label("Topology").properties
    _add_nodes(graph, "Topology", [{prop.name: getattr(topology, prop.name) for prop in properties}])
    _add_nodes(graph, "Component", _rows(parts, "Component"))
    links = _rows(parts, "Link")
    _add_nodes(graph, "Link", [{k: v for k, v in row.items() if k not in ("src", "dst")} for row in links])
    _add_nodes(graph, "Run", [{prop.name: run.info[prop.name] for prop in SCHEMA.label("Run").properties}])
    transactions, ops = _rows(tables, "Transaction"), _rows(tables, "Op")
    _add_nodes(graph, "Transaction", transactions)
    _add_nodes(graph, "Op", ops)

    the_run, the_topology = ("Run", run_id), ("Topology", topology.id)
    graph.add_edge(the_run, the_topology, type="ON")
    for label in ("Component", "Link"):
        for id_ in _column(parts, label, "id"):
            graph.add_edge(the_topology, (label, id_), type="CONTAINS")
    for row in _rows(parts, "Contains"):
        graph.add_edge(("Component", row["parent"]), ("Component", row["child"]), type="CONTAINS")
    for row in links:
        source, link, target = ("Component", row["src"]), ("Link", row["id"]), ("Component", row["dst"])
        graph.add_edge(source, link, type="OUT")
        graph.add_edge(link, target, type="IN")
        graph.add_edge(source, target, type="CONNECTS", link=row["id"], kind=row["kind"],
                       weight=row["routing_weight"])  # fmt: skip
    for row in transactions:
        graph.add_edge(the_run, ("Transaction", row["id"]), type="SENT")
    for row in ops:
        graph.add_edge(the_run, ("Op", row["id"]), type="DID")
        if row["component"]:
            graph.add_edge(("Op", row["id"]), ("Component", row["component"]), type="ON")
    _join(graph, _rows(tables, "Caused"), "CAUSED", ("Transaction", "parent"), ("Transaction", "child"))
    _join(graph, _rows(tables, "WaitedFor"), "WAITED_FOR", ("Transaction", "txn"), ("Transaction", "holder"))
    _join(graph, _rows(tables, "DependsOn"), "DEPENDS_ON", ("Op", "op"), ("Op", "on"))
    _join(graph, _rows(tables, "Moved"), "MOVED", ("Op", "op"), ("Transaction", "txn"))
    for row in _rows(tables, "Hop"):
        source = ("Transaction", row.pop("txn"))
        graph.add_edge(source, _place(row), type="HOP", **row)
    for row in _rows(tables, "Used"):
        graph.add_edge(the_run, _place(row), type="USED", **row)
    return graph


def _add_nodes(graph: nx.MultiDiGraph[Key], label: str, rows: Iterable[dict[str, Any]]) -> None:
    for row in rows:
        labels = (label, row["label"]) if row.get("label") and label == "Component" else (label,)
        graph.add_node((label, row["id"]), labels=labels, **{k: v for k, v in row.items() if k != "labels"})


def _join(
    graph: nx.MultiDiGraph[Key],
    rows: Iterable[dict[str, Any]],
    type_: str,
    source: tuple[str, str],
    target: tuple[str, str],
) -> None:
    for row in rows:
        ends = (source[0], row.pop(source[1])), (target[0], row.pop(target[1]))
        graph.add_edge(*ends, type=type_, **row)


def _place(row: dict[str, Any]) -> Key:
    """The end of a hop or use, taken out of its row."""
    return ("Link" if row.pop("is_link") else "Component", row.pop("resource"))


def _rows(tables: Any, name: str) -> list[dict[str, Any]]:
    table: pa.Table = tables[name]
    columns = [table[column].to_pylist() for column in table.column_names]
    return [dict(zip(table.column_names, row, strict=True)) for row in zip(*columns, strict=True)]


def _column(tables: Any, name: str, column: str) -> list[Any]:
    values: list[Any] = tables[name][column].to_pylist()
    return values
