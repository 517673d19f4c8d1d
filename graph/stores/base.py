"""What the stores on LadybugDB have in common: references, queries, and the databases they keep open."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Any

from graph.cypher_guard import check_read_only, words
from graph.store import QUERY_TIMEOUT_S, QueryError, Result, resolve_ref
from graph.stores.common import OpenedStore
from graph.stores.ladybug_engine import ENGINE, EngineError, LadybugDatabase
from graph.stores.run_parts import HISTORY_LABELS, HISTORY_TYPES

_OPEN_DATABASES = 4


class LadybugStore(OpenedStore, ABC):
    """Base of the stores whose queries LadybugDB answers. See :class:`graph.store.GraphStore`."""

    engine = ENGINE

    def __init__(self, url: str) -> None:
        super().__init__(url)
        self._open: OrderedDict[str, LadybugDatabase] = OrderedDict()

    @abstractmethod
    def runs(self) -> list[dict[str, Any]]:
        """Properties of every run, in the order in which they were kept."""

    @abstractmethod
    def _run_database(self, run_id: str) -> LadybugDatabase:
        """The graph of one run, ready to be read."""

    @abstractmethod
    def _history_database(self, with_use: bool) -> LadybugDatabase:
        """The graph over all runs, ready to be read; USED and what it leads to only when asked for."""

    def resolve(self, ref: str) -> str:
        """The id meant by ``last``, ``last~N``, an id or a unique prefix of one."""
        return resolve_ref(ref, [info["id"] for info in self.runs()])

    def query(
        self,
        cypher: str,
        params: Mapping[str, Any] | None = None,
        run: str | None = None,
        timeout_s: float = QUERY_TIMEOUT_S,
    ) -> Result:
        """Ask Cypher of one run's graph, or of the history when ``run`` is None."""
        check_read_only(cypher)
        try:
            while True:
                database = self._database(cypher, run)
                try:
                    return database.query(cypher, params or {}, timeout_s)
                except EngineError:
                    if not database.is_closed:  # else another thread needed its place: open it again
                        raise
        except QueryError as error:
            if run is None and "does not exist" in str(error):
                known = ", ".join((*HISTORY_LABELS, *HISTORY_TYPES))
                raise QueryError(
                    f"{error} The graph over all runs has {known}; name a run for the rest"
                ) from error
            raise

    def close(self) -> None:
        """Let go of all databases."""
        with self._lock:
            super().close()
            while self._open:
                self._open.popitem()[1].close()

    def _database(self, cypher: str, run: str | None) -> LadybugDatabase:
        with self._lock:
            self._check_open()
            if run is None:
                return self._history_database("USED" in words(cypher))
            return self._run_database(self.resolve(run))

    def _cached(self, key: str, make: Callable[[], LadybugDatabase]) -> LadybugDatabase:
        """The open database of that key; the least recently used one makes room for a new one."""
        if key not in self._open:
            self._open[key] = make()
            while len(self._open) > _OPEN_DATABASES:
                self._open.popitem(last=False)[1].close()
        self._open.move_to_end(key)
        return self._open[key]

    def _forget(self, prefix: str) -> None:
        """Close the open databases whose key starts with ``prefix``."""
        for key in [key for key in self._open if key.startswith(prefix)]:
            self._open.pop(key).close()
