"""The databases that a store has open, by key: each is made once, by the first query that wants it, and kept.

Only queries of the very graph that is being made wait for it. A database that has to go, because it
is out of date or others were asked later, is closed when the last query that uses it has ended.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator

from kernbench_graph import running
from kernbench_graph.stores.embedded.cache import Database


class OpenGraphs:
    """Keeps up to ``most`` databases open. Safe to use from several threads."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._open: OrderedDict[str, Database] = OrderedDict()
        self._makers: dict[str, _Maker] = {}
        self._closed = False
        self._users: dict[int, int] = {}
        """Queries that use a database, by its identity."""
        self._leaving: dict[int, Database] = {}
        """Databases that are closed with their last user."""

    def __iter__(self) -> Iterator[str]:
        with self._lock:
            return iter(list(self._open))

    def __len__(self) -> int:
        return len(self._open)

    def find(self, key: str) -> Database | None:
        """The database of that key, if it is open."""
        with self._lock:
            return self._open.get(key)

    def get(self, key: str, make: Callable[[], Database]) -> Database:
        """The database of that key, made where it is not open. It stays open until this query has ended."""
        while True:
            with self._lock:
                found = self._used(key)
                if found is not None:
                    return found
                maker = self._makers.setdefault(key, _Maker())
                maker.wanted_by += 1
            try:
                with running.building(), running.held(maker.lock, running.BUILDING):
                    with self._lock:
                        found = self._used(key)
                    return found if found is not None else self._made(key, make())
            finally:
                with self._lock:
                    maker.wanted_by -= 1
                    if not maker.wanted_by:
                        self._makers.pop(key, None)

    def forget(self, prefix: str) -> None:
        """Close the databases whose keys begin with ``prefix``; those in use with the last query of them."""
        with self._lock:
            doomed = [self._open.pop(key) for key in list(self._open) if key.startswith(prefix)]
            idle = [database for database in doomed if not self._leaves_later(database)]
        for database in idle:
            database.close()

    def close(self) -> None:
        """As :meth:`forget`, all of them, those that are being made as well."""
        with self._lock:
            self._closed = True
        self.forget("")

    def _made(self, key: str, database: Database) -> Database:
        idle = []
        with self._lock:
            self._open[key] = database
            self._use(database)
            while len(self._open) > (0 if self._closed else self._most):
                _, oldest = self._open.popitem(last=False)
                if not self._leaves_later(oldest):
                    idle.append(oldest)
        for oldest in idle:
            oldest.close()
        return database

    def _used(self, key: str) -> Database | None:
        """The open database of that key, from now on in use."""
        found = self._open.get(key)
        if found is None or found.is_closed:
            return None
        self._open.move_to_end(key)
        self._use(found)
        return found

    def _use(self, database: Database) -> None:
        if running.is_query():
            self._users[id(database)] = self._users.get(id(database), 0) + 1
            running.at_end(lambda: self._release(database))

    def _release(self, database: Database) -> None:
        with self._lock:
            self._users[id(database)] -= 1
            if self._users[id(database)]:
                return
            del self._users[id(database)]
            last = self._leaving.pop(id(database), None)
        if last is not None:
            last.close()

    def _leaves_later(self, database: Database) -> bool:
        if id(database) not in self._users:
            return False
        self._leaving[id(database)] = database
        return True


class _Maker:
    """Who makes a database, and how many want it."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.wanted_by = 0
