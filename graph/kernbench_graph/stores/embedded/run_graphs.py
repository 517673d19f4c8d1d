"""The graphs of the runs of a store that needs no server: made when they are asked for, and kept open.

A question of the library is asked of the smallest graph that has all that it looks at. Of larger runs, and
for free Cypher, the whole graph is made, and kept in the cache for other processes.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from kernbench_graph import running
from kernbench_graph.errors import StoreError
from kernbench_graph.store import RunRecord, TopologyRecord
from kernbench_graph.stores.common import OpenedStore
from kernbench_graph.stores.embedded import part
from kernbench_graph.stores.embedded.cache import Base, D, Database, Engine, ProjectionCache
from kernbench_graph.stores.embedded.engine import EngineError
from kernbench_graph.stores.embedded.engines import ARCADE, LADYBUG, arcade_files, ladybug_files
from kernbench_graph.stores.embedded.extent import MOST_TOPOLOGY_ROWS, extent
from kernbench_graph.stores.embedded.loading import (
    data_bytes,
    project_computed,
    project_run,
    project_some,
    project_topology,
)
from kernbench_graph.stores.embedded.needs import Needs, needs
from kernbench_graph.stores.embedded.open_graphs import OpenGraphs

if TYPE_CHECKING:
    from kernbench_graph.stores.embedded.engine import LadybugDatabase

_OPEN_DATABASES = 4
FIRST_TEXTS = 2
"""Texts about a run that each get a graph of their own: a question may derive a value by asking another."""


class RunGraphs(OpenedStore, ABC):
    """The databases of a store's runs. :class:`kernbench_graph.stores.embedded.base.LocalStore` asks them."""

    def __init__(self, url: str) -> None:
        super().__init__(url)
        self._open = OpenGraphs(_OPEN_DATABASES)
        self._shared_alone: set[str] = set()
        """Texts that had an error from a graph of their own."""

    @abstractmethod
    def load(self, run_id: str) -> RunRecord:
        """The record of a run."""

    @abstractmethod
    def load_topology(self, topology_id: str) -> TopologyRecord:
        """The record of a topology."""

    @abstractmethod
    def _content(self, run_id: str) -> str:
        """Identifies the record of a run but for its tags."""

    @abstractmethod
    def _cache(self, engine: Engine[D]) -> ProjectionCache[D]:
        """Where the databases of an engine are cached."""

    def close(self) -> None:
        """Let go of all databases."""
        super().close()
        self._open.close()

    def _partial_graph(self, run_id: str, cypher: str, params: Mapping[str, Any]) -> Database | None:
        """The graph of a run that is in no cache, as far as it is asked for; None where that is too much."""
        wanted = needs(cypher, params)
        run = self.load(run_id)
        topology = self.load_topology(run.info["topology"])
        cache = self._cache(ladybug_files())
        name = cache.name(f"run-{run_id}", self._content(run_id), run.info["tags"], topology.id)
        key = f"run {run_id} part {LADYBUG} "
        there = self._open.find(key + name)
        if isinstance(there, part.PartialGraph):
            if there.lacking_rows(wanted) <= part.MOST_ROWS:
                return self._cached(key + name, lambda: there)
            self._forget(key)
        if f"run {run_id} {LADYBUG} {name}" in self._open or cache.is_there(name):
            return None
        if wanted.rows(run.tables) > part.MOST_ROWS:
            return None
        first = self._first_graph(f"run {run_id} first {LADYBUG} ", name, run, topology, cypher, wanted)
        if first is not None:
            return first
        file = cache.made(
            cache.name("topology", topology.id),
            lambda database: project_topology(database, topology),
            lambda: data_bytes(topology),
        )
        if file is None:
            return None
        self._forget(key)
        try:
            return self._cached(key + name, lambda: part.PartialGraph(file, run, topology))
        except (OSError, StoreError):  # no room, or the file has gone meanwhile or cannot be read
            running.check()
            return None

    def _first_graph(
        self, key: str, name: str, run: RunRecord, topology: TopologyRecord, cypher: str, wanted: Needs
    ) -> Database | None:
        """The graph that one of the first texts looks at, and nothing else; None for further ones."""
        looked_at = None if cypher in self._shared_alone else extent(cypher)
        if looked_at is None or looked_at.topology_rows(topology.tables) > MOST_TOPOLOGY_ROWS:
            return None
        asked = f"{key}{name} {cypher} {wanted.enough}"
        others = [there for there in self._open if there.startswith(key)]
        if asked not in others and len(others) >= FIRST_TEXTS:
            self._forget(key)
            return None
        try:
            return self._cached(
                asked,
                lambda: ladybug_files().in_memory(
                    lambda database: project_some(database, run, topology, looked_at, wanted.enough),
                    looked_at.data_bytes(run.tables, topology.tables),
                ),
            )
        except EngineError:  # no room in memory
            running.check()
            return None

    def _ask_shared(self, database: Database, cypher: str) -> bool:
        """Whether ``cypher`` is to be asked again, because ``database`` was a graph for it alone."""
        own = [key for key in self._open if f" first {LADYBUG} " in key and self._open.find(key) is database]
        for key in own:
            self._shared_alone.add(cypher)
            self._open.forget(key)
        return bool(own)

    def _computed_database(self, run_id: str, engine: str) -> Database:
        """The graph of one run with what is worked out from it."""
        run = self.load(run_id)
        topology = self.load_topology(run.info["topology"])
        if engine == ARCADE:
            return self._free_database(run_id, run, topology, computed=True)
        self._run_database(run_id, engine)  # from a copy of which it is made
        cache = self._cache(ladybug_files())
        contents = self._content(run_id), run.info["tags"], topology.id
        name = cache.name(f"steps-{run_id}", *contents)
        whole: list[RunRecord] = []

        def more(database: LadybugDatabase) -> None:
            whole[:] = whole or [self._with_computed(run)]
            project_computed(database, whole[0], topology)

        def fill(database: LadybugDatabase) -> None:
            project_topology(database, topology)
            project_run(database, run, topology)
            more(database)

        def build() -> Database:
            self._forget(f"run {run_id} steps {LADYBUG} ")
            cache.prune(f"steps-{run_id}~", keep=name)
            base: Base[LadybugDatabase] = Base(cache.name(f"run-{run_id}", *contents), add=more)
            return cache.open(name, fill, runs=1, size=lambda: data_bytes(run, topology), base=base)

        return self._cached(f"run {run_id} steps {LADYBUG} {name}", build)

    def _run_database(self, run_id: str, engine: str) -> Database:
        """The graph of one run, ready to be read."""
        run = self.load(run_id)
        topology = self.load_topology(run.info["topology"])
        if engine == ARCADE:
            return self._free_database(run_id, run, topology)
        cache = self._cache(ladybug_files())
        name = cache.name(f"run-{run_id}", self._content(run_id), run.info["tags"], topology.id)
        base: Base[LadybugDatabase] = Base(
            cache.name("topology", topology.id),
            add=lambda database: project_run(database, run, topology),
            fill=lambda database: project_topology(database, topology),
        )

        def fill(database: LadybugDatabase) -> None:
            project_topology(database, topology)
            project_run(database, run, topology)

        def build() -> Database:
            self._forget(f"run {run_id} {LADYBUG} ")
            cache.prune(f"run-{run_id}~", keep=name)
            return cache.open(name, fill, runs=1, size=lambda: data_bytes(run, topology), base=base)

        return self._cached(f"run {run_id} {LADYBUG} {name}", build)

    def _free_database(
        self, run_id: str, run: RunRecord, topology: TopologyRecord, *, computed: bool = False
    ) -> Database:
        """The graph of one run in ArcadeDB, with what is worked out from it only when it is asked for."""
        from kernbench_graph.stores.arcade.loading import project_run

        cache = self._cache(arcade_files())
        prefix = f"free-steps-{run_id}" if computed else f"free-{run_id}"
        name = cache.name(prefix, self._content(run_id), run.info["tags"], topology.id)
        key = f"run {run_id} {'steps ' if computed else ''}{ARCADE} "

        def build() -> Database:
            self._forget(key)
            cache.prune(f"{prefix}~", keep=name)
            whole = self._with_computed(run) if computed else run
            return cache.open(
                name,
                lambda database: project_run(database, whole, topology, self.progress),
                runs=1,
                size=lambda: data_bytes(run, topology),
            )

        return self._cached(key + name, build)

    def _prune(self, run_id: str) -> None:
        """Remove the caches of a run's graph."""
        cache = self._cache(ladybug_files())
        for prefix in ("run", "steps", "free", "free-steps"):
            cache.prune(f"{prefix}-{run_id}~")

    def _cached(self, key: str, make: Callable[[], Database]) -> Database:
        """The open database of that key, made where there is none."""
        return self._open.get(key, make)

    def _forget(self, prefix: str) -> None:
        """Close the open databases whose key starts with ``prefix``."""
        self._open.forget(prefix)
