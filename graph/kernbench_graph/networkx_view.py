"""A run and its topology as one networkx graph, with the labels, types and properties that the stores use."""

from __future__ import annotations

from typing import Any

import networkx as nx
import pyarrow as pa

from kernbench_graph.projection import Part, Projection
from kernbench_graph.schema import SCHEMA
from kernbench_graph.store import RunRecord, TopologyRecord

Key = tuple[str, Any]
"""A node's label and key; keys are unique within a label only."""


def run_graph(run: RunRecord, topology: TopologyRecord) -> nx.MultiDiGraph[Key]:
    """The graph of :mod:`kernbench_graph.schema` in memory.

    Nodes are keyed by label and key, such as ``("Component", "host.cpu")``, ``("Transaction", 7)`` or
    ``("Run", "<its id>")``, and carry ``labels`` (a component has two) and their properties. Edges carry
    ``type`` and their properties. Takes some seconds for a million hops; for numbers alone ask the store.
    """
    graph: nx.MultiDiGraph[Key] = nx.MultiDiGraph()
    projection = Projection(topology, run)
    for part in (*projection.parts("topology"), *projection.parts("run")):
        if part.ends is None:
            _add_nodes(graph, part)
        else:
            source, target = part.ends
            for row in _rows(part.data):
                ends = (source, row.pop("from")), (target, row.pop("to"))
                graph.add_edge(*ends, type=part.name, **row)
    return graph


def _add_nodes(graph: nx.MultiDiGraph[Key], part: Part) -> None:
    key = SCHEMA.label(part.name).key
    for row in _rows(part.data):
        second = row.get("label") if part.name == "Component" else None
        properties = {name: value for name, value in row.items() if value is not None}
        graph.add_node(
            (part.name, row[key]), labels=(part.name, second) if second else (part.name,), **properties
        )


def _rows(table: pa.Table) -> list[dict[str, Any]]:
    columns = [table[column].to_pylist() for column in table.column_names]
    return [dict(zip(table.column_names, row, strict=True)) for row in zip(*columns, strict=True)]
