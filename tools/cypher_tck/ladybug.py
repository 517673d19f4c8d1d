"""Scenarios on LadybugDB, as ``--engine ladybug`` asks it.

Its tables are typed, so the graph is made by ArcadeDB first and then copied into tables for its labels and
types. Graphs that its tables cannot hold are refused: a node with several labels, a property with values of
two types. No graph of KernBench has either. It runs in a process of its own, which a crash ends.
"""

from __future__ import annotations

import multiprocessing
from collections.abc import Iterable, Iterator
from typing import Any

from kernbench_graph.entities import GraphNode, GraphPath, GraphRelationship
from kernbench_graph.errors import QueryError
from kernbench_graph.query.guard import check_read_only
from kernbench_graph.stores.embedded.dialect import safe
from kernbench_graph.stores.embedded.engine import LadybugDatabase

from tools.cypher_tck.arcade import UNLABELLED, Arcade

_TYPES = {bool: "BOOLEAN", int: "INT64", float: "DOUBLE", str: "STRING"}
_NODES = "MATCH (n) RETURN id(n) AS id, labels(n) AS labels, properties(n) AS own"
_JOINED = "MATCH (a)-[r]->(b) RETURN id(a) AS a, type(r) AS type, id(b) AS b, properties(r) AS own"
_ANSWER_S = 60.0
Row = dict[str, Any]


class NotHeldError(Exception):
    """The typed tables cannot hold the graph."""


class Ladybug:
    """A new database for each scenario, in a process that is started again when it dies."""

    name = "LadybugDB"

    def __init__(self) -> None:
        self._made_by = Arcade()
        self._nodes: list[Row] = []
        self._joined: list[Row] = []
        self._start()

    def _start(self) -> None:
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=serve, args=(theirs,), daemon=True)
        self._process.start()
        theirs.close()

    def prepare(self, statements: list[str]) -> None:
        """Have the graph that these statements make, and nothing else."""
        try:
            self._made_by.prepare(statements)
        except Exception as error:
            raise NotHeldError("what ArcadeDB refuses to make") from error
        self._nodes, self._joined = (self._dictionaries(text) for text in (_NODES, _JOINED))
        list(tables(self._nodes, self._joined))

    def _dictionaries(self, text: str) -> list[Row]:
        columns, rows = self._made_by.ask(text, {})
        return [dict(zip(columns, row, strict=True)) for row in rows]

    def ask(self, text: str, params: dict[str, Any]) -> tuple[list[str], list[list[Any]]]:
        """Columns and rows, in the form of :mod:`tools.cypher_tck.values`."""
        safe(text, params)
        self._pipe.send((self._nodes, self._joined, text, params))
        if not self._pipe.poll(_ANSWER_S):
            self._process.kill()
        try:
            answer = self._pipe.recv()
        except EOFError:
            self._start()
            raise Died("its process has died") from None
        if isinstance(answer, str):
            raise QueryError(answer)
        columns, rows = answer
        return columns, rows

    def close(self) -> None:
        """End the process."""
        self._pipe.close()
        self._process.join(5.0)
        self._process.kill()
        self._made_by.close()


class Died(BaseException):  # no refusal, which is an Exception
    """The engine's process has died over a query, or gives no answer."""


def serve(pipe: Any) -> None:
    """Answer requests until the other side is closed."""
    while True:
        try:
            nodes, joined, text, params = pipe.recv()
        except EOFError:
            return
        try:
            with LadybugDatabase() as database:
                for statement, values in tables(nodes, joined):
                    database.write(statement, values)
                result = database.query(safe(check_read_only(text), params), params, _ANSWER_S)
            pipe.send((result.columns, [[plain(value) for value in row] for row in result.rows]))
        except Exception as error:
            pipe.send((str(error).splitlines() or [type(error).__name__])[0])


def tables(nodes: list[Row], joined: list[Row]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Statements that make the tables and fill them; :class:`NotHeldError` where they cannot."""
    label_of: dict[Any, str] = {}
    for node in nodes:
        labels = [label for label in node["labels"] if label != UNLABELLED]
        if len(labels) > 1:
            raise NotHeldError("a node with several labels")
        label_of[node["id"]] = labels[0] if labels else UNLABELLED
    types = _types([*nodes, *joined])
    of_label: dict[str, list[Row]] = {UNLABELLED: []}
    for node in nodes:
        of_label.setdefault(label_of[node["id"]], []).append(node)
    for label, rows in of_label.items():
        names = {name for row in rows for name in row["own"]}
        own = "".join(f", `{name}` {types[name]}" for name in sorted(names | {"id"}))
        yield f"CREATE NODE TABLE `{label}`(`_pk` STRING{own}, PRIMARY KEY(`_pk`))", {}
        for row in rows:
            values = {"_pk": row["id"], **row["own"]}
            yield f"CREATE (:`{label}` {{{_map(values)}}})", _numbered(values)
    of_type: dict[str, list[Row]] = {}
    for rel in joined:
        of_type.setdefault(rel["type"], []).append(rel)
    for type_, rows in of_type.items():
        pairs = sorted({(label_of[row["a"]], label_of[row["b"]]) for row in rows})
        names = sorted({name for row in rows for name in row["own"]})
        ends = ", ".join(f"FROM `{a}` TO `{b}`" for a, b in pairs)
        own = "".join(f", `{name}` {types[name]}" for name in names)
        yield f"CREATE REL TABLE `{type_}`({ends}{own})", {}
        for row in rows:
            found = "".join(
                f"MATCH ({end}:`{label_of[row[end]]}`) WHERE {end}.`_pk` = ${end} " for end in ("a", "b")
            )
            yield (
                f"{found}CREATE (a)-[:`{type_}` {{{_map(row['own'])}}}]->(b)",
                _numbered(row["own"]) | {"a": row["a"], "b": row["b"]},
            )


def _types(rows: Iterable[Row]) -> dict[str, str]:
    found: dict[str, str] = {}
    for row in rows:
        for name, value in row["own"].items():
            type_ = _type(value)
            if found.setdefault(name, type_) != type_:
                raise NotHeldError("a property with values of two types")
    return {"id": "STRING"} | found


def _type(value: Any) -> str:
    if isinstance(value, list):
        types = {_type(item) for item in value}
        if len(types) != 1:
            raise NotHeldError("a list of several types, or of none")
        return f"{types.pop()}[]"
    if type(value) not in _TYPES:
        raise NotHeldError(f"a value of type {type(value).__name__}")
    return _TYPES[type(value)]


def _map(values: Row) -> str:
    return ", ".join(f"`{name}`: $p{number}" for number, name in enumerate(values))


def _numbered(values: Row) -> Row:
    return {f"p{number}": value for number, value in enumerate(values.values())}


def plain(value: Any) -> Any:
    if isinstance(value, GraphNode):
        return ("node", frozenset(value.labels) - {UNLABELLED}, dict(value.properties))
    if isinstance(value, GraphRelationship):
        return ("relationship", value.type, dict(value.properties))
    if isinstance(value, GraphPath):
        nodes, relationships = ([plain(one) for one in of] for of in (value.nodes, value.relationships))
        return ("path", nodes, relationships)
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {name: plain(item) for name, item in value.items()}
    return value
