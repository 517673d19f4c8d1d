"""Records projected into LadybugDB: the graph of one run, and the graph over all runs of a store."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from graph.columns import arrow_schema
from graph.schema import SCHEMA, NodeLabel, Property
from graph.schema import Table as TableSchema
from graph.store import RunRecord, TopologyRecord
from graph.stores.connects import connects_table
from graph.stores.ladybug_ddl import history_statements, run_statements
from graph.stores.ladybug_engine import LadybugDatabase

PROJECTION_VERSION = 1
"""Raised whenever the same record would be projected otherwise, so that caches are built anew."""


def project_run(database: LadybugDatabase, run: RunRecord, topology: TopologyRecord) -> None:
    """Fill an empty database with the graph of one run on its topology."""
    database.create(run_statements())
    run_id, tables, parts = run.info["id"], run.tables, topology.tables
    database.copy("Topology", _topology_node(topology))
    database.copy("Component", parts["Component"])
    database.copy("Link", parts["Link"].drop_columns(["src", "dst"]))
    database.copy("Run", _run_nodes([run.info]))
    database.copy("Transaction", tables["Transaction"])
    database.copy("Op", tables["Op"])

    links, components = parts["Link"], parts["Component"]
    database.copy("ON", _pairs([run_id], [topology.id]), ("Run", "Topology"))
    placed = tables["Op"].filter(pc.not_equal(tables["Op"]["component"], ""))
    database.copy("ON", placed.select(["id", "component"]), ("Op", "Component"))
    database.copy("CONTAINS", _from_one(topology.id, components["id"]), ("Topology", "Component"))
    database.copy("CONTAINS", _from_one(topology.id, links["id"]), ("Topology", "Link"))
    database.copy("CONTAINS", parts["Contains"], ("Component", "Component"))
    database.copy("OUT", links.select(["src", "id"]))
    database.copy("IN", links.select(["id", "dst"]))
    database.copy("CONNECTS", connects_table(components, links))
    database.copy("SENT", _from_one(run_id, tables["Transaction"]["id"]))
    database.copy("CAUSED", tables["Caused"])
    _copy_by_place(database, "HOP", "Transaction", tables["Hop"])
    database.copy("WAITED_FOR", tables["WaitedFor"])
    database.copy("DID", _from_one(run_id, tables["Op"]["id"]))
    database.copy("MOVED", tables["Moved"])
    database.copy("DEPENDS_ON", tables["DependsOn"])
    used = tables["Used"]
    _copy_by_place(database, "USED", "Run", used.add_column(0, "run", _repeated(run_id, used.num_rows)))


def project_history(
    database: LadybugDatabase,
    infos: Iterable[Mapping[str, Any]],
    topologies: Iterable[TopologyRecord],
    used: Mapping[str, pa.Table],
) -> None:
    """Fill an empty database with every run, its topology, and what it used.

    ``used`` is the Used table by run id; when it is empty, components and links are left out too.
    """
    database.create(history_statements())
    infos, topologies = list(infos), list(topologies)
    database.copy("Run", _run_nodes(infos))
    for topology in topologies:
        database.copy("Topology", _topology_node(topology))
        if used:
            for name in ("Component", "Link"):
                data = topology.tables[name]
                keys = _place_keys(topology.id, data["id"])
                plain = data.select([prop.name for prop in SCHEMA.label(name).properties])
                database.copy(name, plain.add_column(0, "key", keys))
    known = {topology.id for topology in topologies}
    on = [(info["id"], info["topology"]) for info in infos if info["topology"] in known]
    database.copy("ON", _pairs([run for run, _ in on], [topology for _, topology in on]), ("Run", "Topology"))
    for info in infos:
        if info["id"] in used and info["topology"] in known:
            data = used[info["id"]]
            keys = _place_keys(info["topology"], data["resource"])
            data = data.set_column(data.column_names.index("resource"), "resource", keys)
            _copy_by_place(
                database, "USED", "Run", data.add_column(0, "run", _repeated(info["id"], len(data)))
            )


def data_bytes(*records: RunRecord | TopologyRecord) -> int:
    """Size of the records' tables in memory, in bytes."""
    return sum(table.nbytes for record in records for table in record.tables.values())


def _copy_by_place(database: LadybugDatabase, type_: str, source: str, data: pa.Table) -> None:
    """Copy rows whose second end is ``resource``, to links or to components as ``is_link`` says."""
    rest = [name for name in data.column_names if name not in (data.column_names[0], "resource", "is_link")]
    ordered = data.select([data.column_names[0], "resource", *rest])
    database.copy(type_, ordered.filter(data["is_link"]), (source, "Link"))
    database.copy(type_, ordered.filter(pc.invert(data["is_link"])), (source, "Component"))


def _topology_node(topology: TopologyRecord) -> pa.Table:
    label = SCHEMA.label("Topology")
    return _node_table(label, [{prop.name: getattr(topology, prop.name) for prop in label.properties}])


def _run_nodes(infos: list[Mapping[str, Any]]) -> pa.Table:
    return _node_table(SCHEMA.label("Run"), infos)


def _node_table(label: NodeLabel, rows: list[Any]) -> pa.Table:
    columns: tuple[Property, ...] = label.properties
    schema = arrow_schema(TableSchema(label.name, "run", label.doc, columns))
    return pa.table(
        [pa.array([row[field.name] for row in rows], field.type) for field in schema], names=schema.names
    )


def _pairs(sources: list[str], targets: list[str]) -> pa.Table:
    return pa.table({"from": pa.array(sources, pa.string()), "to": pa.array(targets, pa.string())})


def _from_one(source: str, targets: pa.ChunkedArray) -> pa.Table:
    return pa.table({"from": _repeated(source, len(targets)), "to": targets})


def _repeated(value: str, times: int) -> pa.Array:
    return pa.repeat(pa.scalar(value, pa.string()), times)


def _place_keys(topology_id: str, ids: pa.ChunkedArray) -> pa.ChunkedArray:
    return pc.binary_join_element_wise(topology_id, ids, "/")
