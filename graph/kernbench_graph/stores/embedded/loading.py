"""Records projected into LadybugDB: the graph of one run, and the graph over all runs of a store."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import pyarrow as pa

from kernbench_graph.projection import HISTORY, SMALL_HISTORY, Part, Projection
from kernbench_graph.schema import SCHEMA
from kernbench_graph.store import RunRecord, TopologyRecord
from kernbench_graph.stores.embedded.ddl import history_statements, node_table, relationship_table, statements
from kernbench_graph.stores.embedded.engine import LadybugDatabase
from kernbench_graph.stores.embedded.enough import Enough
from kernbench_graph.stores.embedded.extent import Extent

PROJECTION_VERSION = 5
"""Raised whenever the same record would be projected otherwise, so that caches are built anew."""

HISTORY_TABLES = ("Use", "Launch")
"""Tables of runs that it is made from."""

_LABELS = frozenset(label.name for label in SCHEMA.labels)


def project_topology(database: LadybugDatabase, topology: TopologyRecord) -> None:
    """Fill an empty database with a topology, and with the empty tables of a run."""
    components = Projection(topology).nodes(SCHEMA.label("Component"))
    common = {prop.name for prop in SCHEMA.label("Component").properties}
    types = dict(zip(components.column_names, components.schema.types, strict=True))
    database.create(statements({name: kind for name, kind in types.items() if name not in common}))
    _copy(database, Projection(topology).parts("topology"))


def project_run(database: LadybugDatabase, run: RunRecord, topology: TopologyRecord) -> None:
    """Add a run to the database of its topology."""
    _copy(database, Projection(topology, run).parts("run"))


def project_some(
    database: LadybugDatabase,
    run: RunRecord,
    topology: TopologyRecord,
    wanted: Extent,
    enough: Collection[Enough],
) -> None:
    """Fill an empty database with a part of a run's graph; of some types with what is enough of them."""
    database.create(node_table(label, label.key, {}) for label in wanted.labels)
    database.create(relationship_table(rel, rel.pairs, wanted.one_way) for rel in wanted.types)
    chosen = {some.type: some for some in enough}
    for part in Projection(topology, run).some(wanted.labels, wanted.types):
        some = chosen.get(part.name)
        data = part.data if some is None else part.data.filter(some.among(part.data, run.tables))
        database.copy(part.name, data, part.ends)


def project_computed(database: LadybugDatabase, run: RunRecord, topology: TopologyRecord) -> None:
    """Add what was worked out from a run to its database."""
    _copy(database, Projection(topology, run).parts("run", tuple(sorted(SCHEMA.computed_names()))))


def project_history(
    database: LadybugDatabase,
    topologies: Sequence[TopologyRecord],
    runs: Iterable[RunRecord],
    names: Collection[str] = HISTORY,
) -> None:
    """Fill an empty database with every run and its topology, and with its launches and its use of resources.

    A run whose topology is not in ``topologies`` has no relationship to it; one without tables has neither
    launches nor use.
    """
    labels = [name for name in names if name in _LABELS]
    database.create(history_statements(labels, [name for name in names if name not in labels]))
    extend_history(database, topologies, runs, {record.id: record for record in topologies}, names)


def extend_history(
    database: LadybugDatabase,
    topologies: Sequence[TopologyRecord],
    runs: Iterable[RunRecord],
    known: Mapping[str, TopologyRecord],
    names: Collection[str] = HISTORY,
) -> None:
    """Add ``topologies``, which it lacks, and ``runs`` to the graph over all runs.

    ``known`` are all topologies that it has then.
    """
    wanted = tuple(names)
    parts = [
        part for record in topologies for part in Projection(record, by_id=True).parts("topology", wanted)
    ]
    for run in runs:
        topology = known.get(run.info["topology"])
        if topology is None:
            parts += Projection(_NOWHERE, run).parts("run", ("Run",))
        else:
            chosen = wanted if run.tables else SMALL_HISTORY
            parts += Projection(topology, run, by_id=True).parts("run", chosen)
    _copy(database, _joined(parts))


def retag_history(database: LadybugDatabase, infos: Iterable[Mapping[str, Any]]) -> None:
    """Give runs in the graph over all runs the tags that they have now."""
    for info in infos:
        database.write("MATCH (r:Run {id: $id}) SET r.tags = $tags", {"id": info["id"], "tags": info["tags"]})


def data_bytes(*records: RunRecord | TopologyRecord) -> int:
    """Size of the records' tables in memory, in bytes."""
    return sum(table.nbytes for record in records for table in record.tables.values())


_NOWHERE = TopologyRecord("", "", "", {})


def _copy(database: LadybugDatabase, parts: Iterable[Part]) -> None:
    for part in parts:
        database.copy(part.name, part.data, part.ends)


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
