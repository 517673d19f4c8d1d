"""The rows of a graph as statements over batches of many thousands of them, and running these.

A batch goes to the server as columns. Of a batch of relationships, every node at an end is looked up once, by
its id, however many of the relationships meet there. Statements are built from names of the schema alone;
whatever a record holds is a parameter.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from kernbench_graph.errors import StoreError
from kernbench_graph.projection import GraphPart, Projection, by_second
from kernbench_graph.records import RunRecord, TopologyRecord
from kernbench_graph.stores.neo4j.ddl import HIDDEN
from kernbench_graph.stores.neo4j.detail import kept_names
from kernbench_graph.stores.neo4j.server import Transaction

BATCH = 20_000


@dataclass(frozen=True, slots=True)
class Batch:
    """A statement and the rows that it is run with; it returns as ``made`` how many things it has made."""

    cypher: str
    rows: pa.Table
    joins: bool = False
    """Whether the first two columns are the ends of relationships."""

    def parameters(self) -> dict[str, Any]:
        """The parameters of the statement: one list per column, named ``c0``, ``c1``, ... in order."""
        columns = dict(enumerate(self.rows.columns))
        bound: dict[str, Any] = {"rows": self.rows.num_rows}
        if self.joins:
            for name, end in (("source", columns.pop(0)), ("target", columns.pop(1))):
                encoded = pa.chunked_array(end).combine_chunks().dictionary_encode()
                bound[f"{name}s"] = encoded.dictionary.to_pylist()
                bound[f"{name}_of"] = encoded.indices.to_pylist()
        return bound | {f"c{number}": column.to_pylist() for number, column in columns.items()}


def run_batches(run: RunRecord, topology: TopologyRecord, detail: str = "full") -> Iterator[Batch]:
    """A run's part of the graph at that detail, its topology's left out: first nodes, then relationships.

    The node of the run itself is a hidden one.
    """
    kept = kept_names(detail)
    parts = Projection(topology, run, by_id=True).parts("run", tuple(sorted(kept)))
    # A type may lead from several labels, some of them left out.
    return batches_of((part for part in parts if kept.issuperset(part.ends or ())), HIDDEN)


def topology_batches(topology: TopologyRecord) -> Iterator[Batch]:
    """The topology's part of the graph: first nodes, then relationships."""
    return batches_of(Projection(topology, by_id=True).parts("topology"))


def batches_of(
    parts: Iterable[GraphPart], run: str = "Run", make: Callable[..., str] | None = None
) -> Iterator[Batch]:
    """The rows of ``parts``.

    ``run`` is the label that the node of the run has; ``make`` makes nodes, as :func:`creating` does.
    """
    make = make or creating
    for part in parts:
        if part.ends:
            source, target = (run if label == "Run" else label for label in part.ends)
            yield from _slice(joining(part.name, source, target, part.data.column_names[2:]), part)
        else:
            label = run if part.name == "Run" else part.name
            for second, data in by_second(part):
                yield from _slice(make(label, data.column_names, second), GraphPart(part.name, data))


def _slice(cypher: str, part: GraphPart) -> Iterator[Batch]:
    """The rows of ``part``, a batch at a time."""
    for start in range(0, part.data.num_rows, BATCH):
        yield Batch(cypher, part.data.slice(start, BATCH), part.ends is not None)


def property_map(names: Iterable[str], start: int = 0) -> str:
    """The inside of a property map, for names of the schema; ``start`` is the column of the first.

    >>> print(property_map(["id", "number"]))
    `id`: $c0[i], `number`: $c1[i]
    """
    return ", ".join(f"`{name}`: $c{index}[i]" for index, name in enumerate(names, start))


def joining(type_: str, source: str, target: str, names: Iterable[str]) -> str:
    """Statement that makes relationships between nodes of the labels ``source`` and ``target``.

    A node that is not there makes the answer 0.

    >>> print(joining("VIA", "Route", "Use", ["seq"]))
    CALL () { UNWIND range(0, size($sources) - 1) AS i MATCH (n:Route {id: $sources[i]})
              WITH n, i ORDER BY i RETURN collect(n) AS sources }
    CALL (sources) { UNWIND range(0, size($targets) - 1) AS i MATCH (n:Use {id: $targets[i]})
                     WITH n, i ORDER BY i RETURN collect(n) AS targets }
    WITH sources, targets WHERE size(sources) = size($sources) AND size(targets) = size($targets)
    UNWIND range(0, $rows - 1) AS i WITH i, sources[$source_of[i]] AS a, targets[$target_of[i]] AS b
    CREATE (a)-[r:`VIA` {`seq`: $c2[i]}]->(b) RETURN count(r) AS made
    """
    properties = property_map(names, start=2)
    return (
        looking_up("source", source) + looking_up("target", target, "sources") + "WITH sources, targets "
        "WHERE size(sources) = size($sources) AND size(targets) = size($targets) "
        "UNWIND range(0, $rows - 1) AS i WITH i, sources[$source_of[i]] AS a, targets[$target_of[i]] AS b "
        f"CREATE (a)-[r:`{type_}`{f' {{{properties}}}' if properties else ''}]->(b) RETURN count(r) AS made"
    )


def looking_up(end: str, label: str, after: str = "") -> str:
    """The part of :func:`joining` that finds the nodes at one end, in order, as positions count.

    ``after`` names what was found before.

    >>> print(looking_up("target", "Link", "sources"))
    CALL (sources) { UNWIND range(0, size($targets) - 1) AS i MATCH (n:Link {id: $targets[i]})
                     WITH n, i ORDER BY i RETURN collect(n) AS targets }
    """
    return (
        f"CALL ({after}) {{ UNWIND range(0, size(${end}s) - 1) AS i "
        f"MATCH (n:{label} {{id: ${end}s[i]}}) WITH n, i ORDER BY i RETURN collect(n) AS {end}s }} "
    )


def creating(label: str, names: Iterable[str], second: str = "") -> str:
    """Statement that makes nodes; ``second`` is the kind of a component.

    >>> print(creating("Component", ["id", "kind"], "Router"))
    UNWIND range(0, $rows - 1) AS i CREATE (n:Component:`Router` {`id`: $c0[i], `kind`: $c1[i]})
    RETURN count(n) AS made
    """
    return (
        f"UNWIND range(0, $rows - 1) AS i CREATE (n:{label}{_more(second)} {{{property_map(names)}}}) "
        "RETURN count(n) AS made"
    )


def merging(label: str, names: Iterable[str], second: str = "") -> str:
    """As :func:`creating`, where some of the nodes may exist and lack properties.

    >>> print(merging("Component", ["id", "kind"], "Router"))
    UNWIND range(0, $rows - 1) AS i MERGE (n:Component {id: $c0[i]})
    SET n:Component:`Router`, n += {`id`: $c0[i], `kind`: $c1[i]} RETURN count(n) AS made
    """
    names = list(names)
    return (
        f"UNWIND range(0, $rows - 1) AS i MERGE (n:{label} {{id: $c{names.index('id')}[i]}}) "
        f"SET n:{label}{_more(second)}, n += {{{property_map(names)}}} RETURN count(n) AS made"
    )


def _more(second: str) -> str:
    return f":`{second}`" if second else ""


def run_batches_in(tx: Transaction, found: Iterable[Batch]) -> None:
    """Run each batch; ``StoreError`` when it does not make as many as it has rows.

    An answer is waited for when the next batch is under way: the server works while that one is packed.
    """
    pending: tuple[Any, int] | None = None
    for batch in found:
        answer = tx.run(batch.cypher, batch.parameters()), batch.rows.num_rows
        if pending:
            _check(*pending)
        pending = answer
    if pending:
        _check(*pending)


def _check(answer: Any, rows: int) -> None:
    made = answer.single(strict=True)["made"]
    if made != rows:
        raise StoreError(
            f"only {made} of {rows} rows could be pushed: the database has lost nodes meanwhile; "
            "push the run again"
        )
