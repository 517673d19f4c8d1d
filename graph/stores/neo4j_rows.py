"""The rows of a graph as statements over batches of about ten thousand of them.

A batch goes to the server as columns. Of a batch of relationships, every node at an end is looked up once, by
the unique key, however many of the relationships meet there. Statements are built from names of the schema
alone; whatever a record holds is a parameter.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from graph.schema import SCHEMA
from graph.store import RunRecord, TopologyRecord
from graph.stores.run_parts import Part, run_parts

BATCH = 10_000
_SECOND = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,63}")
_SCHEMA_LABELS = frozenset(label.name for label in SCHEMA.labels)


@dataclass(frozen=True, slots=True)
class Batch:
    """A statement and the rows that it is run with; it returns as ``made`` how many things it has made."""

    cypher: str
    rows: pa.Table
    fixed: Mapping[str, Any]
    joins: bool = False
    """Whether the first two columns are the ends of relationships."""

    def parameters(self) -> dict[str, Any]:
        """What the statement is run with: one list per column, named ``c0``, ``c1``, ... in order."""
        columns = dict(enumerate(self.rows.columns))
        bound: dict[str, Any] = {"rows": self.rows.num_rows, **self.fixed}
        if self.joins:
            for name, end in (("source", columns.pop(0)), ("target", columns.pop(1))):
                encoded = pa.chunked_array(end).combine_chunks().dictionary_encode()
                bound[f"{name}s"] = encoded.dictionary.to_pylist()
                bound[f"{name}_of"] = encoded.indices.to_pylist()
        return bound | {f"c{number}": column.to_pylist() for number, column in columns.items()}


def run_batches(scope: str, number: int, run: RunRecord, topology: TopologyRecord) -> Iterator[Batch]:
    """All of one run's graph: first nodes, then relationships. ``scope`` is the label that they all get."""
    fixed = {"scope": scope, "run": number}
    for part in run_parts(run, topology):
        if part.ends:
            source, target = (f"{label} {{id: @, _run: $run}}" for label in part.ends)
            cypher = joining(part.name, source, target, part.data.column_names[2:])
            yield from batches(cypher, part, fixed)
        elif part.name == "Component":
            for second in sorted(set(part.data["label"].to_pylist())):
                of_kind = Part(part.name, part.data, where=pc.equal(part.data["label"], second))
                yield from batches(_creating(part.name, second), of_kind, fixed)
        else:
            yield from batches(_creating(part.name), part, fixed)


def batches(cypher: str, part: Part, fixed: Mapping[str, Any]) -> Iterator[Batch]:
    """The rows of ``part``, a batch at a time."""
    for rows in part.slices(BATCH):
        yield Batch(cypher, rows, fixed, part.ends is not None)


def property_map(names: Iterable[str], start: int = 0) -> str:
    """``a: $c0[i], b: $c1[i]`` for names of the schema."""
    return ", ".join(f"`{name}`: $c{index}[i]" for index, name in enumerate(names, start))


def joining(type_: str, source: str, target: str, names: Iterable[str]) -> str:
    """Statement that makes relationships; ``source`` and ``target`` are node patterns with ``@`` for the id.

    Order is asked for where positions count. A node that is not there makes the answer 0.
    """

    def looked_up(name: str, pattern: str, after: str = "") -> str:
        return (
            f"CALL ({after}) {{ UNWIND range(0, size(${name}s) - 1) AS i "
            f"MATCH (n:{pattern.replace('@', f'${name}s[i]')}) "
            f"WITH n, i ORDER BY i RETURN collect(n) AS {name}s }} "
        )

    properties = property_map(names, start=2)
    return (
        looked_up("source", source) + looked_up("target", target, "sources") + "WITH sources, targets "
        "WHERE size(sources) = size($sources) AND size(targets) = size($targets) "
        "UNWIND range(0, $rows - 1) AS i WITH i, sources[$source_of[i]] AS a, targets[$target_of[i]] AS b "
        f"CREATE (a)-[r:`{type_}`{f' {{{properties}}}' if properties else ''}]->(b) RETURN count(r) AS made"
    )


def _creating(label: str, second: str = "") -> str:
    names = [prop.name for prop in SCHEMA.label(label).properties]
    # A kind is a user's own word; one that is no plain name, or has a meaning already, stays a property only.
    plain = _SECOND.fullmatch(second) and second not in _SCHEMA_LABELS
    plain = plain and not second.startswith(("InRun", "InHistory", "Kernbench"))
    more = f":`{second}`" if plain else ""
    return (
        f"UNWIND range(0, $rows - 1) AS i CREATE (n:{label}{more}:$($scope) {{{property_map(names)}, "
        "_run: $run}) RETURN count(n) AS made"
    )
