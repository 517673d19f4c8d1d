"""One ArcadeDB database behind the same small face as LadybugDB's: filled once, then only read."""

from __future__ import annotations

import json
import os
import threading
import weakref
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import pyarrow as pa

from kernbench_graph import running
from kernbench_graph.archive.atomic import ScratchFolder
from kernbench_graph.entities import GraphPath, graph_node, graph_relationship
from kernbench_graph.errors import QueryTimeoutError
from kernbench_graph.input_files import read_file
from kernbench_graph.json_text import parse
from kernbench_graph.query.columns import columns_of, has_path
from kernbench_graph.query.guard import bound, check_read_only
from kernbench_graph.query.names import Names, check_names
from kernbench_graph.query.plans import EXPLAIN, as_text, asked_for_plan
from kernbench_graph.result import Result
from kernbench_graph.stores.arcade.dialect import dialect
from kernbench_graph.stores.arcade.messages import plan_of, refuse_profile, translate
from kernbench_graph.stores.arcade.process import (
    ArcadeError,
    ArcadeProcess,
    ArcadeTimeoutError,
    borrow,
    give_back,
)

_ROWS = 10_000
"""Rows that are sent to the process at once."""

READERS = 6
"""Processes that may read one database at once, so that a query is answered beside several long ones."""
KEPT = 2
"""So many of them are kept for the next queries."""


class ArcadeDatabase:
    """A database that is being written, or read from a folder. Several threads may read from it."""

    def __init__(self, path: Path, *, read_only: bool = False) -> None:
        """Open the database in ``path``, to add to it or ``read_only``, or make one there.

        ``ArcadeError`` when that fails.
        """
        self._path = path.absolute()  # the process may have begun in another folder
        self._remove: weakref.finalize[Any, Any] | None = None
        self._reset()
        is_new = not path.exists()
        self._names = Names(*[frozenset()] * 3) if is_new else self._read_names()
        self._writer: ArcadeProcess | None = None
        self.is_closed = False
        """Whether it can no longer be asked."""
        how = "open" if read_only else "create" if is_new else "extend"
        process = _with_database(how, self._path)
        if read_only:
            self._idle.append(process)
        else:
            self._writer = process

    def _reset(self) -> None:
        self._owner = os.getpid()
        self._lock = threading.Lock()
        self._turns = threading.Semaphore(READERS)
        self._idle: list[ArcadeProcess] = []
        """Processes that have it open and are not asked anything."""

    @classmethod
    def temporary(cls) -> ArcadeDatabase:
        """A new database in a folder that goes when it is closed."""
        scratch = ScratchFolder()
        made = cls(scratch.path / "graph")
        made._remove = weakref.finalize(made, scratch.remove)
        return made

    def script(self, statements: Iterable[str]) -> None:
        """Run SQL statements that make types and indexes."""
        if wanted := list(statements):
            self._ask("script", wanted)

    @contextmanager
    def filling(self, relationships: int) -> Iterator[None]:
        """All nodes and relationships are added within the block; of the latter about so many."""
        self._ask("begin", relationships)
        yield
        self._ask("end")

    def add_nodes(self, type_: str, label: str, keys: pa.ChunkedArray, data: pa.Table) -> Iterator[int]:
        """Add the rows of ``data`` as nodes; relationships find them by ``label`` and key. Yields counts."""
        for start in range(0, data.num_rows, _ROWS):
            rows = _present(data.slice(start, _ROWS))
            self._ask("nodes", type_, label, keys.slice(start, _ROWS).to_pylist(), rows)
            yield len(rows)

    def add_relationships(self, type_: str, ends: tuple[str, str], data: pa.Table) -> Iterator[int]:
        """Add relationships, whose first two columns are the keys of their ends. Yields counts."""
        for start in range(0, data.num_rows, _ROWS):
            some = data.slice(start, _ROWS)
            sources, targets = some.column(0).to_pylist(), some.column(1).to_pylist()
            rows = _present(some.select(some.column_names[2:])) if some.num_columns > 2 else None
            self._ask("relationships", type_, ends, sources, targets, rows)
            yield len(sources)

    def find_nodes(self, label: str, key: str) -> None:
        """Relationships that are added find the nodes of a label, which are there already, by this key."""
        self._ask("find", label, key)

    def describe(self, names: Names) -> None:
        """Note which names the graph has besides those that it had, beside the database."""
        self._names = names = self._names | names
        self._path.with_suffix(".json").write_text(json.dumps(names.as_json()))

    def _read_names(self) -> Names:
        file = self._path.with_suffix(".json")
        try:
            return Names.of_json(parse(read_file(file)))
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise ArcadeError(f"{file} cannot be read ({error})") from error

    def seal(self) -> None:
        """Open a database that has been filled again, for reading."""
        process, self._writer = self._writer, None
        assert process is not None
        process.ask("close")
        process.ask("open", str(self._path))
        self._idle.append(process)

    def query(self, cypher: str, params: Mapping[str, Any], timeout_s: float) -> Result:
        """Rows of a query that only reads, or its plan where ``EXPLAIN`` stands before it.

        See :meth:`kernbench_graph.store.GraphStore.query` for errors.
        """
        word, text = asked_for_plan(cypher)
        refuse_profile(word)
        text = check_read_only(text)
        values = bound(text, params)
        notes = check_names(text, self._names, values)
        asked = f"{EXPLAIN} {dialect(text)}" if word else dialect(text)
        try:
            with self._reader() as reader:
                found, rows = reader.ask("query", asked, values, has_path(text), timeout_s=timeout_s)
        except ArcadeTimeoutError as error:
            raise QueryTimeoutError.after(timeout_s) from error
        except ArcadeError as error:
            if not error.chain:
                raise
            raise translate(error) from error
        if word:
            return replace(as_text(plan_of(found, rows)), notes=notes)
        columns = columns_of(text)
        if columns is None or (rows and len(columns) != len(found)):
            columns = found
        return Result(columns, [tuple(_entities(value) for value in row) for row in rows], notes)

    @contextmanager
    def _reader(self) -> Iterator[ArcadeProcess]:
        """A process that has it open, for one query: an idle one, or else another one is started."""
        if os.getpid() != self._owner:  # after a fork those are the parent's, and so are the turns
            self._reset()
        with running.held(self._turns):
            with self._lock:
                if self.is_closed:
                    raise ArcadeError("the graph database was closed; ask again")
                process = self._idle.pop() if self._idle else None
            if process is None or not process.is_running:
                process = self._opened_again()
            try:
                yield process
            finally:
                with self._lock:
                    kept = process.is_running and not self.is_closed and len(self._idle) < KEPT
                    if kept:
                        self._idle.append(process)
                if not kept:
                    process.stop()

    def _opened_again(self) -> ArcadeProcess:
        """One more process that has it open; it is closed where another process has removed the folder."""
        try:
            return _with_database("open", self._path)
        except ArcadeError:
            with self._lock:
                self.is_closed = True
            raise

    def close(self) -> None:
        """Write what is pending and let go of the folder."""
        with self._lock:
            self.is_closed = True
            processes, self._idle = self._idle, []
            if self._writer is not None:
                processes.append(self._writer)
                self._writer = None
        for process in processes:
            if process.is_running:
                with suppress(ArcadeError):
                    process.ask("close")
                give_back(process)
            else:
                process.stop()
        if self._remove is not None:
            self._remove()

    def __enter__(self) -> ArcadeDatabase:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _ask(self, *request: Any) -> Any:
        if self._writer is None:
            raise ArcadeError("the graph database is not being written")
        return self._writer.ask(*request)


def _with_database(how: str, path: Path) -> ArcadeProcess:
    """A process that has opened or created the database in ``path``."""
    process = borrow()
    try:
        process.ask(how, str(path))
    except BaseException:
        process.stop()
        raise
    return process


@cache
def engine_version() -> str:
    """Version of ArcadeDB that is installed; empty when none is."""
    try:
        return version("arcadedb")
    except PackageNotFoundError:
        return ""


def _present(data: pa.Table) -> list[dict[str, Any]]:
    """Rows as dictionaries without what is absent."""
    rows: list[dict[str, Any]] = data.to_pylist()
    if not any(column.null_count for column in data.columns):
        return rows
    return [{name: value for name, value in row.items() if value is not None} for row in rows]


def _entities(value: Any) -> Any:
    """Tuples from the process as nodes, relationships and paths."""
    if isinstance(value, tuple):
        kind, *parts = value
        if kind == "node":
            return graph_node(*parts)
        if kind == "relationship":
            return graph_relationship(*parts)
        nodes, relationships = parts
        return GraphPath(tuple(map(_entities, nodes)), tuple(map(_entities, relationships)))
    if isinstance(value, list):
        return [_entities(item) for item in value]
    if isinstance(value, dict):
        return {key: _entities(item) for key, item in value.items()}
    return value
