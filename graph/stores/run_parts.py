"""A run's graph, and what the graph over all runs has, as Arrow tables: what every projection is made from.

Nodes come before relationships, so that a store can write the parts in order.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from graph.columns import arrow_schema
from graph.schema import SCHEMA
from graph.schema import Table as TableSchema
from graph.store import RunRecord, TopologyRecord
from graph.stores.connects import connects_table

HISTORY_LABELS = ("Topology", "Component", "Link", "Run")
"""Labels of the graph over all runs; a component of it is one of one topology."""
HISTORY_TYPES = ("ON", "USED")
"""Relationship types of the graph over all runs."""


@dataclass(frozen=True, slots=True)
class Part:
    """Nodes of one label, or relationships of one type between two labels.

    ``data`` holds the properties of nodes in the schema's order; of relationships, the ids of both ends and
    then the properties. Rows that are false in ``where`` do not belong to it.
    """

    name: str
    data: pa.Table
    ends: tuple[str, str] | None = None
    where: pa.ChunkedArray | None = None

    def table(self) -> pa.Table:
        """All rows."""
        return self.data if self.where is None else self.data.filter(self.where)

    def slices(self, rows: int) -> Iterator[pa.Table]:
        """The rows, at most ``rows`` at a time, without ever copying all of them."""
        for start in range(0, self.data.num_rows, rows):
            piece = self.data.slice(start, rows)
            if self.where is not None:
                piece = piece.filter(self.where.slice(start, rows))
            if piece.num_rows:
                yield piece


def run_parts(run: RunRecord, topology: TopologyRecord) -> Iterator[Part]:
    """The graph of one run on its topology."""
    tables, machine = run.tables, topology.tables
    components, links, ops = machine["Component"], machine["Link"], tables["Op"]
    run_id = run.info["id"]
    yield Part("Topology", topology_node(topology))
    for label, data in (("Component", components), ("Link", links)):
        yield Part(label, data.select([prop.name for prop in SCHEMA.label(label).properties]))
    yield Part("Run", node_table("Run", [run.info]))
    yield Part("Transaction", tables["Transaction"])
    yield Part("Op", ops)

    yield Part("ON", pairs([run_id], [topology.id]), ("Run", "Topology"))
    yield Part("ON", ops.select(["id", "component"]), ("Op", "Component"), pc.not_equal(ops["component"], ""))
    yield Part("CONTAINS", from_one(topology.id, components["id"]), ("Topology", "Component"))
    yield Part("CONTAINS", from_one(topology.id, links["id"]), ("Topology", "Link"))
    yield Part("CONTAINS", machine["Contains"], ("Component", "Component"))
    yield Part("OUT", links.select(["src", "id"]), ("Component", "Link"))
    yield Part("IN", links.select(["id", "dst"]), ("Link", "Component"))
    yield Part("CONNECTS", connects_table(components, links), ("Component", "Component"))
    yield Part("SENT", from_one(run_id, tables["Transaction"]["id"]), ("Run", "Transaction"))
    yield Part("CAUSED", tables["Caused"], ("Transaction", "Transaction"))
    yield from by_place("HOP", "Transaction", tables["Hop"])
    yield Part("WAITED_FOR", tables["WaitedFor"], ("Transaction", "Transaction"))
    yield Part("DID", from_one(run_id, ops["id"]), ("Run", "Op"))
    yield Part("MOVED", tables["Moved"], ("Op", "Transaction"))
    yield Part("DEPENDS_ON", tables["DependsOn"], ("Op", "Op"))
    yield from by_place("USED", "Run", used_by(run_id, tables["Used"]))


def by_place(type_: str, source: str, data: pa.Table) -> Iterator[Part]:
    """Relationships to ``resource``: those to links, then those to components."""
    rest = [name for name in data.column_names if name not in (data.column_names[0], "resource", "is_link")]
    ordered = data.select([data.column_names[0], "resource", *rest])
    yield Part(type_, ordered, (source, "Link"), data["is_link"])
    yield Part(type_, ordered, (source, "Component"), pc.invert(data["is_link"]))


def used_by(run_id: str, used: pa.Table) -> pa.Table:
    """The Used table of a run with the run's id before it."""
    return used.add_column(0, "run", _repeated(run_id, used.num_rows))


def topology_node(topology: TopologyRecord) -> pa.Table:
    """The Topology node, as a table of one row."""
    names = [prop.name for prop in SCHEMA.label("Topology").properties]
    return node_table("Topology", [{name: getattr(topology, name) for name in names}])


def node_table(label: str, rows: list[Mapping[str, Any]]) -> pa.Table:
    """Nodes of one label from their properties."""
    known = SCHEMA.label(label)
    schema = arrow_schema(TableSchema(label, "run", known.doc, known.properties))
    columns = [pa.array([row[field.name] for row in rows], field.type) for field in schema]
    return pa.table(columns, names=schema.names)


def pairs(sources: list[str], targets: list[str]) -> pa.Table:
    """Relationships without properties."""
    return pa.table({"from": pa.array(sources, pa.string()), "to": pa.array(targets, pa.string())})


def from_one(source: str, targets: pa.ChunkedArray) -> pa.Table:
    """Relationships without properties from one node."""
    return pa.table({"from": _repeated(source, len(targets)), "to": targets})


def _repeated(value: str, times: int) -> pa.Array:
    return pa.repeat(pa.scalar(value, pa.string()), times)
