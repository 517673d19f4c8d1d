"""What version of layout and schema a database has, and how it gets from one to the next."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from graph.store import SchemaVersionError, StoreError, open_store
from graph.stores import neo4j_ddl as ddl
from graph.stores.neo4j_address import PASSWORD, parse
from graph.stores.neo4j_server import Server
from tests.conformance.graph_records import sample
from tests.conftest import need_neo4j
from tests.neo4j_server import Running, shared_server

INDEX = "kernbench_run_topology"


def test_another_version_is_refused_by_name(neo4j_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with open_store(neo4j_url) as store:
        store.keep(*sample(id="a"))
    monkeypatch.setattr(ddl, "SCHEMA_VERSION", 999)
    with pytest.raises(SchemaVersionError, match=r"schema version 1, but .* knows version 999; use the Kern"):
        open_store(neo4j_url)
    monkeypatch.setattr(ddl, "SCHEMA_VERSION", 1)
    monkeypatch.setattr(ddl, "VERSION", 1)
    with pytest.raises(SchemaVersionError, match=r"layout version 2, but .* knows version 1; use the Kern"):
        open_store(neo4j_url)


@pytest.fixture(scope="module")
def own_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A database of its own, which is brought to other versions."""
    need_neo4j()
    with shared_server(tmp_path_factory.mktemp("versions")) as server:
        yield server


@pytest.fixture
def server(neo4j_url: str, own_server: Running, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setenv(PASSWORD, own_server.password)
    connected = Server(parse(own_server.url), own_server.url)
    yield connected
    connected.close()


def write(server: Server, text: str) -> None:
    server.write(lambda tx: tx.run(text).consume())


def names(server: Server, what: str) -> set[str]:
    rows: list[dict[str, Any]] = server.read(lambda tx: tx.run(f"SHOW {what} YIELD name RETURN name").data())
    return {row["name"] for row in rows if row["name"].startswith("kernbench_")}


def die_at(monkeypatch: pytest.MonkeyPatch, statement: int) -> None:
    """Have the process that migrates end when that many statements are done."""
    done: list[str] = []
    create = ddl._create_one

    def dying(server: Server, text: str) -> None:
        if len(done) == statement:
            raise KeyboardInterrupt
        done.append(text)
        create(server, text)

    monkeypatch.setattr(ddl, "_create_one", dying)


@pytest.mark.slow
@pytest.mark.parametrize("statement", [0, 1, 7])
def test_a_first_use_that_was_interrupted_is_completed(
    own_server: Running, server: Server, monkeypatch: pytest.MonkeyPatch, statement: int
) -> None:
    write(server, "MATCH (n) DETACH DELETE n")
    for name in names(server, "CONSTRAINTS"):
        write(server, f"DROP CONSTRAINT {name}")
    for name in names(server, "INDEXES"):
        write(server, f"DROP INDEX {name}")
    with monkeypatch.context() as patch:
        die_at(patch, statement)
        with pytest.raises(KeyboardInterrupt), open_store(own_server.url) as store:
            store.keep(*sample(id="a"))
    assert ddl.version(server, "") == 0
    with open_store(own_server.url) as store:
        assert store.runs() == []
        store.keep(*sample(id="a"))
    assert ddl.version(server, "") == ddl.VERSION
    made = {text.split()[2] for text in ddl.statements()}
    assert names(server, "INDEXES") == made


def to_version_1(server: Server) -> None:
    """As version 1 left it: runs that were being pushed did not say what they were on."""
    write(server, f"DROP INDEX {INDEX} IF EXISTS")
    write(server, "MATCH (d:KernbenchDatabase) SET d.version = 1")


@pytest.mark.slow
def test_an_older_layout_is_brought_up_to_date(own_server: Running, server: Server) -> None:
    with open_store(f"{own_server.url}/older") as store:
        store.keep(*sample(id="a"))
    to_version_1(server)
    write(
        server,
        "CREATE (:KernbenchRun {key: 'older/p', store: 'older', id: 'p', state: 'pushing', number: 1000005, "
        "step: 0, owner: 'another machine 1', beat: timestamp()})",
    )
    with open_store(f"{own_server.url}/older") as store:
        assert store.notes == ["database brought from layout version 1 to 2"]
        assert INDEX in names(server, "INDEXES")
        assert [run["id"] for run in store.runs()] == ["a"]
        store.remove("a")
        assert store.load_topology(sample()[1].id).name == "small"  # which 'p' may need
        write(server, "MATCH (k:KernbenchRun {key: 'older/p'}) SET k.beat = 0")
    with open_store(f"{own_server.url}/older") as store:
        assert store.notes == []
        with pytest.raises(StoreError, match="no topology"):
            store.load_topology(sample()[1].id)


@pytest.mark.slow
def test_an_interrupted_migration_is_completed(
    own_server: Running, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_store(f"{own_server.url}/interrupted") as store:
        store.keep(*sample(id="a"))
    to_version_1(server)
    for statement in (0, 1):
        with monkeypatch.context() as patch:
            die_at(patch, statement)
            if statement == 1:  # after the last statement, before the version is raised
                patch.setattr(ddl, "_SET", "not Cypher")
            with pytest.raises((KeyboardInterrupt, StoreError)):
                open_store(f"{own_server.url}/interrupted")
        assert ddl.version(server, "") == 1
    with open_store(f"{own_server.url}/interrupted") as store:
        assert [run["id"] for run in store.runs()] == ["a"]
    assert ddl.version(server, "") == ddl.VERSION
    assert INDEX in names(server, "INDEXES")


@pytest.mark.slow
@pytest.mark.parametrize(("what", "value", "message"), [
    ("version", "99", "layout version 99, but this KernBench knows version 2"),
    ("version", "'2'", "layout version '2'"),
    ("schema_version", "0", "schema version 0, but this KernBench knows version 1"),
    ("schema_version", "2", "schema version 2, but this KernBench knows version 1"),
])  # fmt: skip
def test_what_cannot_be_used_is_refused_with_a_remedy(
    own_server: Running, server: Server, what: str, value: str, message: str
) -> None:
    with open_store(f"{own_server.url}/refused") as store:
        if not store.runs():
            store.keep(*sample(id="a"))
    write(server, f"MATCH (d:KernbenchDatabase) SET d.{what} = {value}")
    try:
        with pytest.raises(SchemaVersionError, match=message) as caught:
            open_store(f"{own_server.url}/refused")
        assert "use the KernBench that wrote it, or another database" in str(caught.value)
    finally:
        write(server, f"MATCH (d:KernbenchDatabase) SET d.version = {ddl.VERSION}, d.schema_version = 1")
