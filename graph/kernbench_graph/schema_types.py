"""The parts of a schema description: columns of archive tables, node labels, relationship types.

An archive table is one Parquet file. A node label takes its nodes from one table, or from the properties of
the run or topology itself; a relationship type takes its relationships from the rows of one or more tables,
whose columns name both ends. So the graph needs no description of its own beside the archive's.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

PropertyType = Literal["string", "int64", "int32", "double", "bool"]
Record = Literal["run", "topology"]
Scalar = str | int | float | bool


@dataclass(frozen=True, slots=True)
class Property:
    """One typed property of a node or relationship, and usually one column of an archive table."""

    name: str
    type: PropertyType
    doc: str
    unit: str = ""
    indexed: bool = False
    """Worth an index where a store has them, because questions select by it."""
    to: str = ""
    """Table in which the value must be a key. Such a column becomes relationships instead of a property."""
    shown: bool = False
    """Of a reference: it is a property as well."""
    absent: Scalar | None = None
    """The value of a reference that refers to nothing."""
    default: Scalar | None = None
    """The value where a producer leaves the column out; None: it must be there."""
    hidden: bool = False
    """Kept in the archive and not in the graph."""

    column: str = ""
    """Column of the table that it is taken from, where that has another name."""

    @property
    def in_graph(self) -> bool:
        """Whether nodes carry it as a property."""
        return self.shown or not (self.to or self.hidden)


@dataclass(frozen=True, slots=True)
class Table:
    """One Parquet file of a record. ``key`` is the column that identifies a row, where one does."""

    name: str
    record: Record
    doc: str
    columns: tuple[Property, ...]
    key: str = ""
    computed: str = ""
    """The analysis that works it out from the other tables when it is first asked for: no archive has it."""
    fact: bool = False
    """Worked out from the other tables of every run: it is in every graph of one, and beside the archive."""
    by_hop: bool = False
    """Of a fact: it, or what comes with it, has about as many rows as the run has hops."""
    optional: bool = False
    """Archives have its file only where it has rows."""
    added: bool = False
    """Added to a kept run, a piece at a time, and kept beside the archive (:mod:`kernbench_graph.added`)."""
    described: bool = False
    """Follows from the properties of the run and its topology alone (:mod:`kernbench_graph.described`)."""

    def column(self, name: str) -> Property:
        """The column of that name; ``KeyError`` when there is none."""
        for column in self.columns:
            if column.name == name:
                return column
        raise KeyError(f"{self.name}.{name}")


@dataclass(frozen=True, slots=True)
class NodeLabel:
    """A node label.

    A node's ``id`` is text that no other node of any run or topology has: the id of its run or topology, a
    ``/``, ``prefix`` and the value of ``key``; for runs and topologies themselves, ``key`` is ``id``.
    """

    name: str
    record: Record
    doc: str
    properties: tuple[Property, ...]
    """In order; ``id`` and ``name`` come first."""
    key: str
    """Property that identifies a node within its run or topology."""
    prefix: str = ""
    title: str = ""
    """Template of the node's ``name``, such as ``{kind} {number}``; empty where the name is a column."""
    own: str = ""
    """Column with further properties of each node, as JSON text of an object; empty where there are none."""
    more: str = ""
    """A described table with the last of the properties, by the same key; those of nodes without a row of it
    are the defaults."""

    def property(self, name: str) -> Property:
        """The property of that name; ``KeyError`` when there is none."""
        for candidate in self.properties:
            if candidate.name == name:
                return candidate
        raise KeyError(f"{self.name}.{name}")


ID = Property("id", "string", "Unique over all nodes of all runs and topologies.", indexed=True)


def label_of(
    table: Table, doc: str, prefix: str = "", title: str = "", own: str = "", more: Table | None = None
) -> NodeLabel:
    """The label whose nodes are the rows of ``table``: they have its columns except references.

    ``more`` has further ones, and the same key.
    """
    columns = tuple(column for column in table.columns if column.in_graph and column.name != "name")
    columns += tuple(column for column in more.columns if column.name != table.key) if more else ()
    known = [column for column in table.columns if column.name == "name"]
    name = known[0] if known else Property("name", "string", f"For people: {title}.")
    properties = (ID, name, *columns)
    return NodeLabel(
        table.name, table.record, doc, properties, table.key, prefix, title, own, more.name if more else ""
    )


@dataclass(frozen=True, slots=True)
class Edges:
    """Rows of one table as relationships between nodes of two labels.

    ``source`` and ``target`` are columns that hold keys of the labels; ``""`` stands for the run or topology
    itself. Rows in which an end is absent make no relationship, and neither do those in which the column
    ``where`` is false or absent, or ``unless`` true or present. Without a table it is one relationship, from
    the run to its topology.
    """

    table: str
    source: tuple[str, str]
    target: tuple[str, str]
    where: str = ""
    unless: str = ""


@dataclass(frozen=True, slots=True)
class Relationship:
    """A relationship type, where its relationships come from and the properties that they carry."""

    type: str
    doc: str
    rows: tuple[Edges, ...]
    properties: tuple[Property, ...] = ()
    more: str = ""
    """A fact table with the rest of the properties, one row for each of the rows' table, in its order."""

    @property
    def pairs(self) -> tuple[tuple[str, str], ...]:
        """The pairs of labels ``(from, to)`` that it joins, each once."""
        return tuple(dict.fromkeys((rows.source[0], rows.target[0]) for rows in self.rows))


@dataclass(frozen=True)
class Schema:
    """The whole description; order is the order in which things are written, created and documented."""

    version: int
    tables: tuple[Table, ...]
    labels: tuple[NodeLabel, ...]
    relationships: tuple[Relationship, ...]
    info: Mapping[Record, tuple[Property, ...]]
    """Properties of the Run and Topology nodes, which are kept in the manifest rather than in a table."""

    def label(self, name: str) -> NodeLabel:
        """The label of that name; ``KeyError`` when there is none."""
        return self._labels[name]

    def relationship(self, type_: str) -> Relationship:
        """The relationship of that type; ``KeyError`` when there is none."""
        return self._relationships[type_]

    def table(self, name: str) -> Table:
        """The archive table of that name; ``KeyError`` when there is none."""
        return self._tables[name]

    def record_tables(self, record: Record) -> tuple[Table, ...]:
        """The tables that make up an archived record of that sort, in order."""
        return tuple(
            table
            for table in self.tables
            if table.record == record and not (table.computed or table.fact or table.added or table.described)
        )

    def computed_names(self) -> frozenset[str]:
        """Labels and relationship types whose rows are worked out when they are first asked for."""
        return self._names_from({table.name for table in self.tables if table.computed})

    def analyses(self, names: Collection[str]) -> list[str]:
        """The analyses that work out rows of the labels and relationship types ``names``."""
        asked = frozenset(names)
        return sorted({by for by, worked_out in self._worked_out if not worked_out.isdisjoint(asked)})

    @cached_property
    def _worked_out(self) -> list[tuple[str, frozenset[str]]]:
        """Analyses, and the labels and types of each table that they work out."""
        return [(table.computed, self._names_from({table.name})) for table in self.tables if table.computed]

    @cached_property
    def names(self) -> tuple[str, ...]:
        """All labels, then all relationship types."""
        return (*self._labels, *self._relationships)

    @cached_property
    def _labels(self) -> dict[str, NodeLabel]:
        return {label.name: label for label in self.labels}

    @cached_property
    def _relationships(self) -> dict[str, Relationship]:
        return {rel.type: rel for rel in self.relationships}

    @cached_property
    def _tables(self) -> dict[str, Table]:
        return {table.name: table for table in self.tables}

    def fact_names(self) -> frozenset[str]:
        """Labels and relationship types whose rows are worked out for every run."""
        return self._names_from({table.name for table in self.tables if table.fact})

    def added_names(self) -> frozenset[str]:
        """Labels and relationship types whose rows are added to runs that are kept already."""
        return self._names_from({table.name for table in self.tables if table.added})

    def described_names(self) -> frozenset[str]:
        """Labels and relationship types that follow from the properties of runs and topologies alone."""
        return self._names_from({table.name for table in self.tables if table.described})

    def _names_from(self, tables: set[str]) -> frozenset[str]:
        labels = {label.name for label in self.labels if label.name in tables}
        types = {rel.type for rel in self.relationships if {rows.table for rows in rel.rows} <= tables}
        return frozenset(labels | types)

    def properties(self) -> dict[str, set[PropertyType]]:
        """The types that each property name has, over all labels and relationship types."""
        found: dict[str, set[PropertyType]] = {}
        owned = [label.properties for label in self.labels] + [rel.properties for rel in self.relationships]
        for properties in owned:
            for prop in properties:
                found.setdefault(prop.name, set()).add(prop.type)
        return found
