"""Nodes and relationships of a run and of a topology, made from their tables as the schema says.

Every store and the networkx view are filled from these parts. Nodes come before relationships, so that a
store can write the parts in order.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from string import Formatter
from typing import Any

import pyarrow as pa

from kernbench_graph.archive.canonical import ARROW_TYPES
from kernbench_graph.archive.record import rows_of_windows
from kernbench_graph.described import described
from kernbench_graph.query.windows import plain, windows_in
from kernbench_graph.records import RunRecord, TopologyRecord
from kernbench_graph.schema import SCHEMA
from kernbench_graph.schema_types import Edges, NodeLabel, Record, Relationship

_RUNS = ("Topology", "Run", "RAN_ON")
_DESCRIBED = (*_RUNS, "Param", "Tag", "HAS_PARAM", "TAGGED", "CONFIGURED")
_TABLELESS = frozenset(_DESCRIBED)
"""Labels and types that need no table of a run."""
HISTORY = (*_DESCRIBED, "Component", "Link", "Use", "Launch", "USED", "OF", "LAUNCHED")
"""Labels and types of the graph over all runs."""


def history_for(names: Collection[str]) -> tuple[str, ...]:
    """What the graph over all runs has where the labels and types ``names`` of it are asked for.

    >>> history_for({"Run"})
    ('Topology', 'Run', 'RAN_ON')
    """
    steps = (_RUNS, _DESCRIBED, HISTORY)
    return next((step for step in steps if not {*names} & {*HISTORY} - {*step}), HISTORY)


@dataclass(frozen=True, slots=True)
class GraphPart:
    """Nodes of one label, or relationships of one type between two labels.

    ``data`` holds the properties of nodes in the schema's order; of relationships, the columns ``from`` and
    ``to`` with both ends, and then the properties.
    """

    name: str
    data: pa.Table
    ends: tuple[str, str] | None = None


class Projection:
    """The parts of one run on its topology, or of a topology alone.

    ``by_id`` gives the ends of relationships as ids, which are unique over all runs; otherwise they are keys,
    which are shorter and unique within the run or topology.
    """

    def __init__(
        self, topology: TopologyRecord, run: RunRecord | None = None, *, by_id: bool = False
    ) -> None:
        self._by_id = by_id
        self._tables: dict[Record, Mapping[str, pa.Table]] = {"topology": topology.tables}
        self._owners: dict[Record, str] = {"topology": topology.id}
        self._info: dict[Record, Mapping[str, Any]] = {
            "topology": {prop.name: getattr(topology, prop.name) for prop in SCHEMA.info["topology"]}
        }
        if run is not None:
            self._tables["run"] = run.tables
            self._owners["run"] = str(run.info["id"])
            self._info["run"] = run.info

    def parts(self, record: Record, names: Collection[str] = ()) -> Iterator[GraphPart]:
        """The nodes and relationships that come from the topology, or from the run.

        Only those of the labels and types in ``names``, where it is given.
        """
        for label in SCHEMA.labels:
            if label.record == record and (not names or label.name in names) and self._has(label.name):
                yield GraphPart(label.name, self.nodes(label))
        types = plain(names)
        for rel in SCHEMA.relationships:
            if not names or rel.type in types:
                windows = windows_in(names, rel.type)
                for rows in rel.rows:
                    of = SCHEMA.table(rows.table).record if rows.table else "run"
                    if of == record and self._has(rows.table):
                        yield self._relationships(rel, rows, windows)

    def _table(self, name: str, windows: Collection[str] | None = None) -> pa.Table:
        """The rows of a table, of ``windows`` alone if given; described rows refer to rows that exist."""
        import pyarrow.compute as pc

        table = SCHEMA.table(name)
        if not table.described:
            tables = self._tables[table.record]
            return tables[name] if windows is None else rows_of_windows(tables, name, windows)
        rows = described(self._info["run"], str(self._info["topology"]["spec"]), name)
        for column in table.columns:
            if column.to:
                keys = self._table(column.to)[SCHEMA.table(column.to).key].combine_chunks()
                known = pc.is_in(rows[column.name], value_set=keys)
                if column.absent is not None:  # it refers to none
                    known = pc.or_(known, pc.equal(rows[column.name], column.absent))
                rows = rows.filter(known)
        return rows

    def _has(self, table: str) -> bool:
        """Whether the rows of a table are there; those that are computed may not have been asked for."""
        known = {entry.name: entry for entry in SCHEMA.tables if entry.computed or entry.fact or entry.added}
        return table not in known or table in self._tables[known[table].record]

    def nodes(self, label: NodeLabel) -> pa.Table:
        """All nodes of a label, with its properties in order, and of components their own."""
        if label.name in ("Run", "Topology"):
            source = _one_row(SCHEMA.label(label.name), self._info[label.record])
        else:
            source = self._with_more_of(label, self._table(label.name))
        columns: dict[str, Any] = {}
        for prop in label.properties:
            if prop.name == "id" and label.key != "id":
                columns["id"] = self._ids(label, source[label.key])
            elif prop.name == "name" and label.title:
                columns["name"] = _titles(label.title, source)
            else:
                columns[prop.name] = source[prop.column or prop.name]
        if label.own:
            columns |= own_columns(source[label.own], label)
        if label.name == "Component":
            for name in _ASKED_FOR:
                columns.setdefault(name, pa.nulls(source.num_rows, pa.int64()))
        return pa.table(columns)

    def _with_more_of(self, label: NodeLabel, data: pa.Table) -> pa.Table:
        """The rows of a label with what its described table says of each."""
        import pyarrow.compute as pc

        if not label.more:
            return data
        more = self._table(label.more)
        at = pc.index_in(data[label.key], value_set=more[label.key].combine_chunks())
        for column in SCHEMA.table(label.more).columns:
            if column.name != label.key:
                values = pc.fill_null(more[column.name].take(at), column.default)
                data = data.append_column(column.name, values)
        return data

    def _relationships(self, rel: Relationship, rows: Edges, windows: Collection[str] | None) -> GraphPart:
        ends = (rows.source[0], rows.target[0])
        if not rows.table:
            pair = {"from": [self._owners["run"]], "to": [self._owners["topology"]]}
            return GraphPart(rel.type, pa.table(pair, schema=_PAIR), ends)
        data = self._with_more(rel, self._table(rows.table, windows))
        kept = _rows_to_keep(rows, data)
        if kept is not None:
            data = data.filter(kept)
        columns = {
            "from": self._end(rows, rows.source, data),
            "to": self._end(rows, rows.target, data),
            **{prop.name: data[prop.column or prop.name] for prop in rel.properties},
        }
        return GraphPart(rel.type, pa.table(columns), ends)

    def _with_more(self, rel: Relationship, data: pa.Table) -> pa.Table:
        """The rows of relationships with what a fact table says of each; its defaults where there is none."""
        if not rel.more:
            return data
        columns = [prop for prop in rel.properties if prop.name not in data.column_names]
        more = self._tables["run"][rel.more] if columns and self._has(rel.more) else None
        for prop in columns:
            default = pa.scalar(prop.default, ARROW_TYPES[prop.type])
            values = pa.repeat(default, data.num_rows) if more is None else more[prop.name]
            data = data.append_column(prop.name, values)
        return data

    def _end(self, rows: Edges, end: tuple[str, str], data: pa.Table) -> Any:
        label, column = SCHEMA.label(end[0]), end[1]
        if not column:
            owner = self._owners[label.record]
            return pa.repeat(pa.scalar(owner, pa.string()), data.num_rows)
        return self._ids(label, data[column]) if self._by_id else data[column]

    def _ids(self, label: NodeLabel, keys: pa.ChunkedArray) -> pa.ChunkedArray:
        import pyarrow.compute as pc

        prefix = f"{self._owners[label.record]}/{label.prefix}"
        return pc.binary_join_element_wise(pa.scalar(prefix), keys.cast(pa.string()), "")


def graph_parts(
    runs: Iterable[RunRecord],
    topologies: Iterable[TopologyRecord],
    names: Collection[str],
    *,
    by_id: bool = False,
    others: Iterable[TopologyRecord] = (),
) -> list[GraphPart]:
    """The nodes and relationships ``names`` of runs and of topologies, nodes first.

    A run whose topology is neither among these nor among ``others`` has no relationship to it; one without
    tables has nothing else, either. See :class:`Projection` for ``by_id``.
    """
    fresh = list(topologies)
    known = {topology.id: topology for topology in (*fresh, *others)}
    found = [part for one in fresh for part in Projection(one, by_id=by_id).parts("topology", names)]
    for run in runs:
        machine = known.get(str(run.info["topology"]))
        if machine is None:
            found += Projection(_NOWHERE, run).parts("run", ("Run",))
        elif of := names if run.tables else _TABLELESS & frozenset(names):
            found += Projection(machine, run, by_id=by_id).parts("run", of)
    return sorted(found, key=lambda part: part.ends is not None)


_NOWHERE = TopologyRecord("", "", "", {})
_PAIR = pa.schema([("from", pa.string()), ("to", pa.string())])
_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,63}")
_KNOWN = {name.lower(): ARROW_TYPES[type_] for name, types in SCHEMA.properties().items() for type_ in types}
_SCHEMA_NAMES = frozenset(SCHEMA.names)
_ASKED_FOR = ("burst_bytes", "scratch_bytes", "tile_k", "tile_m", "tile_n")
"""Properties of some kinds that questions of the library read: null on a machine without such a part."""
_OWN_PREFIXES = ("InRun", "InHistory", "Kernbench")
"""Of labels that stores add for themselves."""


def second_label(text: str) -> str:
    """``text``, a component's property ``label``, where nodes can have it as their second label; else empty.

    A kind is a user's own word: one that is not plain, or has a meaning, stays a property only.
    """
    reserved = text in _SCHEMA_NAMES or text.startswith(_OWN_PREFIXES)
    return text if _PLAIN.fullmatch(text) and not reserved else ""


def by_second(part: GraphPart) -> Iterator[tuple[str, pa.Table]]:
    """The rows of a part by the second label that its nodes have; components alone have one."""
    import pyarrow.compute as pc

    if part.name != "Component":
        yield "", part.data
        return
    column = part.data["label"]
    by_label: dict[str, list[str]] = {}
    for text in pc.unique(column).to_pylist():
        by_label.setdefault(second_label(text), []).append(text)
    for second, texts in by_label.items():
        yield second, part.data.filter(pc.is_in(column, value_set=pa.array(texts, pa.string())))


def own_columns(texts: pa.ChunkedArray, label: NodeLabel) -> dict[str, pa.Array]:
    """One column for each property that nodes of a label have beyond the common ones; null where it lacks.

    ``texts`` are the nodes' own properties, each the JSON text of an object. A name has one type: the one
    that its values have, floats where whole numbers are among floats, otherwise text. A property with the
    name of one that every node of the label has, or that has another type elsewhere in the graph, is called
    ``own_<name>``.
    """
    rows = [json.loads(text) for text in texts.to_pylist()]
    found: dict[str, pa.Array] = {}
    taken = {prop.name.lower() for prop in label.properties}
    for name in sorted({name for row in rows for name in row if _PLAIN.fullmatch(name)}):
        values = _as_type([row.get(name) for row in rows])
        if label.record == "run" and values.type == pa.int64():
            values = values.cast(_KNOWN.get(name, values.type))  # kept as what the name is elsewhere
        other = name.lower() in taken or _KNOWN.get(name.lower(), values.type) != values.type
        column = f"own_{name}" if other else name
        if column.lower() not in taken:
            found[column] = values
            taken.add(column.lower())
    return found


def _as_type(values: list[Any]) -> pa.Array:
    kinds = {type(value) for value in values if value is not None}
    for allowed, arrow in ((bool,), pa.bool_()), ((int,), pa.int64()), ((int, float), pa.float64()):
        if kinds <= set(allowed):
            return pa.array(values, arrow)
    texts = [value if value is None or isinstance(value, str) else json.dumps(value) for value in values]
    return pa.array(texts, pa.string())


def _one_row(label: NodeLabel, info: Mapping[str, Any]) -> pa.Table:
    fields = [prop for prop in label.properties if prop.name in info]
    return pa.table({prop.name: pa.array([info[prop.name]], ARROW_TYPES[prop.type]) for prop in fields})


def _titles(template: str, source: pa.Table) -> pa.ChunkedArray:
    """The template filled in with the columns that it names, row by row."""
    import pyarrow.compute as pc

    pieces: list[Any] = []
    for text, column, _, _ in Formatter().parse(template):
        if text:
            pieces.append(pa.scalar(text))
        if column:
            pieces.append(source[column].cast(pa.string()))
    return pc.binary_join_element_wise(*pieces, "")


def _rows_to_keep(rows: Edges, data: pa.Table) -> Any:
    """Which rows make relationships; None for all."""
    import pyarrow.compute as pc

    table = SCHEMA.table(rows.table)
    kept = None
    for column, wanted in ((rows.source[1], True), (rows.target[1], True), (rows.where, True),
                           (rows.unless, False)):  # fmt: skip
        if not column:
            continue
        described = table.column(column)
        if described.type == "bool":
            present = data[column]
        elif described.absent is None:
            continue
        else:
            present = pc.not_equal(data[column], pa.scalar(described.absent, data[column].type))
        chosen = present if wanted else pc.invert(present)
        kept = chosen if kept is None else pc.and_(kept, chosen)
    return kept
