"""The version of layout and schema of a database, and its first use."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from kernbench_graph.errors import SchemaVersionError
from kernbench_graph.opening import open_store
from kernbench_graph.schema import SCHEMA_VERSION
from kernbench_graph.stores.neo4j import ddl, removal
from kernbench_graph.stores.neo4j.server import RETRY_S, WRITE_TIMEOUT_S, Neo4jServer, parse

from tests.conformance.graph_records import sample


@pytest.fixture
def server(neo4j_url: str) -> Iterator[Neo4jServer]:
    connected = Neo4jServer(parse(neo4j_url), neo4j_url)
    yield connected
    connected.close()


def write(server: Neo4jServer, text: str) -> None:
    server.write(lambda tx: tx.run(text).consume())


def names(server: Neo4jServer, what: str) -> set[str]:
    rows: list[dict[str, Any]] = server.read(lambda tx: tx.run(f"SHOW {what} YIELD name RETURN name").data())
    return {row["name"] for row in rows if row["name"].startswith("kernbench_")}


def die_at(monkeypatch: pytest.MonkeyPatch, statement: int) -> None:
    """Have the process that migrates end when that many statements are done."""
    done: list[str] = []
    create = ddl.create_one

    def dying(server: Neo4jServer, text: str) -> None:
        if len(done) == statement:
            raise KeyboardInterrupt
        done.append(text)
        create(server, text)

    monkeypatch.setattr(ddl, "create_one", dying)


@pytest.mark.slow
@pytest.mark.parametrize("statement", [0, 1, 7])
def test_a_first_use_that_was_interrupted_is_completed(
    neo4j_url: str, server: Neo4jServer, monkeypatch: pytest.MonkeyPatch, statement: int
) -> None:
    write(server, "MATCH (n) DETACH DELETE n")
    for name in names(server, "CONSTRAINTS"):
        write(server, f"DROP CONSTRAINT {name}")
    for name in names(server, "INDEXES"):
        write(server, f"DROP INDEX {name}")
    with monkeypatch.context() as patch:
        die_at(patch, statement)
        with pytest.raises(KeyboardInterrupt), open_store(neo4j_url) as store:
            store.keep(*sample(id="a"))
    assert ddl.schema_of(server, "") is None
    with open_store(neo4j_url) as store:
        assert store.runs() == []
        store.keep(*sample(id="a"))
    assert ddl.schema_of(server, "") == SCHEMA_VERSION
    made = {text.split()[2] for text in ddl.statements()}
    assert names(server, "INDEXES") == made


@pytest.mark.slow
@pytest.mark.parametrize(("what", "value", "message"), [
    ("version", "99", "layout version 99, but this KernBench knows version 3"),
    ("version", "'3'", "layout version '3'"),
    ("version", "2", "layout version 2, but this KernBench knows version 3"),
    ("schema_version", "0", f"schema version 0, but this KernBench knows version {SCHEMA_VERSION}"),
    ("schema_version", str(SCHEMA_VERSION + 1), f"schema version {SCHEMA_VERSION + 1}, but this KernBench"),
])  # fmt: skip
def test_what_cannot_be_used_is_refused_with_a_remedy(
    neo4j_url: str, server: Neo4jServer, what: str, value: str, message: str
) -> None:
    with open_store(neo4j_url) as store:
        store.keep(*sample(id="a"))
    write(server, f"MATCH (d:KernbenchDatabase) SET d.{what} = {value}")
    with pytest.raises(SchemaVersionError, match=message) as caught:
        open_store(neo4j_url)
    assert "use the KernBench that wrote it, or another database" in str(caught.value)


def test_a_slow_live_pusher_is_not_taken_for_dead() -> None:
    """It is heard of once in each transaction, which may take its time and be tried again."""
    assert removal.DEAD_AFTER_S > WRITE_TIMEOUT_S + RETRY_S
    assert not removal.is_dead("another/machine 1", WRITE_TIMEOUT_S + RETRY_S)
    assert removal.is_dead("another/machine 1", removal.DEAD_AFTER_S + 1)
