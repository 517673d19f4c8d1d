"""Queries that are running: ended by their time, by others, by Ctrl-C, and with those who asked."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator

import pytest
from kernbench_graph import running
from kernbench_graph.errors import QueryCancelledError, QueryError, QueryTimeoutError, StoreError
from kernbench_graph.result import Result
from kernbench_graph.running import Asker, RunningQueries

LONG_S = 60.0
ANSWER = Result(["x"], [(1,)])


class Engine:
    """Works until it is released; ``obeys`` when it is told to stop."""

    def __init__(self, obeys: bool = True) -> None:
        self.obeys = obeys
        self.released, self.begun, self.told = threading.Event(), threading.Event(), threading.Event()

    def stop(self) -> None:
        self.told.set()
        if self.obeys:
            self.released.set()

    def work(self) -> Result:
        with running.stopped_by(self.stop):
            self.begun.set()
            assert self.released.wait(LONG_S)
        running.check()
        return ANSWER


@pytest.fixture
def stubborn() -> Iterator[Engine]:
    engine = Engine(obeys=False)
    yield engine
    engine.released.set()


@pytest.fixture
def queries() -> RunningQueries:
    return RunningQueries()


class Asking(threading.Thread):
    """Asks in a thread of its own; ``found`` is what becomes of it."""

    def __init__(self, queries: RunningQueries, engine: Engine) -> None:
        super().__init__()
        self.queries, self.engine = queries, engine
        self.found: BaseException | Result | None = None
        self.start()
        assert engine.begun.wait(LONG_S)

    def run(self) -> None:
        try:
            self.found = self.queries.ask("RETURN 1", "last", LONG_S, self.engine.work)
        except QueryError as error:
            self.found = error


def test_answers_and_errors_are_those_of_the_engine(queries: RunningQueries) -> None:
    assert queries.ask("RETURN 1", None, LONG_S, lambda: ANSWER) is ANSWER

    def fail() -> Result:
        raise QueryError("no such thing")

    with pytest.raises(QueryError, match="no such thing"):
        queries.ask("RETURN 1", None, LONG_S, fail)
    assert queries.listed() == []


def test_an_engine_that_does_not_obey_is_left_behind(queries: RunningQueries, stubborn: Engine) -> None:
    with pytest.raises(QueryTimeoutError, match=r"stopped after 0\.05 s"):
        queries.ask("RETURN 1", None, 0.05, stubborn.work)
    assert stubborn.told.is_set()
    (left,) = queries.listed()
    assert (left.text, left.doing) == ("RETURN 1", running.STOPPING)
    stubborn.released.set()
    for thread in threading.enumerate():
        if thread.name == f"query {left.number}":
            thread.join(LONG_S)
    assert queries.listed() == []


def test_one_of_them_is_cancelled(queries: RunningQueries) -> None:
    asking, other = Asking(queries, Engine()), Asking(queries, Engine())
    first, second = queries.listed()
    assert (first.run, first.asker, first.doing) == ("last", Asker("Python"), running.ASKING)
    queries.cancel(first.number)
    asking.join(LONG_S)
    assert isinstance(asking.found, QueryCancelledError)
    assert not other.engine.told.is_set()
    assert queries.listed() == [second]
    other.engine.released.set()
    other.join(LONG_S)
    assert other.found is ANSWER
    with pytest.raises(StoreError, match=f"no running query {first.number}"):
        queries.cancel(first.number)


def test_a_query_ends_when_its_asker_has_gone(queries: RunningQueries) -> None:
    engine = Engine()
    with (
        running.asked_by("a page", engine.begun.is_set),
        pytest.raises(QueryCancelledError, match="has gone"),
    ):
        queries.ask("RETURN 1", None, LONG_S, engine.work)
    assert engine.told.is_set()


def test_ctrl_c_ends_a_query(queries: RunningQueries) -> None:
    engine = Engine()

    def interrupt() -> None:
        assert engine.begun.wait(LONG_S)
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)  # it wakes a waiting thread

    other = threading.Thread(target=interrupt)
    other.start()
    with pytest.raises(KeyboardInterrupt):
        queries.ask("RETURN 1", None, LONG_S, engine.work)
    other.join(LONG_S)
    assert engine.told.is_set()


def test_a_query_that_was_asked_for_another_ends_with_it(queries: RunningQueries) -> None:
    inner = Engine()

    def work() -> Result:
        return queries.ask("inner", None, LONG_S, inner.work)

    def cancel() -> None:
        assert inner.begun.wait(LONG_S)
        queries.cancel(min(query.number for query in queries.listed()))

    other = threading.Thread(target=cancel)
    other.start()
    with pytest.raises(QueryCancelledError):
        queries.ask("outer", None, LONG_S, work)
    other.join(LONG_S)
    assert inner.told.is_set()


def test_the_building_of_a_graph_takes_none_of_the_time(queries: RunningQueries) -> None:
    seen: list[str] = []

    def work() -> Result:
        with running.building():
            threading.Event().wait(0.3)
            seen.extend(query.doing for query in queries.listed())
        return ANSWER

    assert queries.ask("RETURN 1", None, 0.2, work) is ANSWER
    assert seen == [running.BUILDING]


def test_who_waits_for_a_lock_can_be_ended(queries: RunningQueries) -> None:
    lock = threading.Lock()

    def work() -> Result:
        with running.held(lock):
            return ANSWER

    with lock, pytest.raises(QueryTimeoutError, match=r"waited for others and was stopped after 0\.05 s"):
        queries.ask("RETURN 1", None, 0.05, work)
    assert queries.ask("RETURN 1", None, LONG_S, work) is ANSWER


def test_all_of_them_are_cancelled(queries: RunningQueries) -> None:
    asking, other = Asking(queries, Engine()), Asking(queries, Engine())
    queries.cancel_all()
    for one in (asking, other):
        one.join(LONG_S)
        assert isinstance(one.found, QueryCancelledError)
