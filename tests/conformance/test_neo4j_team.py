"""A team on one server: who may only read does so, and runs of an older KernBench are upgraded in place."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import neo4j
import pytest
from kernbench_graph.errors import SchemaVersionError, StoreError
from kernbench_graph.opening import open_store
from kernbench_graph.records import RunRecord
from kernbench_graph.schema import READABLE, SCHEMA_VERSION
from kernbench_graph.stores.neo4j import push as neo4j_push
from kernbench_graph.stores.neo4j.store import Neo4jStore

from tests.conformance.graph_records import made_here, sample
from tests.conformance.test_store_additions import MARKS, note
from tests.neo4j_server import Running, seen

HOPS = "MATCH (:Run {id: $run})-[:SENT]->()-[h:HOP]->() RETURN count(h) AS n"
OLDER = READABLE[0]


@pytest.fixture
def only_reading(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Makes every session one of a user who may only read: the server itself refuses to write in it.

    The Community edition has users, but no roles.
    """
    session = neo4j.Driver.session

    def start() -> None:
        def reading(self: neo4j.Driver, **config: Any) -> neo4j.Session:
            found = session(self, **{**config, "default_access_mode": neo4j.READ_ACCESS})
            monkeypatch.setattr(found, "execute_write", found.execute_read)
            return found

        monkeypatch.setattr(neo4j.Driver, "session", reading)

    return start


def test_who_may_only_read_reads(neo4j_url: str, only_reading: Callable[[], None]) -> None:
    with open_store(neo4j_url) as store:
        store.keep(*sample(id="a"))
    only_reading()
    with open_store(neo4j_url) as store:
        assert [run["id"] for run in store.runs()] == ["a"]
        assert store.query(HOPS, run="last").rows == [(12,)]
        assert store.query("MATCH (r:Run) RETURN r.id AS id").rows == [("a",)]
        assert store.load("a").tables["Hop"].num_rows == 12
        for write in (
            lambda: store.keep(*sample(id="b")),
            lambda: store.remove("a"),
            lambda: store.change_tags("a", ["x"]),
            lambda: store.add("a", "annotation x", note("x", {"r0": 1.0})),
        ):
            with pytest.raises(StoreError, match="read"):
                write()
        assert [run["id"] for run in store.runs()] == ["a"]


def test_a_list_fetches_no_manifest(neo4j_url: str, neo4j_server: Running) -> None:
    run, topology = sample(id="a")
    with Neo4jStore(neo4j_url) as store:
        store.keep(RunRecord({**run.info, "notes": [{"bytes": 1}] * 500}, run.tables), topology)
        store.change_tags("a", ["x"])
        (entry,) = store._catalogue.runs()
        assert (entry.manifest, len(entry.brief or "") < 2000) == (None, True)
        listed, whole = store.runs(), store.load("a").info
        assert listed == [whole]
        assert whole["tags"] == '["x"]'
        seen(neo4j_server, "MATCH (k:KernbenchRun) SET k.briefed = 'of another version' RETURN k.id AS id")
        assert store.runs() == [whole]


def test_opening_writes_nothing(neo4j_url: str, neo4j_server: Running) -> None:
    """Not in a database that nobody used, nor where a pusher died."""
    with open_store(neo4j_url) as store:
        assert store.runs() == []
    assert seen(neo4j_server, "MATCH (n) RETURN count(n) AS n") == [(0,)]
    with Neo4jStore(neo4j_url) as store:
        store.keep(*sample(id="a"))
        neo4j_push.Push(store._server, "b", "none", "full", 0).claim()
    claimed = "MATCH (k:KernbenchRun {state: 'pushing'}) SET k.owner = 'gone', k.beat = 0 RETURN k.id AS id"
    assert seen(neo4j_server, claimed) == [("b",)]
    with open_store(neo4j_url) as store:
        assert [run["id"] for run in store.runs()] == ["a"]
        assert seen(neo4j_server, "MATCH (k:KernbenchRun) RETURN k.id AS id ORDER BY id") == [("a",), ("b",)]
        store.keep(*sample(id="c"))
    assert seen(neo4j_server, "MATCH (k:KernbenchRun) RETURN k.id AS id ORDER BY id") == [("a",), ("c",)]


def graph(server: Running) -> Counter[Any]:
    """Nodes with their properties, and relationships with theirs and the ids at their ends."""
    nodes = (
        "MATCH (n) WHERE n.id IS NOT NULL AND NOT n:KernbenchRun RETURN labels(n) AS l, properties(n) AS p"
    )
    joined = "MATCH (a)-[r]->(b) RETURN a.id AS a, type(r) AS type, properties(r) AS p, b.id AS b"
    found: Counter[Any] = Counter()
    for text in (nodes, joined):
        for row in seen(server, text):
            found[str([sorted(map(str, v.items())) if isinstance(v, dict) else v for v in row])] += 1
    return found


def make_older(server: Running) -> None:
    """What an older KernBench had pushed: without a label, a property, and facts of today."""
    for text in (
        f"MATCH (d:KernbenchDatabase) SET d.schema_version = {OLDER}",
        "MATCH (k:KernbenchRun) REMOVE k.schema SET k.facts = 1",
        "MATCH (t:KernbenchTopology) REMOVE t.schema",
        "MATCH (w:Window) DETACH DELETE w",
        "MATCH (c:Component) REMOVE c.x_mm",
        "MATCH (:Topology)-[h:CONTAINS]->() DELETE h",
        "MATCH (:Component)-[h:LEAVES_BY]->() DELETE h",
    ):
        seen(server, text)


def test_an_older_database_is_upgraded_though_it_is_interrupted(
    neo4j_url: str, neo4j_server: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_store(neo4j_url) as store:
        store.computed = made_here(store)
        for name in "ab":
            store.keep(*sample(id=name))
        store.add("a", "annotation x", note("x", {"r0": 1.0}))
    whole = graph(neo4j_server)
    make_older(neo4j_server)
    fill = neo4j_push.Push.fill

    def dying(self: neo4j_push.Push, *arguments: Any) -> None:
        fill(self, *arguments)
        raise KeyboardInterrupt

    with Neo4jStore(neo4j_url) as store:
        store.computed = made_here(store)
        assert [run["id"] for run in store.runs()] == ["a", "b"]
        for write in (lambda: store.query(HOPS, run="a"), lambda: store.keep(*sample(id="c"))):
            with pytest.raises(SchemaVersionError, match=f"version {OLDER}, .* kernbench runs upgrade"):
                write()
        with monkeypatch.context() as patch:
            patch.setattr(neo4j_push.Push, "fill", dying)
            with pytest.raises(KeyboardInterrupt):
                store.upgrade()
    with Neo4jStore(neo4j_url) as store:
        store.computed = made_here(store)
        assert store.schema_version == OLDER
        assert [run["id"] for run in store.runs()] == ["a", "b"]
        assert store.load("a").tables["Hop"].num_rows == 12
        assert store.upgrade() == ["a", "b"]
        assert store.schema_version == SCHEMA_VERSION
        assert store.query(HOPS, run="a").rows == [(12,)]
        assert store.query(MARKS, run="a").rows == [("x", "r0", 1.0, "")]
        assert store.upgrade() == []
        assert [run["id"] for run in store.runs()] == ["a", "b"]
    assert graph(neo4j_server) == whole


def test_a_run_that_is_being_upgraded_is_asked_nothing(neo4j_url: str, neo4j_server: Running) -> None:
    with open_store(neo4j_url) as store:
        store.keep(*sample(id="a"))
        seen(neo4j_server, "MATCH (k:KernbenchRun) SET k.state = 'upgrading'")
        with pytest.raises(StoreError, match="is being rebuilt; wait, or complete that with kernbench runs"):
            store.query(HOPS, run="a")
        assert store.upgrade() == ["a"]  # it was this process's own
        assert store.query(HOPS, run="a").rows == [(12,)]
