"""Records projected into ArcadeDB: the graph of one run or of several, and that over all runs of a store."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

from kernbench_graph.projection import GraphPart, by_second
from kernbench_graph.query.names import Names
from kernbench_graph.schema import SCHEMA
from kernbench_graph.stores.arcade.database import ArcadeDatabase
from kernbench_graph.stores.arcade.ddl import index_statements, type_statements
from kernbench_graph.stores.embedded.cache import Progress

PROJECTION_VERSION = 6
"""Raised whenever the same record would be projected otherwise, so that caches are built anew."""

_INDEXED_FROM = 5000
"""Fewer nodes of a label are looked through in a few milliseconds, and each index takes 256 KB a kind."""


def project(
    database: ArcadeDatabase,
    parts: Sequence[GraphPart],
    names: Collection[str] = (),
    progress: Progress | None = None,
    *,
    by_id: bool = False,
    there: Collection[str] = (),
) -> None:
    """Fill an empty database with ``parts``, or add them to one that has the labels and types ``there``.

    Labels and types are those in ``names``, by default all that the schema has. ``by_id`` says that the ends
    of relationships are ids; otherwise they are keys within the run or topology.
    """

    def key(label: str) -> str:
        return "id" if by_id else SCHEMA.label(label).key

    ends = {label for part in parts for label in part.ends or ()}
    for label in sorted(ends & set(there)):
        database.find_nodes(label, key(label))
    _fill(database, parts, progress, key, names, is_new=not there)


def _fill(
    database: ArcadeDatabase,
    parts: Sequence[GraphPart],
    progress: Progress | None,
    key: Callable[[str], str],
    names: Collection[str],
    *,
    is_new: bool,
) -> None:
    nodes = [part for part in parts if part.ends is None]
    relationships = [part for part in parts if part.ends is not None]
    total = sum(part.data.num_rows for part in parts)
    database.script(_types(nodes, names, is_new))
    done = 0
    with database.filling(sum(part.data.num_rows for part in relationships)):
        for added in _add(database, nodes, relationships, key):
            done += added
            if progress is not None:
                progress(done, total)
    database.script(_indexes(nodes))
    database.describe(_names(nodes, names))


def _add(
    database: ArcadeDatabase,
    nodes: list[GraphPart],
    relationships: list[GraphPart],
    key: Callable[[str], str],
) -> Iterator[int]:
    for part in nodes:
        for second, data in by_second(part):
            type_ = f"{part.name}~{second}" if second else part.name
            yield from database.add_nodes(type_, part.name, data[key(part.name)], data)
    for part in relationships:
        assert part.ends is not None
        yield from database.add_relationships(part.name, part.ends, part.data)


def _names(nodes: Iterable[GraphPart], names: Collection[str]) -> Names:
    """The names that the graph has, of labels and types without nodes or relationships too."""
    labels = {label.name for label in SCHEMA.labels if not names or label.name in names}
    types = {rel.type for rel in SCHEMA.relationships if not names or rel.type in names}
    properties = {prop.name for label in labels for prop in SCHEMA.label(label).properties}
    properties |= {prop.name for type_ in types for prop in SCHEMA.relationship(type_).properties}
    for part in nodes:
        properties |= set(part.data.column_names)
        labels |= {second for second, _ in by_second(part) if second}
    return Names(frozenset(labels), frozenset(types), frozenset(properties))


def _types(nodes: Iterable[GraphPart], names: Collection[str], is_new: bool) -> list[str]:
    labels = [label.name for label in SCHEMA.labels if is_new and (not names or label.name in names)]
    types = [rel.type for rel in SCHEMA.relationships if is_new and (not names or rel.type in names)]
    seconds = {second for part in nodes for second, _ in by_second(part) if second}
    return type_statements(labels, types, sorted(seconds))


def _indexes(nodes: Iterable[GraphPart]) -> list[str]:
    """Statements that make the indexes which the schema asks for, where there is enough to be found."""
    rows: dict[str, int] = {}
    for part in nodes:
        rows[part.name] = rows.get(part.name, 0) + part.data.num_rows
    return [
        statement
        for name, count in rows.items()
        for statement in index_statements(SCHEMA.label(name))
        if count >= _INDEXED_FROM
    ]
