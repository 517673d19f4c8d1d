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
from kernbench_graph.errors import QueryError, QueryTimeoutError, UnknownNameError
from kernbench_graph.projection import HISTORY, SMALL_HISTORY
from kernbench_graph.query.guard import check_read_only, words
from kernbench_graph.query.names import used_names
from kernbench_graph.query.plans import asked_for_plan
from kernbench_graph.schema import SCHEMA
from kernbench_graph.store import Result, resolve_ref
from kernbench_graph.stores.arcade.plan import refuse_profile
from kernbench_graph.stores.embedded.by_name import by_name
from kernbench_graph.stores.embedded.cache import Database
from kernbench_graph.stores.embedded.dialect import dialect
from kernbench_graph.stores.embedded.engines import ARCADE, LADYBUG, engines
from kernbench_graph.stores.embedded.run_graphs import RunGraphs

_COMPUTED, _FACTS = SCHEMA.computed_names(), SCHEMA.fact_names()
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
        proved = proved and chosen == LADYBUG
        asked = dialect(cypher, values) if chosen == LADYBUG and not proved else cypher
        if run is None:
            _check_history(cypher)
        else:
            run = self.resolve(run)
            values.setdefault("run", run)
            asked = by_name(asked) if proved else asked
        try:
            while True:
                running.check()
                database = self._database(asked, run, chosen, values if proved else None)
                try:
                    result = database.query(f"{word} {asked}" if word else asked, values, timeout_s)
                except QueryError as error:
                    if isinstance(error, QueryTimeoutError) or not self._ask_shared(database, asked):
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

    def _database(
        self, cypher: str, run: str | None, engine: str, library: Mapping[str, Any] | None = None
    ) -> Database:
        """The graph to ask; ``library`` are the parameters of a text of the library."""
        self._check_open()
        if run is None:
            return self._history_database(bool(_MORE_HISTORY & set(words(cypher))), engine)
        used = frozenset(words(cypher))
        lacking = sorted((_COMPUTED | _FACTS) & used)
        if lacking and self.computed is None:
            what = ", ".join(lacking)
            raise QueryError(f"{what}: KernBench works that out; open the store with kernbench.open_store")
        if _COMPUTED.isdisjoint(used):
            partial = None if library is None else self._partial_graph(run, cypher, library)
            if partial is not None:
                return partial
            return self._run_database(run, engine)
        return self._computed_database(run, engine)


def _check_history(cypher: str) -> None:
    """``UnknownNameError`` where the query names what only the graph of one run has."""
    used = used_names(cypher)
    known = {label.name for label in SCHEMA.labels} | {rel.type for rel in SCHEMA.relationships}
    for name in (*used.labels, *used.types, *used.either):
        if name in known and name not in HISTORY:
            raise UnknownNameError(f"the query asks for {name}, but {_HISTORY}")
