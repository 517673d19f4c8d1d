"""Records projected into LadybugDB: the graph of one run or of several, and that over all runs of a store."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import pyarrow as pa

from kernbench_graph.projection import HISTORY, Part, graph_parts
from kernbench_graph.schema import SCHEMA
from kernbench_graph.store import RunRecord, TopologyRecord
from kernbench_graph.stores.embedded.ddl import statements
from kernbench_graph.stores.embedded.engine import LadybugDatabase

PROJECTION_VERSION = 7
"""Raised whenever the same record would be projected otherwise, so that caches are built anew."""

HISTORY_TABLES = ("Use", "Launch")
"""Tables of runs that the graph over all runs is made from."""


def project(
    database: LadybugDatabase, parts: Sequence[Part], names: Collection[str], *, by_id: bool = False
) -> None:
    """Fill an empty database with all ``parts`` that there are of the labels and types ``names``.

    ``by_id`` says that they are of several runs, and the ends of relationships ids. Components have no
    properties of their own then: those of two topologies may differ in type.
    """
    database.create(statements(names, {} if by_id else _attributes(parts), by_id=by_id))
    for part in _joined(parts) if by_id else parts:
        database.copy(part.name, part.data, part.ends)


def project_history(
    database: LadybugDatabase,
    topologies: Iterable[TopologyRecord],
    runs: Iterable[RunRecord],
    names: Collection[str] = HISTORY,
) -> None:
    """Fill an empty database with every run and its topology, and with its launches and its use of resources.

    A run whose topology is not in ``topologies`` has no relationship to it; one without tables has neither
    launches nor use.
    """
    project(database, graph_parts(runs, topologies, names, by_id=True), names, by_id=True)


def extend_history(
    database: LadybugDatabase,
    topologies: Iterable[TopologyRecord],
    runs: Iterable[RunRecord],
    there: Iterable[TopologyRecord],
) -> None:
    """Add ``topologies`` and ``runs`` to the graph over all runs, which has the topologies ``there``."""
    for part in _joined(graph_parts(runs, topologies, HISTORY, by_id=True, others=there)):
        database.copy(part.name, part.data, part.ends)


def retag_history(database: LadybugDatabase, infos: Iterable[Mapping[str, Any]]) -> None:
    """Give runs in the graph over all runs the tags that they have now."""
    for info in infos:
        database.write("MATCH (r:Run {id: $id}) SET r.tags = $tags", {"id": info["id"], "tags": info["tags"]})


def data_bytes(*records: RunRecord | TopologyRecord) -> int:
    """Size of the records' tables in memory, in bytes."""
    return sum(table.nbytes for record in records for table in record.tables.values())


def _attributes(parts: Iterable[Part]) -> dict[str, pa.DataType]:
    """The properties that components have beyond the common ones, with their types."""
    common = {prop.name for prop in SCHEMA.label("Component").properties}
    schemas = [part.data.schema for part in parts if part.name == "Component"]
    return {field.name: field.type for schema in schemas for field in schema if field.name not in common}


def _joined(parts: Sequence[Part]) -> list[Part]:
    """Parts of one sort as one, nodes first: each copy opens new pages and reads all that is there."""
    sorts: dict[tuple[str, tuple[str, str] | None], list[pa.Table]] = {}
    for part in parts:
        data = part.data
        if part.ends is None:
            data = data.select([prop.name for prop in SCHEMA.label(part.name).properties])
        sorts.setdefault((part.name, part.ends), []).append(data)
    joined = [Part(name, pa.concat_tables(tables), ends) for (name, ends), tables in sorts.items()]
    return sorted(joined, key=lambda part: part.ends is not None)
