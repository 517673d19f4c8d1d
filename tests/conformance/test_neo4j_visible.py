"""When others see a run that is pushed into Neo4j or removed: nothing of it is missing while it is kept."""

from __future__ import annotations

from typing import Any

import pytest
from kernbench_graph.stores.neo4j import push as neo4j_push
from kernbench_graph.stores.neo4j import removal as neo4j_removal
from kernbench_graph.stores.neo4j.server import Neo4jServer
from kernbench_graph.stores.neo4j.store import Neo4jStore

from tests.conformance.graph_records import sample

SEEN = """OPTIONAL MATCH (k:KernbenchRun {id: 'a'}) OPTIONAL MATCH (r:Run {id: 'a'})
RETURN coalesce(k.state, 'none') = 'kept' AS kept, r IS NOT NULL AS found"""


def test_a_run_is_found_from_before_it_is_kept_until_after(
    neo4j_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server does not show all changes of a transaction at once, so each is in one of its own."""
    write, seen = Neo4jServer.write, [(False, False)]

    def looked(self: Neo4jServer, work: Any) -> Any:
        made = write(self, work)
        row = self.read(lambda tx: tx.run(SEEN).single(strict=True))
        now = row["kept"], row["found"]
        if seen[-1] != now:
            seen.append(now)
        return made

    with Neo4jStore(neo4j_url) as store:
        monkeypatch.setattr(Neo4jServer, "write", looked)
        store.keep(*sample(id="a"))
        store.remove("a")
    assert seen == [(False, False), (False, True), (True, True), (False, True), (False, False)]


def test_a_run_stays_that_is_kept_while_its_pusher_is_found_dead(
    neo4j_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A pusher ends as it should after another process saw it pushing, and before that looked for it."""
    finish = neo4j_push.Push.finish

    def ending(self: neo4j_push.Push, manifest: bytes, content: str) -> None:
        def ended(*_: object) -> bool:
            finish(self, manifest, content)
            return True

        monkeypatch.setattr(neo4j_removal, "is_dead", ended)
        neo4j_removal.clean(self._server)

    monkeypatch.setattr(neo4j_push.Push, "finish", ending)
    with Neo4jStore(neo4j_url) as store:
        store.keep(*sample(id="a"))
        assert [run["id"] for run in store.runs()] == ["a"]
        hops = "MATCH (:Run {id: $run})-[:SENT]->()-[h:HOP]->() RETURN count(h) AS n"
        assert store.query(hops, run="a").rows == [(12,)]
