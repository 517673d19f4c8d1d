"""The process in which ArcadeDB runs: ``python -P worker.py`` reads requests from stdin.

A process of its own, because the engine writes to stdout, cannot be used after a fork, cannot be stopped in
every phase of a query, and is a pre-release that must not take a simulation down with it. Requests and
answers are pickles of plain values. Nodes, relationships and paths are tuples that begin with ``node``,
``relationship`` and ``path``; nothing else in a row is a tuple.

This file imports nothing of KernBench, so that it starts quickly.
"""

from __future__ import annotations

import os
import pickle
import queue
import re
import sys
import tempfile
import threading
from typing import Any, BinaryIO

_PATH = re.compile(r"\(#\d+:\d+\)(?:-\[#\d+:\d+\]->\(#\d+:\d+\))*")
_RID = re.compile(r"#\d+:\d+")
_AT_ONCE = 1000
"""Records looked up with one statement."""


class Worker:
    """One database at a time, and the statements that are run on it."""

    def __init__(self) -> None:
        self._arcadedb = _engine()
        self._database: Any = None
        self._batch: Any = None
        self._types: frozenset[str] = frozenset()
        self._rids: dict[str, dict[Any, str]] = {}

    def do(self, request: tuple[Any, ...]) -> Any:
        """Carry out one request: its first item is the name of a method, the others are its arguments."""
        return getattr(self, request[0])(*request[1:])

    def create(self, path: str) -> None:
        """Make a database, to be filled."""
        self._database = self._arcadedb.create_database(path)

    def extend(self, path: str) -> None:
        """Open a database that is to get more."""
        self._database = self._arcadedb.open_database(path)

    def find(self, label: str, key: str) -> None:
        """Have relationships find the nodes of a label, which are there already, by ``key``."""
        rows = self._database.query("sql", f"SELECT @rid AS rid, `{key}` AS key FROM `{label}`").to_list()
        self._rids[label] = {row["key"]: str(row["rid"]) for row in rows}

    def open(self, path: str) -> None:
        """Open a database for reading."""
        self._database = self._arcadedb.open_database(path, read_only=True)
        self.know_types()

    def know_types(self) -> None:
        """Note which types are those of relationships."""
        self._types = frozenset(
            row["name"]
            for row in self._database.query("sql", "SELECT name, type FROM schema:types").to_list()
            if row["type"] == "edge"
        )

    def close(self) -> None:
        """Close the database, if one is open."""
        database, self._database, self._batch, self._rids = self._database, None, None, {}
        if database is not None:
            database.close()

    def script(self, statements: list[str]) -> None:
        """Run SQL statements that make types and indexes."""
        self._database.command("sqlscript", ";\n".join(statements)).close()

    def begin(self, relationships: int) -> None:
        """Begin to fill the database with about so many relationships."""
        self._batch = self._database.graph_batch(
            use_wal=False,
            commit_every=10_000,
            parallel_flush=relationships > 100_000,
            expected_edge_count=max(1, relationships),
        )
        self._batch.__enter__()

    def nodes(self, type_: str, label: str, keys: list[Any], rows: list[dict[str, Any]]) -> None:
        """Add nodes of a type; relationships find them by ``label`` and key."""
        rids = self._batch.create_vertices(type_, rows)
        self._rids.setdefault(label, {}).update(zip(keys, rids, strict=True))

    def relationships(
        self, type_: str, ends: tuple[str, str], sources: list[Any], targets: list[Any], rows: Any
    ) -> None:
        """Add relationships of a type between nodes of two labels; ``rows`` are their properties, or None."""
        source, target = (self._rids.get(label, {}) for label in ends)
        self._batch.new_edges([source[key] for key in sources], type_, [target[key] for key in targets], rows)

    def end(self) -> None:
        """End the filling: everything is in the database then."""
        self._batch.__exit__(None, None, None)
        self._batch = None

    def query(self, text: str, values: dict[str, Any], has_paths: bool) -> tuple[list[str], list[list[Any]]]:
        """Columns and rows; no columns are known where there are no rows."""
        arguments = (values,) if values else ()
        rows = self._database.query("opencypher", text, *arguments).to_list()
        columns = list(rows[0]) if rows else []
        found = [[row.get(column) for column in columns] for row in rows]
        records = _Records(self._database, self._types, has_paths)
        for row in found:
            for value in row:
                records.collect(value)
        records.look_up()
        return columns, [[records.tagged(value) for value in row] for row in found]


class _Records:
    """Turns the engine's records in rows into tuples, with the ids that the nodes have as properties."""

    def __init__(self, database: Any, types: frozenset[str], has_paths: bool) -> None:
        self._database, self._types, self._has_paths = database, types, has_paths
        self._ends: dict[str, tuple[str, str]] = {}
        self._missing_ends: set[str] = set()
        self._missing: set[str] = set()
        self._found: dict[str, Any] = {}

    def collect(self, value: Any) -> None:
        """Note which records ``value`` mentions without saying all about them."""
        if isinstance(value, dict):
            if _is_record(value):
                if value["@type"] in self._types:
                    self._missing_ends.add(value["@rid"])
            else:
                for item in value.values():
                    self.collect(item)
        elif isinstance(value, list):
            for item in value:
                self.collect(item)
        elif self._has_paths and isinstance(value, str) and _PATH.fullmatch(value):
            self._missing.update(_RID.findall(value))

    def look_up(self) -> None:
        """Read what is missing."""
        for some in _pieces(self._missing):
            for row in self._database.query("sql", f"SELECT FROM [{','.join(some)}]"):
                rid, type_, _ = row._meta
                self._found[rid] = {**row.to_dict(), "@rid": rid, "@type": type_}
                if type_ in self._types:
                    self._missing_ends.add(rid)
        for some in _pieces(self._missing_ends):
            text = f"SELECT @rid AS rid, @out.id AS source, @in.id AS target FROM [{','.join(some)}]"
            for row in self._database.query("sql", text).to_list():
                self._ends[str(row["rid"])] = row["source"], row["target"]

    def tagged(self, value: Any) -> Any:
        """``value`` with tuples for records and paths."""
        if isinstance(value, dict):
            if not _is_record(value):
                return {key: self.tagged(item) for key, item in value.items()}
            properties = {name: item for name, item in value.items() if not name.startswith("@")}
            if value["@type"] in self._types:
                return ("relationship", value["@type"], *self._ends[value["@rid"]], properties)
            return ("node", value["@type"].split("~"), properties)
        if isinstance(value, list):
            return [self.tagged(item) for item in value]
        if isinstance(value, set | frozenset | tuple):
            return [self.tagged(item) for item in value]
        if self._has_paths and isinstance(value, str) and _PATH.fullmatch(value):
            parts = [self._found.get(rid) for rid in _RID.findall(value)]
            if all(parts):
                tagged = [self.tagged(part) for part in parts]
                return ("path", tagged[::2], tagged[1::2])
        if value is None or isinstance(value, str | bool | int | float):
            return value
        return value.isoformat() if hasattr(value, "isoformat") else str(value)


def _is_record(value: dict[str, Any]) -> bool:
    rid = value.get("@rid")
    return "@type" in value and isinstance(rid, str) and bool(_RID.fullmatch(rid))


def _pieces(rids: set[str]) -> list[list[str]]:
    ordered = sorted(rids)
    return [ordered[start : start + _AT_ONCE] for start in range(0, len(ordered), _AT_ONCE)]


def _engine() -> Any:
    """The engine's module, with a log that goes nowhere."""
    sys.modules["numpy"] = None  # type: ignore[assignment]  # optional there, and slow to import
    silent = os.path.join(os.path.dirname(os.path.abspath(__file__)), "silent.properties")
    os.environ["ARCADEDB_LOG_CONSOLE"] = "0"
    with tempfile.TemporaryDirectory(prefix="kernbench-") as folder:
        # The library makes this folder and its settings when it is loaded, and reads the file that is named.
        os.environ["ARCADEDB_LOG_DIR"] = folder
        os.environ["ARCADEDB_NATIVE_ISOLATE_ARGS"] = f"-Djava.util.logging.config.file={silent}"
        import arcadedb
        from arcadedb._native import lib

        lib.diag()  # loads it
    return arcadedb


def _receive(stream: BinaryIO, requests: queue.SimpleQueue[Any]) -> None:
    """Pass on requests; the process ends when the other side does, whatever it is busy with."""
    while True:
        try:
            requests.put(pickle.load(stream))
        except BaseException:
            os._exit(0)


def main() -> None:
    """Answer requests until stdin is closed."""
    answers = os.fdopen(os.dup(1), "wb")
    silence = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silence, 1)
    os.dup2(silence, 2)
    requests: queue.SimpleQueue[Any] = queue.SimpleQueue()
    threading.Thread(target=_receive, args=(sys.stdin.buffer, requests), daemon=True).start()
    worker: Worker | None = None
    while True:
        request = requests.get()
        try:
            worker = worker or Worker()
            answer: tuple[Any, ...] = ("ok", worker.do(request))
        except Exception as error:
            chain = [list(entry) for entry in getattr(error, "java_chain", ())]
            answer = ("error", chain or [[type(error).__name__, str(error)]])
        pickle.dump(answer, answers, protocol=pickle.HIGHEST_PROTOCOL)
        answers.flush()


if __name__ == "__main__":
    main()
