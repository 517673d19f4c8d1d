"""The open databases of a store: made once, while others are asked, and closed when nobody asks them."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any

import pytest
from kernbench_graph.errors import QueryCancelledError
from kernbench_graph.result import Result
from kernbench_graph.running import RunningQueries
from kernbench_graph.stores.embedded.open_graphs import OpenGraphs

LONG_S = 60.0


class Fake:
    """A database that counts nothing but whether it is closed."""

    is_closed = False

    def query(self, cypher: str, params: Mapping[str, Any], timeout_s: float) -> Result:
        raise NotImplementedError

    def close(self) -> None:
        assert not self.is_closed
        self.is_closed = True


def test_the_one_that_was_asked_longest_ago_goes() -> None:
    graphs = OpenGraphs(2)
    first, second = graphs.get("1", Fake), graphs.get("2", Fake)
    assert graphs.get("1", Fake) is first
    graphs.get("3", Fake)
    assert (first.is_closed, second.is_closed, list(graphs)) == (False, True, ["1", "3"])
    graphs.close()
    assert first.is_closed
    assert len(graphs) == 0


def test_one_that_is_used_is_closed_with_its_last_user() -> None:
    graphs, queries = OpenGraphs(1), RunningQueries()
    both, go = threading.Barrier(3), threading.Event()
    found: list[Any] = []

    def work() -> Result:
        found.append(graphs.get("used", Fake))
        both.wait(LONG_S)
        assert go.wait(LONG_S)
        assert not found[-1].is_closed
        return Result([])

    threads = [threading.Thread(target=queries.ask, args=("", None, LONG_S, work)) for _ in range(2)]
    for thread in threads:
        thread.start()
    both.wait(LONG_S)
    other = graphs.get("other", Fake)
    graphs.forget("used")
    assert found[0] is found[1]
    assert not found[0].is_closed
    go.set()
    for thread in threads:
        thread.join(LONG_S)
    assert found[0].is_closed
    assert not other.is_closed


def test_one_makes_it_and_the_rest_is_asked_meanwhile() -> None:
    graphs, queries = OpenGraphs(4), RunningQueries()
    begun, go = threading.Event(), threading.Event()
    made: list[Fake] = []

    def make() -> Fake:
        begun.set()
        assert go.wait(LONG_S)
        made.append(Fake())
        return made[-1]

    def ask() -> None:
        queries.ask("", None, LONG_S, lambda: Result([], [(graphs.get("slow", make),)]))

    threads = [threading.Thread(target=ask) for _ in range(3)]
    for thread in threads:
        thread.start()
    assert begun.wait(LONG_S)
    graphs.get("other", Fake)  # is not kept waiting
    graphs.forget("other")
    go.set()
    for thread in threads:
        thread.join(LONG_S)
    assert len(made) == 1


def test_another_makes_it_where_the_first_was_cancelled() -> None:
    graphs, queries = OpenGraphs(4), RunningQueries()
    begun, stopped = threading.Event(), threading.Event()
    ended: list[Any] = []

    def make() -> Fake:
        (query,) = [query for query in queries.listed() if query.text == "first"]
        begun.set()
        with query.stopped_by(stopped.set):
            assert stopped.wait(LONG_S)
        query.check()
        raise AssertionError

    def ask() -> None:
        with pytest.raises(QueryCancelledError) as caught:
            queries.ask("first", None, LONG_S, lambda: Result([], [(graphs.get("a", make),)]))
        ended.append(caught.value)

    first = threading.Thread(target=ask)
    first.start()
    assert begun.wait(LONG_S)
    (query,) = queries.listed()
    query.cancel()
    result = queries.ask("second", None, LONG_S, lambda: Result([], [(graphs.get("a", Fake),)]))
    first.join(LONG_S)
    assert isinstance(result.rows[0][0], Fake)
    assert len(ended) == 1


def test_one_that_was_made_after_all_were_closed_is_closed_too() -> None:
    graphs = OpenGraphs(4)
    graphs.close()
    assert graphs.get("late", Fake).is_closed
