"""One LadybugDB database behind a small, safe face: load tables into it, then read from it."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping
from contextlib import suppress
from decimal import Decimal
from pathlib import Path
from types import TracebackType
from typing import Any

import ladybug
import pyarrow as pa

from graph.cypher_guard import bound, check_read_only
from graph.store import QueryError, QueryTimeoutError, ReadOnlyError, Result, StoreError

ENGINE = "ladybug"
LONGEST_PATH = 1000
"""Most relationships that a recursive pattern may follow; the engine's default of 30 is less than a route."""
_FILE_POOL = 1 << 30
_SMALLEST_POOL = 1 << 28
_LARGEST_DATABASE = 1 << 38
"""The engine reserves this much address space for each database; its default is too much for many at once."""


class EngineError(StoreError):
    """The database cannot be opened or filled."""


class LadybugDatabase:
    """A database in memory, being written as a file, or read from a file."""

    def __init__(self, path: Path | None = None, *, read_only: bool = False, data_bytes: int = 0) -> None:
        """Open ``path``, or a database in memory with room for ``data_bytes`` of Arrow data."""
        pool = _FILE_POOL if path else max(_SMALLEST_POOL, 8 * data_bytes)  # a file's pages can be evicted
        self._lock = threading.Lock()
        self.is_closed = False
        try:
            self._database = ladybug.Database(
                str(path) if path else ":memory:",
                read_only=read_only,
                buffer_pool_size=pool,
                max_db_size=_LARGEST_DATABASE,
            )
            self._connection = ladybug.Connection(self._database)
            self._connection.execute(f"CALL var_length_extend_max_depth={LONGEST_PATH}")
        except (RuntimeError, OSError) as error:
            raise EngineError(f"cannot open the graph database ({_first_line(error)})") from error

    def create(self, statements: Iterable[str]) -> None:
        """Run statements that create tables."""
        for statement in statements:
            self.write(statement, {})

    def copy(self, table: str, data: pa.Table, pair: tuple[str, str] | None = None) -> None:
        """Append ``data`` to a node table, or to the part of a relationship table between ``pair``."""
        if data.num_rows:
            ends = f" (from='{pair[0]}', to='{pair[1]}')" if pair else ""
            self.write(f"COPY `{table}` FROM $rows{ends}", {"rows": data})

    def write(self, statement: str, params: dict[str, Any]) -> None:
        """Run one statement that changes the database; ``EngineError`` when it fails."""
        try:
            with self._lock:
                self._connection.execute(statement, params)
        except RuntimeError as error:
            raise EngineError(f"cannot fill the graph database: {_first_line(error)}") from error

    def query(self, cypher: str, params: Mapping[str, Any], timeout_s: float) -> Result:
        """Rows of a query that only reads; see :meth:`graph.store.GraphStore.query` for errors."""
        text = check_read_only(cypher)
        values = bound(text, params)
        with self._lock:
            if self.is_closed:
                raise EngineError("the graph database was closed; ask again")
            self._connection.set_query_timeout(max(1, round(timeout_s * 1000)))
            self._connection.execute("BEGIN TRANSACTION READ ONLY")
            try:
                return _rows(self._connection.execute(text, values))
            except RuntimeError as error:
                raise _translated(error, timeout_s) from error
            finally:
                with suppress(RuntimeError):  # a failed query has ended the transaction already
                    self._connection.execute("ROLLBACK")

    def close(self) -> None:
        """Write what is pending and let go of the file."""
        with self._lock:
            self.is_closed = True
            self._connection.close()
            self._database.close()

    def __enter__(self) -> LadybugDatabase:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _rows(answer: Any) -> Result:
    if isinstance(answer, list):
        raise ReadOnlyError("a query is one statement; ask one thing at a time")
    with answer:
        columns = [str(name) for name in answer.get_column_names()]
        return Result(columns, [tuple(_plain(value) for value in row) for row in answer.get_all()])


def _plain(value: Any) -> Any:
    """Without the engine's own types: its sums are wide integers, its nodes carry internal ids."""
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items() if key not in ("_ID", "_SRC", "_DST")}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value


def _translated(error: RuntimeError, timeout_s: float) -> QueryError:
    message = _first_line(error)
    if message.startswith("Interrupted"):
        return QueryTimeoutError(
            f"the query was stopped after {timeout_s:g} s; make it narrower, or allow more time"
        )
    if "read-only" in message or "write" in message.lower().split(" in a ")[0]:
        return ReadOnlyError(f"queries only read: {message}")
    if "Undirected rel pattern" in message:
        return QueryError("the query follows USED in both directions; write (r:Run)-[:USED]->(place)")
    return QueryError(f"the query is not valid here: {message}")


def _first_line(error: BaseException) -> str:
    return str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
