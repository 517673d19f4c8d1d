"""Records projected into LadybugDB: the graph of one run or of several, and that over all runs of a store."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

import pyarrow as pa

from kernbench_graph.projection import GraphPart
from kernbench_graph.records import RunRecord, TopologyRecord
from kernbench_graph.schema import SCHEMA
from kernbench_graph.stores.embedded.cache import Progress
from kernbench_graph.stores.embedded.ddl import statements
from kernbench_graph.stores.embedded.engine import LadybugDatabase

PROJECTION_VERSION = 12
"""Raised whenever the same record would be projected otherwise, so that caches are built anew."""

HISTORY_TABLES = ("Use", "Launch")
"""Tables of runs that the graph over all runs is made from."""


def project(
    database: LadybugDatabase,
    parts: Sequence[GraphPart],
    names: Collection[str],
    progress: Progress | None = None,
    *,
    by_id: bool = False,
    there: Collection[str] = (),
) -> None:
    """Fill an empty database with ``parts``, of the labels and types ``names``, or add them if it has these.

    ``by_id`` says that they are of several runs, and the ends of relationships ids. Components have no
    properties of their own then: those of two topologies may differ in type. Of readings those are left out
    that two runs have in different types.
    """
    parts = _join(parts) if by_id else parts
    if not there:
        database.create(statements(names, _own_properties(parts), by_id=by_id))
    for part in parts:
        database.copy(part.name, part.data, part.ends)


def data_bytes(*records: RunRecord | TopologyRecord) -> int:
    """Size of the records' tables in memory, in bytes."""
    return sum(table.nbytes for record in records for table in record.tables.values())


def _own_properties(parts: Iterable[GraphPart]) -> dict[str, dict[str, pa.DataType]]:
    """The properties that nodes have beyond the common ones, with their types, by label."""
    found: dict[str, dict[str, pa.DataType]] = {}
    for part in parts:
        if part.ends is None and SCHEMA.label(part.name).own:
            common = {prop.name for prop in SCHEMA.label(part.name).properties}
            own = {field.name: field.type for field in part.data.schema if field.name not in common}
            found.setdefault(part.name, {}).update(own)
    return found


def _join(parts: Sequence[GraphPart]) -> list[GraphPart]:
    """Parts of one sort as one, nodes first: each copy opens new pages and reads all that is there."""
    sorts: dict[tuple[str, tuple[str, str] | None], list[pa.Table]] = {}
    for part in parts:
        data = part.data
        if part.ends is None and SCHEMA.label(part.name).record == "topology":
            data = data.select([prop.name for prop in SCHEMA.label(part.name).properties])
        sorts.setdefault((part.name, part.ends), []).append(data)
    joined = [GraphPart(name, _together(tables), ends) for (name, ends), tables in sorts.items()]
    return sorted(joined, key=lambda part: part.ends is not None)


def _together(tables: Sequence[pa.Table]) -> pa.Table:
    """The rows of all tables; a column that some lack is null there, one of several types is left out."""
    if all(table.schema.equals(tables[0].schema) for table in tables):
        return pa.concat_tables(tables)
    types: dict[str, set[pa.DataType]] = {}
    for table in tables:
        for field in table.schema:
            types.setdefault(field.name, set()).add(field.type)
    numbers = {pa.int64(), pa.float64()}
    kept = {name for name, found in types.items() if len(found) == 1 or found <= numbers}
    chosen = [table.select([name for name in table.column_names if name in kept]) for table in tables]
    return pa.concat_tables(chosen, promote_options="permissive")
