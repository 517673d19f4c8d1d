"""A run and its topology as one networkx graph, with the labels, types and properties that the stores use."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import networkx as nx
import pyarrow as pa

from kernbench_graph.entities import entities_in
from kernbench_graph.errors import QueryError
from kernbench_graph.projection import GraphPart, Projection, second_label
from kernbench_graph.records import RunRecord, TopologyRecord
from kernbench_graph.schema import SCHEMA

Key = tuple[str, Any]
"""A node's label and key; keys are unique within a label only."""


def run_graph(run: RunRecord, topology: TopologyRecord, names: Collection[str] = ()) -> nx.MultiDiGraph[Key]:
    """The graph of :mod:`kernbench_graph.schema` in memory.

    Nodes are keyed by label and key, such as ``("Component", "host.cpu")``, ``("Transaction", 7)`` or
    ``("Run", "<its id>")``, and carry ``labels`` (``Transaction``; a component has two, as in
    ``Component:Router``) and their properties. Edges carry ``type`` and their properties. Every value is a
    text, a number or a truth, so that ``networkx.write_graphml`` and its like can write the graph. Takes some
    seconds for a million hops; for numbers alone ask the store.

    Args:
        run: its tables may be cut to a part of the run: relationships to what is not there are left out.
        topology: the machine that it ran on.
        names: labels and relationship types that are wanted, all by default. A type brings the labels at its
            ends; where no type is named, all those between the labels are there.
    """
    labels, types = _wanted(names)
    graph: nx.MultiDiGraph[Key] = nx.MultiDiGraph()
    projection = Projection(topology, run)
    wanted = (*labels, *types)
    for part in (*projection.parts("topology", wanted), *projection.parts("run", wanted)):
        if part.ends is None:
            _add_nodes(graph, part)
        else:
            source, target = part.ends
            for row in _rows(part.data):
                ends = (source, row.pop("from")), (target, row.pop("to"))
                if ends[0] in graph and ends[1] in graph:
                    graph.add_edge(*ends, type=part.name, **_there(row))
    return graph


def result_graph(rows: Iterable[Sequence[Any]]) -> nx.MultiDiGraph[str]:
    """The nodes and relationships in the rows of a result, also those of paths and lists, each once.

    Nodes are keyed by ``id`` and carry ``labels``, joined by ``:``, and their properties, edges ``type`` and
    theirs. A
    relationship whose ends are not among the nodes has bare ones.
    """
    graph: nx.MultiDiGraph[str] = nx.MultiDiGraph()
    nodes, relationships = entities_in(rows)
    for node in nodes:
        graph.add_node(node.id, labels=":".join(node.labels), **_there(node.properties))
    for rel in relationships:
        graph.add_edge(rel.start, rel.end, type=rel.type, **_there(rel.properties))
    return graph


def _wanted(names: Collection[str]) -> tuple[list[str], list[str]]:
    """The labels and relationship types that ``names`` mean; ``QueryError`` for a name that is neither."""
    for name in names:
        if name not in SCHEMA.names:
            known = ", ".join(SCHEMA.names)
            raise QueryError(f"'{name}' is not a label or relationship type; there are {known}")
    labels = [label.name for label in SCHEMA.labels]
    chosen = [rel.type for rel in SCHEMA.relationships if rel.type in names]
    ends = {end for type_ in chosen for pair in SCHEMA.relationship(type_).pairs for end in pair}
    kept = [label for label in labels if not names or label in names or label in ends]
    between = [rel.type for rel in SCHEMA.relationships if any({*pair} <= {*kept} for pair in rel.pairs)]
    return kept, chosen or between


def _add_nodes(graph: nx.MultiDiGraph[Key], part: GraphPart) -> None:
    key = SCHEMA.label(part.name).key
    for row in _rows(part.data):
        second = second_label(row["label"]) if part.name == "Component" else ""
        graph.add_node(
            (part.name, row[key]), labels=f"{part.name}:{second}" if second else part.name, **_there(row)
        )


def _there(properties: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in properties.items() if value is not None}


def _rows(table: pa.Table) -> list[dict[str, Any]]:
    columns = [table[column].to_pylist() for column in table.column_names]
    return [dict(zip(table.column_names, row, strict=True)) for row in zip(*columns, strict=True)]
