"""A query never stops the rest: others are answered beside it, and it is ended by whoever may end it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from kernbench_graph import running
from kernbench_graph.errors import QueryCancelledError, QueryError, QueryTimeoutError
from kernbench_graph.store import GraphStore
from kernbench_graph.stores.arcade import files

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


@pytest.mark.parametrize("new_store", ["memory"], indirect=True)
def test_a_light_query_is_answered_beside_three_long_ones(new_store: NewStore) -> None:
    with new_store() as store:
        store.keep(*sample(id="a"))
        assert store.query(COUNT, run="a").rows == [(2,)]
        long = [Asking(store, SLOW, "a") for _ in range(3)]
        until(lambda: doing(store) == [running.ASKING] * 3)
        assert store.query(COUNT, run="a", timeout_s=30.0).rows == [(2,)]
        store.queries.cancel_all()
        for asking in long:
            asking.join(LONG_S)
        until(lambda: doing(store) == [])
        assert store.query(COUNT, run="a").rows == [(2,)]


MANY = f"MATCH {', '.join(f'(n{n}:Use)' for n in range(9))} RETURN " + ", ".join(
    f"n{n}.id AS c{n}" for n in range(9)
)


@pytest.mark.parametrize("new_store", ["memory"], indirect=True)
def test_ladybug_is_stopped_while_it_hands_over_rows(
    new_store: NewStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    with new_store() as store:
        store.keep(*sample(id="a"))
        uses = store.query("MATCH (u:Use) RETURN count(u) AS n", run="a").rows[0][0]
        rows = f"has {uses**9:,} rows of 9 columns, but at most 10,000,000 values"
        with pytest.raises(QueryError, match=rows):
            store.query(MANY, run="a", engine="ladybug")
        monkeypatch.setattr("kernbench_graph.query.limits.MOST_VALUES", uses**11)
        with pytest.raises(QueryTimeoutError):
            store.query(MANY, run="a", engine="ladybug", timeout_s=0.5)
        until(lambda: doing(store) == [])  # which took minutes, and gigabytes
        assert store.query(COUNT, run="a", engine="ladybug").rows == [(2,)]


def test_no_store_gives_more_values_than_may_be(new_store: NewStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kernbench_graph.query.limits.MOST_VALUES", 8)
    with new_store() as store:
        store.keep(*sample(id="a"))
        text = "UNWIND range(1, {}) AS n RETURN n, n AS m"
        assert len(store.query(text.format(4), run="a").rows) == 4
        with pytest.raises(QueryError, match="the answer has 5 rows of 2 columns"):
            store.query(text.format(5), run="a")


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
    whole, go = files.FILES.project, threading.Event()
    built: list[str] = []

    def project(database: Any, parts: Any, *rest: Any, **more: Any) -> None:
        runs = [run for part in parts if part.name == "Run" for run in part.data["id"].to_pylist()]
        built.extend(runs if len(runs) == 1 else [])  # not the graph over all runs
        if built == ["a"]:
            assert go.wait(LONG_S)
        whole(database, parts, *rest, **more)

    monkeypatch.setattr(files, "FILES", replace(files.FILES, project=project))
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
