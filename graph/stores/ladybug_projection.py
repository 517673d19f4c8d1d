"""Records projected into LadybugDB: the graph of one run, and the graph over all runs of a store."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from graph.schema import SCHEMA
from graph.store import RunRecord, TopologyRecord
from graph.stores.ladybug_ddl import history_statements, run_statements
from graph.stores.ladybug_engine import LadybugDatabase
from graph.stores.run_parts import by_place, node_table, pairs, run_parts, topology_node, used_by

PROJECTION_VERSION = 2
"""Raised whenever the same record would be projected otherwise, so that caches are built anew."""


def project_run(database: LadybugDatabase, run: RunRecord, topology: TopologyRecord) -> None:
    """Fill an empty database with the graph of one run on its topology."""
    database.create(run_statements())
    for part in run_parts(run, topology):
        database.copy(part.name, part.table(), part.ends)


def project_history(
    database: LadybugDatabase,
    infos: Iterable[Mapping[str, Any]],
    topologies: Iterable[TopologyRecord],
    used: Mapping[str, pa.Table] | None,
) -> None:
    """Fill an empty database with every run, its topology, and what it used.

    ``used`` is the Used table by run id; without it, components and links are left out too.
    """
    database.create(history_statements())
    topologies = list(topologies)
    extend_history(database, infos, topologies, used, {topology.id for topology in topologies})


def extend_history(
    database: LadybugDatabase,
    infos: Iterable[Mapping[str, Any]],
    topologies: Sequence[TopologyRecord],
    used: Mapping[str, pa.Table] | None,
    known: Collection[str],
) -> None:
    """Add runs and topologies to the graph over all runs; ``known`` are the topologies that it has then."""
    infos = list(infos)
    database.copy("Run", node_table("Run", infos))
    # Each table in one go: every copy opens new pages, and works through what is there.
    if topologies:
        database.copy("Topology", pa.concat_tables([topology_node(topology) for topology in topologies]))
    for name in ("Component", "Link") if topologies and used is not None else ():
        database.copy(name, pa.concat_tables([_places(name, topology) for topology in topologies]))
    on = [info for info in infos if info["topology"] in known]
    ends = pairs([info["id"] for info in on], [info["topology"] for info in on])
    database.copy("ON", ends, ("Run", "Topology"))
    uses = []
    for info in on:
        if used is not None and info["id"] in used:
            data = used[info["id"]]
            keys = _place_keys(info["topology"], data["resource"])
            data = data.set_column(data.column_names.index("resource"), "resource", keys)
            uses.append(used_by(info["id"], data))
    if uses:
        for part in by_place("USED", "Run", pa.concat_tables(uses)):
            database.copy(part.name, part.table(), part.ends)


def retag_history(database: LadybugDatabase, infos: Iterable[Mapping[str, Any]]) -> None:
    """Give runs in the graph over all runs the tags that they have now."""
    for info in infos:
        database.write("MATCH (r:Run {id: $id}) SET r.tags = $tags", {"id": info["id"], "tags": info["tags"]})


def data_bytes(*records: RunRecord | TopologyRecord) -> int:
    """Size of the records' tables in memory, in bytes."""
    return sum(table.nbytes for record in records for table in record.tables.values())


def _places(label: str, topology: TopologyRecord) -> pa.Table:
    """Components or links of a topology, with keys that no other topology has."""
    data = topology.tables[label]
    plain = data.select([prop.name for prop in SCHEMA.label(label).properties])
    return plain.add_column(0, "key", _place_keys(topology.id, data["id"]))


def _place_keys(topology_id: str, ids: pa.ChunkedArray) -> pa.ChunkedArray:
    return pc.binary_join_element_wise(topology_id, ids, "/")
