"""Queries that are running: who asked what and since when, and how each of them is ended.

A query is carried out by a thread of its own, while its asker waits for that thread: until the answer is
there, the time allowed is over, somebody cancels it, the asker is interrupted (Ctrl-C) or has gone away. Then
the engine is stopped, in the way that it registered with :func:`stopped_by` (its process is killed, its
connection interrupted, its transaction terminated), and the asker goes on within a second, whether the engine
obeys or not. The time that a graph takes to build (:func:`building`) does not count, but can be cut short.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar, copy_context
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING, Any

from kernbench_graph.errors import QueryCancelledError, QueryError, QueryTimeoutError, StoreError

if TYPE_CHECKING:
    from kernbench_graph.result import Result

_GRACE_S = 0.5
"""How long an engine may take to obey before its asker goes on without it."""
_STOP_AGAIN_S = 0.05
"""An engine is stopped more than once: it may not have begun the first time."""
_LOOK_S = 0.2
"""How often somebody who may go away is looked for, and whether a lock is still wanted."""
_LONGEST_S = 86_400.0

ASKING, WAITING, BUILDING, STOPPING = "asking", "waiting", "building the graph", "stopping"


@dataclass(frozen=True, slots=True)
class Asker:
    """The asker: shown beside the query. ``gone`` says whether the asker no longer waits for it."""

    name: str = "Python"
    gone: Callable[[], bool] | None = None


_asker: ContextVar[Asker | None] = ContextVar("asker", default=None)


@contextmanager
def asked_by(name: str, gone: Callable[[], bool] | None = None) -> Iterator[None]:
    """Queries that this thread asks within the block are that asker's, and end when it has ``gone``."""
    token = _asker.set(Asker(name, gone))
    try:
        yield
    finally:
        _asker.reset(token)


class RunningQuery:
    """One query from when it is asked until its thread has ended."""

    def __init__(self, number: int, text: str, run: str | None, timeout_s: float) -> None:
        self.number = number
        """Identifies it among the queries of its store."""
        self.text = text
        self.run = run
        """The run that it is asked of, as it was named; None for the graph over all runs."""
        self.asker = _asker.get() or Asker()
        self.started = time.time()
        self._doing = ASKING
        self._timeout_s = timeout_s
        self._end: float | None = time.monotonic() + min(timeout_s, _LONGEST_S)
        self._left = 0.0
        self._changed = threading.Condition()
        self._done = False
        self._result: Any = None
        self._failed: BaseException | None = None
        self._ended: QueryError | None = None
        self._stops: list[Callable[[], None]] = []
        self._releases: list[Callable[[], None]] = []

    @property
    def seconds(self) -> float:
        """For how long it has been running."""
        return time.time() - self.started

    @property
    def doing(self) -> str:
        """Its state: it is asked, waits for its turn, its graph is built, or it is stopped."""
        return self._doing if self._ended is None else STOPPING

    def cancel(self) -> None:
        """End it, for its asker with a ``QueryCancelledError``."""
        self._stop(QueryCancelledError("the query was cancelled"))

    def check(self) -> None:
        """Raise its end where it has been ended."""
        if self._ended is not None:
            raise self._ended

    def carry_out(self, work: Callable[[], Result]) -> None:
        """Do the ``work``, in the thread of the query."""
        token = _query.set(self)
        try:
            self._result = work()
        except BaseException as error:
            self._failed = error
        finally:
            _query.reset(token)
            for release in self._releases:
                release()
            with self._changed:
                self._done = True
                self._changed.notify_all()

    def answer(self, thread: threading.Thread) -> Result:
        """The answer of the ``thread`` that carries it out, or the error; see the module for the others."""
        try:
            thread.start()
            while not self._done and self._ended is None:
                with self._changed:
                    self._changed.wait_for(lambda: self._done or self._ended is not None, self._patience())
                if not self._done:
                    self._look()
        except BaseException:  # Ctrl-C
            self.cancel()
            self._await_end()
            raise
        self._await_end()
        if self._done and self._failed is None:
            return self._result  # type: ignore[no-any-return]
        if self._ended is not None:
            raise self._ended from self._failed
        assert self._failed is not None
        raise self._failed

    @contextmanager
    def stopped_by(self, stop: Callable[[], None]) -> Iterator[None]:
        """Within the block ``stop``, which must return at once, ends what is being done."""
        self.check()
        self._stops.append(stop)
        try:
            yield
        finally:
            self._stops.remove(stop)

    @contextmanager
    def as_(self, doing: str) -> Iterator[None]:
        """Within the block that is done for it; the clock stands still while a graph is built."""
        before, self._doing = self._doing, doing
        pauses = doing == BUILDING and self._end is not None
        if pauses:
            with self._changed:
                assert self._end is not None
                self._left, self._end = self._end - time.monotonic(), None
        try:
            yield
        finally:
            self._doing = before
            if pauses:
                with self._changed:
                    self._end = time.monotonic() + self._left
                    self._changed.notify_all()

    def at_end(self, release: Callable[[], None]) -> None:
        """Call ``release`` when the thread of the query ends."""
        self._releases.append(release)

    def _patience(self) -> float:
        """How long to wait before the next look; a wait without an end cannot be interrupted on Windows."""
        return _LOOK_S if self._end is None else min(_LOOK_S, max(0.0, self._end - time.monotonic()))

    def _look(self) -> None:
        """End it where its time is over or its asker has gone."""
        with self._changed:
            over = self._end is not None and time.monotonic() >= self._end
        if over:
            waited = "waited for others and " if self._doing == WAITING else ""
            self._stop(QueryTimeoutError.after(self._timeout_s, waited))
        elif self.asker.gone is not None and self.asker.gone():
            self._stop(QueryCancelledError("the query was cancelled: whoever asked it has gone"))

    def _stop(self, why: QueryError) -> None:
        with self._changed:
            if self._ended is None and not self._done:
                self._ended = why
                self._changed.notify_all()

    def _await_end(self) -> None:
        """Have the engine stop, where that is wanted; wait a little until it has."""
        end = time.monotonic() + _GRACE_S
        while not self._done and time.monotonic() < end:
            for stop in tuple(self._stops):
                stop()
            with self._changed:
                self._changed.wait_for(lambda: self._done, _STOP_AGAIN_S)


_query: ContextVar[RunningQuery | None] = ContextVar("query", default=None)


class RunningQueries:
    """The running queries of one store. Safe to use from several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._numbers = count(1)
        self._running: dict[int, RunningQuery] = {}

    def ask(self, text: str, run: str | None, timeout_s: float, work: Callable[[], Result]) -> Result:
        """The answer that ``work`` gives, as the answer to a running query.

        Raises:
            QueryTimeoutError: it took longer than ``timeout_s``, without the time that graphs took to build.
            QueryCancelledError: somebody cancelled it, or its asker has gone away.
        """
        if not 0.0 < timeout_s < math.inf:
            raise QueryError(f"a time limit of {timeout_s:g} s; give a finite number above 0")
        query = RunningQuery(next(self._numbers), text, run, timeout_s)

        def carry_out() -> None:
            try:
                query.carry_out(work)
            finally:
                with self._lock:
                    del self._running[query.number]

        with stopped_by(query.cancel):  # a query that is asked for another one ends with it
            with self._lock:
                self._running[query.number] = query
            name = f"query {query.number}"
            thread = threading.Thread(target=copy_context().run, args=(carry_out,), name=name, daemon=True)
            try:
                return query.answer(thread)
            finally:
                if thread.ident is None:  # there is no room for another thread
                    with self._lock:
                        self._running.pop(query.number, None)

    def listed(self) -> list[RunningQuery]:
        """The running queries, oldest first; those that an engine does not let go of as well."""
        with self._lock:
            return list(self._running.values())

    def cancel(self, number: int) -> None:
        """End the query of that number; ``StoreError`` where it is not running."""
        with self._lock:
            found = self._running.get(number)
        if found is None:
            raise StoreError(f"there is no running query {number}; it may have ended")
        found.cancel()

    def cancel_all(self) -> None:
        """End all of them."""
        for query in self.listed():
            query.cancel()


def check() -> None:
    """Raise the end of the query that this thread carries out, where it has been ended."""
    query = _query.get()
    if query is not None:
        query.check()


@contextmanager
def stopped_by(stop: Callable[[], None]) -> Iterator[None]:
    """Within the block ``stop``, which must return at once, ends what this thread does for a query."""
    query = _query.get()
    if query is None:
        yield
    else:
        with query.stopped_by(stop):
            yield


@contextmanager
def building() -> Iterator[None]:
    """Within the block a graph is built for the query of this thread, which takes none of its time."""
    query = _query.get()
    if query is None:
        yield
    else:
        with query.as_(BUILDING):
            yield


def is_query() -> bool:
    """Whether this thread carries out a query."""
    return _query.get() is not None


def at_end(release: Callable[[], None]) -> None:
    """Call ``release`` when the query of this thread has ended; at once where the thread carries out none."""
    query = _query.get()
    if query is None:
        release()
    else:
        query.at_end(release)


@contextmanager
def held(lock: threading.Lock | threading.Semaphore, doing: str = WAITING) -> Iterator[None]:
    """Hold ``lock`` within the block; a query that is ended meanwhile no longer waits for it."""
    query = _query.get()
    if query is None:
        with lock:
            yield
        return
    if not lock.acquire(blocking=False):
        waiting: AbstractContextManager[None] = query.as_(doing)
        with waiting:
            while not lock.acquire(timeout=_LOOK_S / 2):
                query.check()
    try:
        query.check()
        yield
    finally:
        lock.release()
