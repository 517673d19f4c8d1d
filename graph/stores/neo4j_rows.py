"""The rows that make up a run's graph in Neo4j, as statements over batches of about ten thousand rows.

Statements are built from names of the schema alone; whatever a record holds is a parameter.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from graph.schema import SCHEMA
from graph.store import TopologyRecord
from graph.stores.connects import connects_table

BATCH = 10_000
_SECOND = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,63}")
_SCHEMA_LABELS = frozenset(label.name for label in SCHEMA.labels)


@dataclass(frozen=True, slots=True)
class Batch:
    """A statement and the rows that it is run with; it returns how many it has made."""

    cypher: str
    rows: list[list[Any]]
    parameters: Mapping[str, Any]


def run_graph(
    scope: str, number: int, info: Mapping[str, Any], tables: Mapping[str, pa.Table], topology: TopologyRecord
) -> Iterator[Batch]:
    """All of one run's graph: first nodes, then relationships. ``scope`` is the label that they all get."""
    parts = topology.tables
    fixed = {"scope": scope, "run": number}
    yield from _nodes("Topology", [_values("Topology", vars_of(topology))], fixed)
    components = parts["Component"]
    for second in sorted(set(components["label"].to_pylist())):
        of_kind = components.filter(pc.equal(components["label"], second))
        yield from _nodes("Component", _rows("Component", of_kind), fixed, second)
    yield from _nodes("Link", _rows("Link", parts["Link"]), fixed)
    yield from _nodes("Run", [_values("Run", info)], fixed)
    yield from _nodes("Transaction", _rows("Transaction", tables["Transaction"]), fixed)
    yield from _nodes("Op", _rows("Op", tables["Op"]), fixed)

    links, ops = parts["Link"], tables["Op"]
    run, machine = info["id"], topology.id

    def join(type_: str, source: str, target: str, data: Iterable[Any], *properties: str) -> Iterator[Batch]:
        return _relationships(type_, source, target, data, fixed, properties)

    yield from join("ON", "Run", "Topology", [[run, machine]])
    placed = ops.filter(pc.not_equal(ops["component"], ""))
    yield from join("ON", "Op", "Component", _listed(placed.select(["id", "component"])))
    for label in ("Component", "Link"):
        yield from join("CONTAINS", "Topology", label, _from_one(machine, parts[label]["id"]))
    yield from join("CONTAINS", "Component", "Component", _listed(parts["Contains"]))
    yield from join("OUT", "Component", "Link", _listed(links.select(["src", "id"])))
    yield from join("IN", "Link", "Component", _listed(links.select(["id", "dst"])))
    connects = connects_table(components, links)
    yield from join("CONNECTS", "Component", "Component", _listed(connects), *connects.column_names[2:])
    yield from join("SENT", "Run", "Transaction", _from_one(run, tables["Transaction"]["id"]))
    yield from join("CAUSED", "Transaction", "Transaction", _listed(tables["Caused"]))
    for label, part in by_place(tables["Hop"], "txn"):
        yield from join("HOP", "Transaction", label, _listed(part), *part.column_names[2:])
    waited = tables["WaitedFor"]
    yield from join("WAITED_FOR", "Transaction", "Transaction", _listed(waited), *waited.column_names[2:])
    yield from join("DID", "Run", "Op", _from_one(run, ops["id"]))
    yield from join("MOVED", "Op", "Transaction", _listed(tables["Moved"]))
    yield from join("DEPENDS_ON", "Op", "Op", _listed(tables["DependsOn"]), "hazard")
    used = tables["Used"]
    used = used.add_column(0, "run", pa.repeat(pa.scalar(run, pa.string()), used.num_rows))
    for label, part in by_place(used, "run"):
        yield from join("USED", "Run", label, _listed(part), *part.column_names[2:])


def by_place(data: pa.Table, first: str) -> Iterator[tuple[str, pa.Table]]:
    """Rows that end at a link, then those that end at a component: columns ``first, resource, rest``."""
    rest = [name for name in data.column_names if name not in (first, "resource", "is_link")]
    ordered = data.select([first, "resource", *rest])
    yield "Link", ordered.filter(data["is_link"])
    yield "Component", ordered.filter(pc.invert(data["is_link"]))


def vars_of(topology: TopologyRecord) -> dict[str, Any]:
    """Properties of the Topology node."""
    return {prop.name: getattr(topology, prop.name) for prop in SCHEMA.label("Topology").properties}


def property_map(names: Iterable[str], row: str = "row", start: int = 0) -> str:
    """``{a: row[0], b: row[1]}`` for names of the schema."""
    return ", ".join(f"`{name}`: {row}[{index}]" for index, name in enumerate(names, start))


def batches(data: Iterable[Any], size: int = BATCH) -> Iterator[list[Any]]:
    """``data`` in lists of at most ``size``."""
    batch: list[Any] = []
    for row in data:
        batch.append(row)
        if len(batch) == size:
            yield batch
            batch = []
    if batch:
        yield batch


def _nodes(label: str, data: Iterable[Any], fixed: Mapping[str, Any], second: str = "") -> Iterator[Batch]:
    names = [prop.name for prop in SCHEMA.label(label).properties]
    # A kind is a user's own word; one that is no plain name, or has a meaning already, stays a property only.
    plain = _SECOND.fullmatch(second) and second not in _SCHEMA_LABELS
    plain = plain and not second.startswith(("InRun", "InHistory", "Kernbench"))
    more = f":`{second}`" if plain else ""
    cypher = (
        f"UNWIND $rows AS row CREATE (n:{label}{more}:$($scope) {{{property_map(names)}, _run: $run}}) "
        "RETURN count(n) AS made"
    )
    for rows in batches(data):
        yield Batch(cypher, rows, fixed)


def _relationships(
    type_: str, source: str, target: str, data: Iterable[Any], fixed: Mapping[str, Any], names: Iterable[str]
) -> Iterator[Batch]:
    properties = property_map(names, start=2)
    cypher = (
        f"UNWIND $rows AS row MATCH (a:{source} {{id: row[0], _run: $run}}) "
        f"MATCH (b:{target} {{id: row[1], _run: $run}}) "
        f"CREATE (a)-[r:`{type_}`{f' {{{properties}}}' if properties else ''}]->(b) RETURN count(r) AS made"
    )
    for rows in batches(data):
        yield Batch(cypher, rows, fixed)


def _rows(label: str, data: pa.Table) -> Iterator[list[Any]]:
    return _listed(data.select([prop.name for prop in SCHEMA.label(label).properties]))


def _values(label: str, values: Mapping[str, Any]) -> list[Any]:
    return [values[prop.name] for prop in SCHEMA.label(label).properties]


def _listed(data: pa.Table) -> Iterator[list[Any]]:
    """Rows as lists, made a batch at a time: a million at once would take a gigabyte."""
    for start in range(0, data.num_rows, BATCH):
        part = data.slice(start, BATCH)
        for row in zip(*(column.to_pylist() for column in part.columns), strict=True):
            yield list(row)


def _from_one(source: str, targets: pa.ChunkedArray) -> Iterator[list[Any]]:
    for start in range(0, len(targets), BATCH):
        for target in targets.slice(start, BATCH).to_pylist():
            yield [source, target]
