"""A query never stops the rest: others are answered beside it, and it is ended by whoever may end it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest
from kernbench_graph import running
from kernbench_graph.errors import QueryCancelledError, QueryTimeoutError
from kernbench_graph.store import GraphStore
from kernbench_graph.stores.arcade import loading

from tests.conformance.conftest import NewStore
from tests.conformance.graph_records import sample

LONG_S = 60.0
COUNT = "MATCH (:Run {id: $run})-[:SENT]->(t:Transaction) RETURN count(t) AS n"
SLOW = """MATCH (r:Run {id: $run}) UNWIND range(1, 4000) AS a UNWIND range(1, 4000) AS b
          UNWIND range(1, 4000) AS c
          WITH r, a, b, c WHERE (a * b) % 7 = c % 5 RETURN r.id AS id, sum(a) AS n"""


class Asking(threading.Thread):
    """Asks in a thread of its own; ``found`` is what becomes of it."""

    def __init__(self, store: GraphStore, text: str, run: str) -> None:
        super().__init__()
        self.store, self.text, self.run_id = store, text, run
        self.found: Any = None
        self.start()

    def run(self) -> None:
        try:
            self.found = self.store.query(self.text, run=self.run_id, timeout_s=LONG_S).rows
        except Exception as error:
            self.found = error


def until(holds: Callable[[], bool]) -> None:
    """Wait for it."""
    for _ in range(6000):
        if holds():
            return
        threading.Event().wait(0.01)
    raise AssertionError


def doing(store: GraphStore) -> list[str]:
    return [query.doing for query in store.queries.listed()]


def test_others_are_answered_beside_a_long_query_until_it_is_cancelled(new_store: NewStore) -> None:
    with new_store() as store:
        store.keep(*sample(id="a"))
        store.keep(*sample(id="b"))
        for run in ("a", "b"):
            assert store.query(COUNT, run=run).rows == [(2,)]
        with running.asked_by("a test"):
            long = Asking(store, SLOW, "a")
            until(lambda: doing(store) == [running.ASKING])
        assert store.query(COUNT, run="b").rows == [(2,)]
        assert store.query(COUNT, run="a").rows == [(2,)]
        assert [info["id"] for info in store.runs()] == ["a", "b"]
        (query,) = store.queries.listed()
        assert (query.text, query.run) == (SLOW, "a")
        store.queries.cancel(query.number)
        long.join(LONG_S)
        assert isinstance(long.found, QueryCancelledError)
        assert store.query(COUNT, run="a").rows == [(2,)]
        until(lambda: doing(store) == [])


def test_a_query_is_stopped_when_its_time_is_over(new_store: NewStore) -> None:
    with new_store() as store:
        store.keep(*sample(id="a"))
        with pytest.raises(QueryTimeoutError, match=r"stopped after 0\.2 s; make it narrower"):
            store.query(SLOW, run="a", timeout_s=0.2)
        until(lambda: doing(store) == [])
        assert store.query(COUNT, run="a").rows == [(2,)]


def test_a_store_that_is_closed_cancels_what_runs(new_store: NewStore) -> None:
    with new_store() as store:
        store.keep(*sample(id="a"))
        long = Asking(store, SLOW, "a")
        until(lambda: doing(store) == [running.ASKING])
        store.close()
        long.join(LONG_S)
        assert isinstance(long.found, QueryCancelledError)


@pytest.mark.parametrize("new_store", ["memory", "embedded"], indirect=True)
def test_nobody_else_waits_while_a_graph_is_built(
    new_store: NewStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, go = loading.project, threading.Event()
    built: list[str] = []

    def project(database: Any, parts: Any, *rest: Any, **more: Any) -> None:
        runs = [run for part in parts if part.name == "Run" for run in part.data["id"].to_pylist()]
        built.extend(runs if len(runs) == 1 else [])  # not the graph over all runs
        if built == ["a"]:
            assert go.wait(LONG_S)
        whole(database, parts, *rest, **more)

    monkeypatch.setattr(loading, "project", project)
    with new_store() as store:
        store.keep(*sample(id="a"))
        store.keep(*sample(id="b"))
        first = Asking(store, COUNT, "a")
        until(lambda: built == ["a"])
        second = Asking(store, COUNT, "a")
        until(lambda: doing(store) == [running.BUILDING, running.BUILDING])
        assert store.query(COUNT, run="b").rows == [(2,)]
        assert store.query("MATCH (r:Run) RETURN count(r) AS n").rows == [(2,)]
        assert store.load("a").info["id"] == store.resolve("a") == "a"
        assert store.change_tags("b", ["good"]) == ["good"]
        store.queries.listed()[0].cancel()
        go.set()
        for asking in (first, second):
            asking.join(LONG_S)
        assert isinstance(first.found, QueryCancelledError)
        assert second.found == [(2,)]
        assert built == ["a", "b", "a"]
        assert store.notes == []
