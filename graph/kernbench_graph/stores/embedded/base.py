"""The common base of the stores in a folder and in memory: references, and which graph a query is asked of.

Two engines answer. ArcadeDB answers every text, and none of them wrongly. LadybugDB, which is faster and
answers many shapes wrongly, answers the shipped texts that are proved on it, and others that pass a check.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from kernbench_graph import running
from kernbench_graph.errors import QueryError, StoreError, UnknownNameError
from kernbench_graph.projection import HISTORY, SMALL_HISTORY
from kernbench_graph.query.guard import check_read_only, words
from kernbench_graph.query.looked_at import looked_at
from kernbench_graph.query.names import used_names
from kernbench_graph.query.plans import asked_for_plan
from kernbench_graph.schema import SCHEMA
from kernbench_graph.store import Result, resolve_ref
from kernbench_graph.stores.arcade.plan import refuse_profile
from kernbench_graph.stores.embedded.cache import Database
from kernbench_graph.stores.embedded.dialect import dialect
from kernbench_graph.stores.embedded.engines import ARCADE, LADYBUG, engines
from kernbench_graph.stores.embedded.run_graphs import RunGraphs

_WORKED_OUT = SCHEMA.computed_names() | SCHEMA.fact_names()
_MORE_HISTORY = frozenset(HISTORY) - frozenset(SMALL_HISTORY)
_HISTORY = f"the graph over all runs has {', '.join(HISTORY)}: name a run for the rest"


class LocalStore(RunGraphs, ABC):
    """Base of the stores that need no server. See :class:`kernbench_graph.store.GraphStore`."""

    @property
    def engines(self) -> tuple[str, ...]:
        """The engines that answer Cypher, the one that is asked by default first."""
        return engines()

    @abstractmethod
    def runs(self) -> list[dict[str, Any]]:
        """Properties of every run, in the order in which they were kept."""

    @abstractmethod
    def _history_database(self, with_use: bool, engine: str) -> Database:
        """The graph over all runs, ready to be read; launches and use of resources only when asked for."""

    def resolve(self, ref: str) -> str:
        """The id meant by ``last``, ``last~N``, an id or a unique prefix of one."""
        return resolve_ref(ref, [info["id"] for info in self.runs()])

    def _answer(
        self,
        cypher: str,
        params: Mapping[str, Any] | None,
        run: str | None,
        timeout_s: float,
        engine: str | None,
        *,
        proved: bool,
    ) -> Result:
        """Ask Cypher of one run's graph, or of the history when ``run`` is None.

        ``EXPLAIN`` before the query gives its plan as rows; so does ``PROFILE``, with what was counted, where
        the engine can.
        """
        word, cypher = asked_for_plan(cypher)
        check_read_only(cypher)
        values = dict(params or {})
        chosen = self._chosen(engine)
        if chosen == ARCADE:
            refuse_profile(word)  # before a graph is built
        asked = dialect(cypher, values) if chosen == LADYBUG and not proved else cypher
        if run is None:
            _check_history(cypher)
        else:
            run = self.resolve(run)
            values.setdefault("run", run)
            self._check_computed(cypher)
        names = looked_at(asked)
        try:
            while True:
                running.check()
                database = self._database(names, run, chosen)
                try:
                    result = database.query(f"{word} {asked}" if word else asked, values, timeout_s)
                except StoreError:
                    if not database.is_closed:  # else it has gone meanwhile: ask again
                        raise
                else:
                    for note in result.notes:
                        self._note(note)
                    return replace(result, engine=chosen)
        except UnknownNameError as error:
            if run is None:
                raise UnknownNameError(f"{error}; {_HISTORY}") from error
            raise

    def _chosen(self, engine: str | None) -> str:
        if engine is None:
            return self.engines[0]
        if engine not in self.engines:
            raise QueryError(
                f"store '{self.url}' has no engine '{engine}'; it has {' and '.join(self.engines)}"
            )
        return engine

    def _database(self, names: frozenset[str], run: str | None, engine: str) -> Database:
        """The graph to ask: of one run, or that over all runs, with the labels and types that it needs."""
        self._check_open()
        if run is None:
            return self._history_database(not _MORE_HISTORY.isdisjoint(names), engine)
        return self._runs_database((run,), engine, names)

    def _check_computed(self, cypher: str) -> None:
        """``QueryError`` where a text names what is worked out, and nothing here works it out."""
        if self.computed is None and (lacking := sorted(_WORKED_OUT & set(words(cypher)))):
            what = ", ".join(lacking)
            raise QueryError(f"{what}: KernBench works that out; open the store with kernbench.open_store")


def _check_history(cypher: str) -> None:
    """``UnknownNameError`` where the query names what only the graph of one run has."""
    used = used_names(cypher)
    known = {label.name for label in SCHEMA.labels} | {rel.type for rel in SCHEMA.relationships}
    for name in (*used.labels, *used.types, *used.either):
        if name in known and name not in HISTORY:
            raise UnknownNameError(f"the query asks for {name}, but {_HISTORY}")
