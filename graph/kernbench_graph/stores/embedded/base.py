"""The common base of the stores in a folder and in memory: references, and which graph a query is asked of.

Two engines answer. ArcadeDB answers all but a few texts; the shapes that it is known to get wrong are written
otherwise or refused (:mod:`kernbench_graph.stores.arcade.dialect`). LadybugDB, which is faster and answers
many shapes wrongly, answers the shipped texts that are proved on it, and others that pass a check: where that
is asked for, and where the graph is large.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from kernbench_graph import running
from kernbench_graph.errors import (
    QueryCancelledError,
    QueryError,
    QueryTimeoutError,
    StoreError,
    UnknownNameError,
)
from kernbench_graph.projection import history_for
from kernbench_graph.query.guard import check_read_only, words
from kernbench_graph.query.looked_at import ADDED, looked_at
from kernbench_graph.query.plans import asked_for_plan
from kernbench_graph.query.windows import anchored, joined
from kernbench_graph.records import resolve_ref
from kernbench_graph.result import Result
from kernbench_graph.store import GraphQuery
from kernbench_graph.stores.arcade.messages import refuse_profile
from kernbench_graph.stores.arcade.process import ArcadeEndedError
from kernbench_graph.stores.embedded.cache import Database
from kernbench_graph.stores.embedded.dialect import answered_alike, dialect
from kernbench_graph.stores.embedded.engines import ARCADE, LADYBUG, engines
from kernbench_graph.stores.embedded.run_graphs import RunGraphs
from kernbench_graph.stores.view import HISTORY_HAS, check_computed, check_history, named_runs

_LARGE = 50_000
"""Nodes and relationships of a graph that ArcadeDB takes about 2 s to build, and LadybugDB a seventh of that.

From there on LadybugDB is asked first what both answer alike.
"""


class LocalStore(RunGraphs):
    """Base of the stores that need no server. See :class:`kernbench_graph.store.GraphStore`."""

    @property
    def engines(self) -> tuple[str, ...]:
        """The engines that answer Cypher, the one that is asked by default first."""
        return engines()

    @abstractmethod
    def _is_kept(self, run_id: str) -> bool:
        """Whether there is a run of that id."""

    @abstractmethod
    def _history_database(self, names: tuple[str, ...], engine: str) -> Database:
        """The graph over all runs with the labels and types ``names``, ready to be read."""

    def resolve(self, ref: str) -> str:
        """The id meant by ``last``, ``last~N``, an id or a unique prefix of one."""
        return resolve_ref(ref, [info["id"] for info in self.runs()])

    def expect(self, run: str, asked: Sequence[tuple[str, Mapping[str, Any]]], engine: str) -> None:
        """Make the graph that all of the texts look at, rather than a larger one for each of them.

        Those that look at what was added to the run have one of their own, which goes with the next addition.
        """
        found = [anchored(text, looked_at(text), params) for text, params in asked]
        for some in ([one for one in found if one & ADDED], [one for one in found if not one & ADDED]):
            if some:
                self._database(joined(*some), (self.resolve(run),), engine)

    def _answer(self, asked: GraphQuery) -> Result:
        """Ask Cypher of one run's graph, or of the history when ``run`` is None.

        ``EXPLAIN`` before the query gives its plan as rows; so does ``PROFILE``, with what was counted, where
        the engine can.
        """
        word, cypher = asked_for_plan(asked.cypher)
        check_read_only(cypher)
        values, run = dict(asked.params), asked.run
        chosen = self._chosen(asked.engine)
        if chosen == ARCADE:
            refuse_profile(word)  # before a graph is built
        runs: tuple[str, ...] = ()
        if run is None:
            check_history(cypher)
        else:
            run = self.resolve(run)
            values.setdefault("run", run)
            if self.computed is None:
                check_computed(words(cypher))
            runs = tuple(dict.fromkeys(named_runs(cypher, run, values, self._is_kept).values()))
        try:
            if asked.engine is None and chosen == ARCADE and runs and self._is_large(cypher, runs, values):
                try:
                    return self._asked(LADYBUG, word, answered_alike(cypher, values), values, runs, asked)
                except (QueryTimeoutError, QueryCancelledError):
                    raise
                except StoreError:
                    running.check()  # else it is a text, or a value in it, for the other engine
            text = dialect(cypher, values) if chosen == LADYBUG and not asked.proved else cypher
            return self._asked(chosen, word, text, values, runs, asked)
        except UnknownNameError as error:
            if run is None:
                raise UnknownNameError(f"{error}; {HISTORY_HAS}") from error
            raise

    def _is_large(self, cypher: str, ids: Sequence[str], params: Mapping[str, Any]) -> bool:
        """Whether ArcadeDB would take long to build the graph for a text."""
        runs = [self.load(run_id) for run_id in ids]
        return self._rows(runs, anchored(cypher, looked_at(cypher), params)) >= _LARGE

    def _asked(
        self,
        engine: str,
        word: str,
        text: str,
        values: Mapping[str, Any],
        runs: tuple[str, ...],
        asked: GraphQuery,
    ) -> Result:
        """The answer of an engine to ``text``, which it is asked again where its database has gone."""
        names = looked_at(text)
        names = anchored(text, names, values) if runs else names
        crashes = 0
        while True:
            running.check()
            database = None
            try:
                database = self._database(names, runs, engine)
                result = database.query(f"{word} {text}" if word else text, values, asked.timeout_s)
            except ArcadeEndedError:
                crashes += 1
                if crashes > 1:  # once is an accident of a pre-release, twice is this query
                    raise
            except StoreError:
                if database is None or not database.is_closed:  # else it has gone meanwhile: ask again
                    raise
            else:
                for note in result.notes:
                    self._note(note)
                return replace(result, engine=engine)

    def _chosen(self, engine: str | None) -> str:
        if engine is None:
            return self.engines[0]
        if engine not in self.engines:
            raise QueryError(
                f"store '{self.url}' has no engine '{engine}'; it has {' and '.join(self.engines)}"
            )
        return engine

    def _database(self, names: frozenset[str], runs: tuple[str, ...], engine: str) -> Database:
        """The graph to ask: of these runs, or that over all where there are none, with ``names`` at least."""
        self._check_open()
        if not runs:
            return self._history_database(history_for(names), engine)
        return self._runs_database(runs, engine, names)
