"""A Neo4j server: its address and credentials, transactions with retry, and errors in one line.

neo4j://host:7687          the server's default database, which is one store
neo4j://host:7687/team-a   its database of that name, another store, where a server has several

Credentials are never part of the URL. This is the only module that imports the official driver, so that all
of its errors are translated in one place.
"""

from __future__ import annotations

import logging
import os
import re
import secrets
import socket
import ssl
import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar
from urllib.parse import urlsplit

import neo4j
from neo4j import exceptions

from kernbench_graph import running
from kernbench_graph.errors import QueryError, QueryTimeoutError, ReadOnlyError, StoreError, StoreUrlError
from kernbench_graph.input_files import read_text

USER, PASSWORD, AUTH_FILE = "KERNBENCH_NEO4J_USER", "KERNBENCH_NEO4J_PASSWORD", "KERNBENCH_NEO4J_AUTH_FILE"
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9.-]{2,62}")
T = TypeVar("T")
Transaction = neo4j.ManagedTransaction

OLDEST = (5, 26)
"""Labels that are values, which pushes use, came with this version."""
WRITE_TIMEOUT_S = 300.0
_PORT, _CONNECT_S = 7687, 5.0
_MARK = "kernbench"
"""Of the metadata of a reading transaction, as ``SHOW TRANSACTIONS`` has them."""
_TERMINATE = f"""SHOW TRANSACTIONS YIELD transactionId AS id, metaData AS metadata
WHERE metadata.{_MARK} = $mark TERMINATE TRANSACTIONS id YIELD message RETURN message"""
RETRY_S = 30.0
_REMEDY = "start it (docker compose up -d, or make neo4j), or check host, port and scheme"
logging.getLogger("neo4j").addHandler(logging.NullHandler())


@dataclass(frozen=True, slots=True)
class ServerAddress:
    """A server's URL for the driver, and the name of a database of it; None for its default one."""

    server: str
    database: str | None


def parse(url: str) -> ServerAddress:
    """The address that ``url`` means. ``StoreUrlError`` never repeats what may be a password."""
    scheme = url.partition(":")[0]
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError as error:
        raise StoreUrlError(
            f"store '{scheme}:...' has no readable host and port; use {scheme}://host:7687"
        ) from error
    if parts.username is not None or parts.password is not None or "@" in parts.netloc:
        raise StoreUrlError(
            f"store '{scheme}:...' has credentials in the URL; set {USER} and {PASSWORD}, or name a file in "
            f"{AUTH_FILE}, and use {scheme}://host:7687"
        )
    name = parts.path.strip("/") or None
    if not host or parts.query or parts.fragment or (name and not _NAME.fullmatch(name)):
        raise StoreUrlError(
            f"store '{scheme}:...' is not a Neo4j store URL; use {scheme}://host:7687 or "
            f"{scheme}://host:7687/database, its name of letters, digits, '.' and '-'"
        )
    shown = f"[{host}]" if ":" in host else host
    return ServerAddress(f"{scheme.lower()}://{shown}" + (f":{port}" if port else ""), name)


def credentials() -> tuple[str, str]:
    """User and password from the environment or the file that it names (one line, ``user:password``)."""
    named = os.environ.get(AUTH_FILE, "").strip()
    if named:
        try:
            line = read_text(Path(named).expanduser()).strip()
        except OSError as error:
            raise StoreError(
                f"{AUTH_FILE} names {named}, which cannot be read ({error.strerror}); correct the name"
            ) from error
        user, colon, password = line.partition(":")
        if not (user and colon and password) or "\n" in line:
            raise StoreError(f"{named} is not one line of the form user:password; correct it")
        return user, password
    user, password = os.environ.get(USER, ""), os.environ.get(PASSWORD, "")
    if not user or not password:
        raise StoreError(
            f"the Neo4j store needs {USER} and {PASSWORD} in the environment, or a file "
            f"'user:password' named by {AUTH_FILE}"
        )
    return user, password


def encryption_problem(server: str) -> str:
    """The fault in the encryption of ``server``, a URL with ``+s`` or ``+ssc``, and what to do.

    Empty when nothing is, when no server answers at all, or when the URL does not ask for encryption.
    """
    parts = urlsplit(server)
    scheme, _, trust = parts.scheme.partition("+")
    if not trust or not parts.hostname:
        return ""
    context = ssl.create_default_context()
    if trust == "ssc":
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    try:
        with (
            socket.create_connection((parts.hostname, parts.port or _PORT), _CONNECT_S) as plain,
            context.wrap_socket(plain, server_hostname=parts.hostname),
        ):
            return ""
    except ssl.SSLCertVerificationError as error:
        return (
            f"its certificate is not trusted ({error.verify_message}); name the certificate of who signed it "
            f"in SSL_CERT_FILE, or use {scheme}+ssc:// to do without"
        )
    except ssl.SSLError:
        return f"what answers there does not encrypt; use {scheme}://, or have the server encrypt"
    except OSError:
        return ""


class RefusedError(StoreError):
    """The server refuses something for a reason that has a ``code``."""

    code = ""


class Neo4jServer:
    """Connections to one server. Safe to use from several threads."""

    def __init__(self, address: ServerAddress, url: str) -> None:
        """Connect; ``StoreError`` when no server answers, the credentials are refused or it is too old."""
        self._url, self._address = url, address
        self._terminating: list[threading.Thread] = []
        with self.translated():
            # One that accepts connections and does not answer (it hangs, or is stopped) is not waited for as
            # long as one that has answered.
            with self._connections(_CONNECT_S) as first:
                agent = first.get_server_info().agent
            self._driver = self._connections(RETRY_S)
        found = re.match(r"Neo4j/(\d+)\.(\d+)", agent)
        if found and (int(found[1]), int(found[2])) < OLDEST:
            self._driver.close()
            raise StoreError(
                f"store '{url}' is a {agent}, but {OLDEST[0]}.{OLDEST[1]} or newer is needed; update it"
            )
        # A store that is never closed lets go of its connections with its last user, or at the end.
        weakref.finalize(self, self._driver.close)

    def _connections(self, patience_s: float) -> neo4j.Driver:
        """Connections that are made when they are needed, each within ``patience_s``."""
        return neo4j.GraphDatabase.driver(
            self._address.server,
            auth=credentials(),
            connection_timeout=_CONNECT_S,
            connection_acquisition_timeout=patience_s,
            max_transaction_retry_time=RETRY_S,
            user_agent="kernbench",
            notifications_disabled_categories=["HINT", "PERFORMANCE", "DEPRECATION", "GENERIC"],
        )

    def write(self, work: Callable[[Transaction], T]) -> T:
        """The result of ``work`` in a transaction that is tried again where the server says so.

        ``work`` must give the same when it is run again after it had been committed.
        """
        timed = neo4j.unit_of_work(timeout=WRITE_TIMEOUT_S)(work)
        with self.translated(), self._driver.session(database=self._address.database) as session:
            return session.execute_write(timed)

    def read(self, work: Callable[[Transaction], T], timeout_s: float = WRITE_TIMEOUT_S) -> T:
        """The result of ``work`` in a transaction that cannot write and is stopped after ``timeout_s``."""
        mark = secrets.token_hex(8)
        timed = neo4j.unit_of_work({_MARK: mark}, max(0.001, timeout_s))(work)
        with (
            running.stopped_by(_once(lambda: self._terminate(mark))),
            self.translated(timeout_s),
            self._driver.session(
                database=self._address.database, default_access_mode=neo4j.READ_ACCESS
            ) as session,
        ):
            return session.execute_read(timed)

    def _terminate(self, mark: str) -> None:
        """Have the server end the transaction that bears ``mark``, as far as it does: it may not answer."""

        def work() -> None:
            with (
                suppress(exceptions.Neo4jError, exceptions.DriverError, OSError),
                self._driver.session(database=self._address.database) as session,
            ):
                session.run(_TERMINATE, mark=mark).consume()

        thread = threading.Thread(target=work, name="terminate", daemon=True)
        self._terminating = [*(one for one in self._terminating if one.is_alive()), thread]
        thread.start()

    def close(self) -> None:
        """Close all connections, once nobody uses them: a connection is not safe to use from two threads."""
        for thread in self._terminating:
            thread.join(_CONNECT_S)
        self._driver.close()

    @contextmanager
    def translated(self, timeout_s: float = WRITE_TIMEOUT_S) -> Iterator[None]:
        """Errors of the driver as those of stores, in one line, with a remedy."""
        try:
            yield
        except exceptions.TokenExpired as error:
            raise StoreError(
                f"store '{self._url}': the token that it was opened with has expired; get a new one for "
                f"{PASSWORD}, and open it again"
            ) from error
        except exceptions.AuthError as error:
            raise StoreError(
                f"store '{self._url}' refuses the user or password; check {USER} and {PASSWORD}"
            ) from error
        except (exceptions.ServiceUnavailable, exceptions.SessionExpired) as error:
            wrong = encryption_problem(self._address.server) or f"no Neo4j server answers there; {_REMEDY}"
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
            return QueryTimeoutError.after(timeout_s)
        if code.endswith(("AccessMode", "ForbiddenOnReadOnlyDatabase")):
            return ReadOnlyError(f"queries only read: {message}")
        if code.startswith("Neo.ClientError.Statement"):
            return QueryError(f"the query is not valid here: {message}")
        if code.endswith("DatabaseNotFound"):
            return StoreError(
                f"store '{self._url}': the server has no database '{self._address.database}'; have it "
                "made, or leave the name out"
            )
        if code.startswith("Neo.ClientError.Security"):
            return StoreError(
                f"store '{self._url}' refuses what user '{credentials()[0]}' may not do ({message}); "
                "ask for a role that writes, or only read"
            )
        refused = RefusedError(
            f"store '{self._url}': the server refuses ({code}: {message}); try again, or see "
            "its log and the space on its disk"
        )
        refused.code = code
        return refused


def _once(stop: Callable[[], None]) -> Callable[[], None]:
    """``stop`` the first time, and nothing from then on."""
    left = [stop]
    return lambda: left.pop()() if left else None


def _line(error: object) -> str:
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__
