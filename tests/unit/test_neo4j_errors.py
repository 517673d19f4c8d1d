"""Errors of the driver of Neo4j, each in one line with a remedy; no server is needed for that."""

from __future__ import annotations

import pytest
from kernbench_graph.errors import QueryTimeoutError, ReadOnlyError, StoreError
from kernbench_graph.stores.neo4j.server import Neo4jServer, parse
from neo4j import exceptions

URL = "neo4j://host/team"


def of_server(code: str) -> exceptions.Neo4jError:
    return exceptions.Neo4jError._hydrate_neo4j(code=code, message="a reason\nof two lines")


ERRORS = [
    (of_server("Neo.ClientError.Security.TokenExpired"), StoreError, "token .* has expired; get a new one"),
    (of_server("Neo.ClientError.Security.Unauthorized"), StoreError, "refuses the user or password"),
    (exceptions.ServiceUnavailable("gone"), StoreError, "no Neo4j server answers there; start it"),
    (exceptions.SessionExpired("gone"), StoreError, "no Neo4j server answers there; start it"),
    (of_server("Neo.ClientError.Database.DatabaseNotFound"), StoreError, "no database 'team'; have it made"),
    (
        of_server("Neo.DatabaseError.Transaction.TransactionCommitFailed"),
        StoreError,
        r"a reason\); try again, or see its log and the space on its disk",
    ),
    (of_server("Neo.TransientError.General.MemoryPoolOutOfMemoryError"), StoreError, "the server refuses"),
    (of_server("Neo.ClientError.Transaction.TransactionTimedOut"), QueryTimeoutError, "stopped after 2 s"),
    (of_server("Neo.ClientError.Statement.AccessMode"), ReadOnlyError, "queries only read"),
    (OSError(28, "No space left on device"), StoreError, "cannot be used .*No space left"),
]


@pytest.mark.parametrize(("error", "kind", "message"), ERRORS, ids=[str(i) for i in range(len(ERRORS))])
def test_errors_say_what_to_do(error: Exception, kind: type[StoreError], message: str) -> None:
    server = Neo4jServer.__new__(Neo4jServer)
    server._url, server._address = URL, parse(URL)
    with pytest.raises(kind, match=message) as caught, server.translated(2.0):
        raise error
    assert "\n" not in str(caught.value)
