"""The driver of the Neo4j server behind a store: transactions with retry, and errors in one line.

The only module that imports the official driver, so that all of its errors are translated in one place.
"""

from __future__ import annotations

import logging
import re
import weakref
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeVar

import neo4j
from neo4j import exceptions, graph

from graph.store import QueryError, QueryTimeoutError, ReadOnlyError, StoreError
from graph.stores.neo4j_address import PASSWORD, USER, Address, credentials
from graph.stores.neo4j_tls import problem

T = TypeVar("T")
Transaction = neo4j.ManagedTransaction

OLDEST = (5, 26)
"""Labels that are values, which pushes use, came with this version."""
WRITE_TIMEOUT_S = 300.0
_CONNECT_S = 5.0
_RETRY_S = 30.0
_REMEDY = "start it (docker compose up -d, or make neo4j), or check host, port and scheme"
logging.getLogger("neo4j").addHandler(logging.NullHandler())


class RefusedError(StoreError):
    """The server refuses something for a reason that has a ``code``."""

    code = ""


class Server:
    """Connections to one server. Safe to use from several threads."""

    def __init__(self, address: Address, url: str) -> None:
        """Connect; ``StoreError`` when nobody answers, the credentials are refused or it is too old."""
        self._url, self._address = url, address
        with self.translated():
            self._driver = neo4j.GraphDatabase.driver(
                address.server,
                auth=credentials(),
                connection_timeout=_CONNECT_S,
                connection_acquisition_timeout=_RETRY_S,
                max_transaction_retry_time=_RETRY_S,
                user_agent="kernbench",
                notifications_disabled_categories=["HINT", "PERFORMANCE", "DEPRECATION", "GENERIC"],
            )
        # A store that nobody closes lets go of its connections with its last user, or at the end.
        weakref.finalize(self, self._driver.close)
        try:
            with self.translated():
                agent = self._driver.get_server_info().agent
            found = re.match(r"Neo4j/(\d+)\.(\d+)", agent)
            if found and (int(found[1]), int(found[2])) < OLDEST:
                raise StoreError(
                    f"store '{url}' is a {agent}, but {OLDEST[0]}.{OLDEST[1]} or newer is needed; update it"
                )
        except BaseException:
            self._driver.close()
            raise

    def write(self, work: Callable[[Transaction], T]) -> T:
        """The result of ``work`` in a transaction that is tried again where the server says so.

        ``work`` must give the same when it is run again after it had been committed.
        """
        timed = neo4j.unit_of_work(timeout=WRITE_TIMEOUT_S)(work)
        with self.translated(), self._driver.session() as session:
            return session.execute_write(timed)

    def read(self, work: Callable[[Transaction], T], timeout_s: float = WRITE_TIMEOUT_S) -> T:
        """The result of ``work`` in a transaction that cannot write and is stopped after ``timeout_s``."""
        timed = neo4j.unit_of_work(timeout=max(0.001, timeout_s))(work)
        with (
            self.translated(timeout_s),
            self._driver.session(default_access_mode=neo4j.READ_ACCESS) as session,
        ):
            return session.execute_read(timed)

    def close(self) -> None:
        """Close all connections."""
        self._driver.close()

    @contextmanager
    def translated(self, timeout_s: float = WRITE_TIMEOUT_S) -> Iterator[None]:
        """Errors of the driver as those of stores, in one line, with a remedy."""
        try:
            yield
        except exceptions.AuthError as error:
            raise StoreError(
                f"store '{self._url}' refuses the user or password; check {USER} and {PASSWORD}"
            ) from error
        except (exceptions.ServiceUnavailable, exceptions.SessionExpired) as error:
            wrong = problem(self._address.server) or f"no Neo4j server answers there; {_REMEDY}"
            raise StoreError(f"store '{self._url}': {wrong}") from error
        except exceptions.Neo4jError as error:
            raise self._of_server(error, timeout_s) from error
        except (exceptions.DriverError, OSError, ValueError) as error:
            if isinstance(error, StoreError):
                raise
            raise StoreError(f"store '{self._url}' cannot be used ({_line(error)}); {_REMEDY}") from error

    def _of_server(self, error: exceptions.Neo4jError, timeout_s: float) -> StoreError:
        code, message = error.code or "", _line(error.message or error)
        if "TransactionTimedOut" in code or "Terminated" in code:
            return QueryTimeoutError(
                f"the query was stopped after {timeout_s:g} s; make it narrower, or allow more time"
            )
        if code.endswith(("AccessMode", "ForbiddenOnReadOnlyDatabase")):
            return ReadOnlyError(f"queries only read: {message}")
        if code.startswith("Neo.ClientError.Statement"):
            return QueryError(f"the query is not valid here: {message}")
        refused = RefusedError(
            f"store '{self._url}': the server refuses ({code}: {message}); try again, or see its log"
        )
        refused.code = code
        return refused


def plain(value: Any) -> Any:
    """Without the driver's own types; what begins with ``_`` is the store's own and left out."""
    if isinstance(value, graph.Node):
        shown = next((label for label in _SHOWN if label in value.labels), "")
        return {"_LABEL": shown, **_properties(value)}
    if isinstance(value, graph.Relationship):
        return {"_LABEL": value.type, **_properties(value)}
    if isinstance(value, graph.Path):
        return {"_NODES": [plain(node) for node in value.nodes],
                "_RELS": [plain(rel) for rel in value.relationships]}  # fmt: skip
    if isinstance(value, Mapping):
        return {key: plain(item) for key, item in value.items() if not key.startswith("_")}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return value


_SHOWN = ("Topology", "Component", "Link", "Run", "Transaction", "Op")


def _properties(entity: graph.Entity) -> dict[str, Any]:
    return {name: plain(entity[name]) for name in sorted(entity) if not name.startswith("_")}


def _line(error: object) -> str:
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__
