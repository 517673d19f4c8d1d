"""One LadybugDB database behind a small, safe face: load tables into it, then read from it."""

from __future__ import annotations

import os
import re
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import Any

import pyarrow as pa

from kernbench_graph import running
from kernbench_graph.errors import QueryError, QueryTimeoutError, ReadOnlyError, StoreError, UnknownNameError
from kernbench_graph.query.columns import columns_of
from kernbench_graph.query.guard import bound, check_read_only
from kernbench_graph.query.limits import check_rows
from kernbench_graph.query.plans import EXPLAIN, PROFILE, as_text, asked_for_plan
from kernbench_graph.result import Result
from kernbench_graph.stores.embedded.entities import Entities

LONGEST_PATH = 1000
"""Most relationships that a recursive pattern may follow; the engine's default of 30 is less than a route."""
_ASKING = {EXPLAIN: "EXPLAIN LOGICAL ", PROFILE: "PROFILE "}
"""The words before a query: only the logical plan has estimates."""
_PLACE = re.compile(r"(?<=\(line: 1, offset: )\d+")
_FILE_POOL = 1 << 30
_SMALLEST_POOL = 1 << 28
_LARGEST_DATABASE = 1 << 38
"""The engine reserves this much address space for each database; its default is too much for many at once."""


_LARGEST_BLOCK = 31 << 20
"""Blocks of up to this size come from memory that was used before; glibc takes no larger limit."""

_KEPT_FREE = 64 << 20
"""Free memory at the end of the heap that glibc keeps for the next database."""

_RETURNED_MB = 50
"""By how much a process may grow before memory of closed databases is given back.

The database of a tiny run takes 100 MB. Asking the system for them again takes longer than filling it.
"""

_UNKNOWN = re.compile(r"Table \S+ does not exist|Cannot find property")


_BATCH = 1000
"""Rows that are fetched at once; some milliseconds."""


class EngineError(StoreError):
    """The database cannot be opened or filled."""


_FUNCTIONS = (
    "CREATE MACRO toInteger(x) AS CAST(x AS INT64)",
    "CREATE MACRO toString(x) AS CAST(x AS STRING)",
)
"""Functions of openCypher that texts of the library use, of whole numbers alone."""


class LadybugDatabase:
    """A database in memory, being written as a file, or read from a file."""

    def __init__(self, path: Path | None = None, *, read_only: bool = False, data_bytes: int = 0) -> None:
        """Open ``path``, or a database in memory with room for ``data_bytes`` of Arrow data."""
        import ladybug  # a store that keeps a run opens no database

        _reuse_memory()
        pool = _FILE_POOL if path else max(_SMALLEST_POOL, 8 * data_bytes)  # a file's pages can be evicted
        self._lock = threading.Lock()
        self.is_closed = False
        try:
            self._database = ladybug.Database(
                str(path) if path else "",  # its name of a database in memory may be that of a folder
                read_only=read_only,
                buffer_pool_size=pool,
                max_db_size=_LARGEST_DATABASE,
            )
            self._connection = ladybug.Connection(self._database)
            self._connection.execute(f"CALL var_length_extend_max_depth={LONGEST_PATH}")
            # Several threads load rows, and add numbers, in any order: the last bits of a sum vary.
            self._connection.execute("CALL threads=1")
        except (RuntimeError, OSError) as error:
            raise EngineError(f"cannot open the graph database ({_first_line(error)})") from error

    @contextmanager
    def filling(self) -> Iterator[None]:
        """All writes within the block in one transaction, which costs a fraction of one for each."""
        self.write("BEGIN TRANSACTION", {})
        try:
            yield
        except BaseException:
            with suppress(EngineError):  # a failed statement has ended the transaction already
                self.write("ROLLBACK", {})
            raise
        self.write("COMMIT", {})

    def create(self, statements: Iterable[str]) -> None:
        """Run statements that create the tables of an empty database, and what its dialect lacks."""
        for statement in (*_FUNCTIONS, *statements):
            self.write(statement, {})

    def copy(self, table: str, data: pa.Table, pair: tuple[str, str] | None = None) -> None:
        """Append ``data`` to a node table, or to the part of a relationship table between ``pair``."""
        if data.num_rows:
            # LadybugDB 0.22 stops reading at the first empty chunk.
            batches = [batch for batch in data.to_batches() if batch.num_rows]
            self.write(copying(table, pair), {"rows": pa.Table.from_batches(batches)})

    def write(self, statement: str, params: dict[str, Any]) -> None:
        """Run one statement that changes the database; ``EngineError`` when it fails."""
        try:
            with running.held(self._lock), running.stopped_by(self._connection.interrupt):
                self._connection.execute(statement, params)
        except RuntimeError as error:
            raise EngineError(f"cannot fill the graph database: {_first_line(error)}") from error

    def query(self, cypher: str, params: Mapping[str, Any], timeout_s: float) -> Result:
        """Rows of a query that only reads, or its plan where ``EXPLAIN`` or ``PROFILE`` stands before it.

        See :meth:`kernbench_graph.store.GraphStore.query` for errors.
        """
        word, text = asked_for_plan(cypher)
        text = check_read_only(text)
        values = bound(text, params)
        with running.held(self._lock), running.stopped_by(self._connection.interrupt):
            if self.is_closed:
                raise EngineError("the graph database was closed; ask again")
            self._connection.set_query_timeout(max(1, round(timeout_s * 1000)))
            self._connection.execute("BEGIN TRANSACTION READ ONLY")
            try:
                if word:
                    return self._plan(word, text, values)
                return self._rows(text, self._connection.execute(text, values))
            except StoreError:
                raise
            except RuntimeError as error:
                raise _translate(error, timeout_s) from error
            finally:
                with suppress(RuntimeError):  # a failed query has ended the transaction already
                    self._connection.execute("ROLLBACK")

    def _rows(self, text: str, answer: Any) -> Result:
        if isinstance(answer, list):
            raise ReadOnlyError("a query is one statement; ask one thing at a time")
        with answer:
            columns = [str(name) for name in answer.get_column_names()]
            rows = _fetched(answer, len(columns))
        written = columns_of(text)
        if written is not None and len(written) == len(columns):
            columns = written  # the engine has names of its own where there is no alias
        return Result(columns, Entities(self._all).converted(rows))

    def _plan(self, word: str, text: str, values: dict[str, Any]) -> Result:
        asking = _ASKING[word]
        try:
            ((plan,),) = self._all(asking + text, values)
        except RuntimeError as error:  # with its place counted from the query on
            raise RuntimeError(
                _PLACE.sub(lambda at: str(max(0, int(at.group()) - len(asking))), str(error))
            ) from error
        return as_text(str(plan))

    def _all(self, statement: str, params: dict[str, Any]) -> list[list[Any]]:
        answer: Any = self._connection.execute(statement, params)
        with answer:
            return [list(row) for row in _fetched(answer, 1)]

    def close(self) -> None:
        """Write what is pending and let go of the file."""
        with self._lock:
            if self.is_closed:
                return
            self.is_closed = True
            self._connection.close()
            self._database.close()
        _return_memory()

    def __enter__(self) -> LadybugDatabase:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


@cache
def _reuse_memory() -> None:
    """Let the C library reuse freed memory, where it is glibc's.

    By itself that hands blocks of over 128 KB back to the system at once, and the end of the heap once it is
    larger than twice the largest such block. A ``COPY`` of a few relationships asks for 4 MB, page by page:
    without this a database of ten tables of each kind takes twice as long to fill.
    """
    set_option = _of_glibc("mallopt")
    if set_option is not None:
        set_option(_M_MMAP_THRESHOLD, _LARGEST_BLOCK)
        set_option(_M_TRIM_THRESHOLD, _KEPT_FREE)
        set_option(_M_ARENA_MAX, 2)


_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD, _M_ARENA_MAX = -1, -3, -8  # malloc.h
_least_mb = 0


def _return_memory() -> None:
    """Have the C library give freed memory back to the system, once the process has grown by so much.

    The engine's threads free small blocks all over glibc's arenas, which keep them: 40 MB for each database
    of a tiny run, whose place is taken by the next one in part alone. A process that answers questions for
    days would grow to gigabytes.
    """
    global _least_mb
    trim = _of_glibc("malloc_trim")
    if trim is not None and _resident_mb() > _least_mb + _RETURNED_MB:
        trim(0)
        _least_mb = _resident_mb()


def _resident_mb() -> int:
    """Memory of this process that lies in RAM, in MB (Linux)."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") >> 20


@cache
def _of_glibc(name: str) -> Callable[..., int] | None:
    """A function of glibc; None where there is another C library."""
    if sys.platform != "linux":
        return None
    import ctypes

    return getattr(ctypes.CDLL(None), name, None)


def copying(table: str, pair: tuple[str, str] | None = None) -> str:
    """Statement that appends ``$rows`` to a node table, or to a relationship table between ``pair``.

    >>> print(copying("Route"))
    COPY `Route` FROM $rows
    >>> print(copying("VIA", ("Route", "Use")))
    COPY `VIA` FROM $rows (from='Route', to='Use')
    """
    ends = f" (from='{pair[0]}', to='{pair[1]}')" if pair else ""
    return f"COPY `{table}` FROM $rows{ends}"


def _fetched(answer: Any, columns: int) -> list[Any]:
    """The rows of an answer, in batches: the engine itself cannot be stopped while it hands them over."""
    check_rows(answer.get_num_tuples(), columns)
    rows: list[Any] = []
    while answer.has_next():
        running.check()
        rows += answer.get_n(_BATCH)
    return rows


def _translate(error: RuntimeError, timeout_s: float) -> QueryError:
    message = _first_line(error)
    if message.startswith("Interrupted"):
        return QueryTimeoutError.after(timeout_s)
    if "read-only" in message or "write" in message.lower().split(" in a ")[0]:
        return ReadOnlyError(f"queries only read: {message}")
    if "Undirected rel pattern" in message:
        return QueryError("the query follows HOP in both directions; write (t:Transaction)-[:HOP]->(u:Use)")
    kind = UnknownNameError if _UNKNOWN.search(message) else QueryError
    return kind(f"the query is not valid here: {message}")


def _first_line(error: BaseException) -> str:
    return str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
