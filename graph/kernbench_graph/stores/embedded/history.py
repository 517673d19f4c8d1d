"""The graph over all runs of an embedded store, made from the one that is cached where runs were only added.

An entry of the cache says which runs it holds, and with which tags. One all of whose runs are still there as
they were becomes the new one when the runs that it lacks are added to a copy of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from kernbench_graph.archive import record as archive
from kernbench_graph.errors import StoreError
from kernbench_graph.projection import HISTORY, GraphPart, graph_parts
from kernbench_graph.records import RunRecord, TopologyRecord
from kernbench_graph.stores.embedded.cache import About, Base, Progress, ProjectionCache
from kernbench_graph.stores.embedded.engine import LadybugDatabase
from kernbench_graph.stores.embedded.loading import (
    HISTORY_TABLES,
    extend_history,
    project,
)

if TYPE_CHECKING:
    from kernbench_graph.stores.arcade.database import ArcadeDatabase

_BYTES_PER_RUN = 1 << 20
"""Room for what a run used, where the graph cannot be cached as a file."""


class Kept(NamedTuple):
    """A run as its manifest describes it."""

    info: dict[str, Any]
    content: str
    """Hash of the whole record, except the tags."""


class History:
    """All readable ``runs`` of a store, oldest first, whose archives lie in ``folder``."""

    def __init__(
        self,
        runs: Mapping[str, Kept],
        folder: Path,
        load_topology: Callable[[str], TopologyRecord],
        note: Callable[[str], None],
    ) -> None:
        self._runs, self._folder, self._load, self._note = runs, folder, load_topology, note
        self.content = " ".join(f"{kept.content} {kept.info['tags']}" for kept in runs.values())
        """Identifies the records of all runs, and their tags."""

    def small(self, names: tuple[str, ...]) -> LadybugDatabase:
        """What needs no table of a run, in memory: quicker made than opened."""
        database = LadybugDatabase()
        project(database, self._parts(names), names, by_id=True)
        return database

    def _parts(self, names: tuple[str, ...]) -> list[GraphPart]:
        infos = [kept.info for kept in self._runs.values()]
        records = self._records(infos) if names == HISTORY else [RunRecord(info, {}) for info in infos]
        return graph_parts(records, self._topologies(infos), names, by_id=True)

    def free(
        self, cache: ProjectionCache[ArcadeDatabase], names: tuple[str, ...], progress: Progress | None
    ) -> ArcadeDatabase:
        """For free Cypher, from ``cache``, with the labels and types ``names``."""
        from kernbench_graph.stores.arcade import loading

        def fill(database: ArcadeDatabase) -> None:
            loading.project(database, self._parts(names), names, progress, by_id=True)

        prefix = f"free-history-{len(names)}"
        name = cache.name(prefix, self.content)
        database = cache.open(name, fill, len(self._runs), lambda: 0)
        cache.prune(f"{prefix}~", keep={name})
        return database

    def cached(self, cache: ProjectionCache[LadybugDatabase]) -> LadybugDatabase:
        """With what runs used, and where: from ``cache``, brought up to date there when needed."""
        infos = [kept.info for kept in self._runs.values()]
        about: About = {
            "runs": {run_id: [kept.content, kept.info["tags"]] for run_id, kept in self._runs.items()},
            "topologies": sorted({info["topology"] for info in infos}),
        }

        def fill(database: LadybugDatabase) -> None:
            topologies, records = self._topologies(infos), self._records(infos)
            if len(topologies) < len(about["topologies"]) or not all(run.tables for run in records):
                about["runs"] = None  # not all of it could be read: nothing must be built on this
            parts = graph_parts(records, topologies, HISTORY, by_id=True)
            project(database, parts, HISTORY, by_id=True)

        name = cache.name("history", self.content)
        base = self._base(cache, about)
        room = _BYTES_PER_RUN * (len(infos) + 32)
        database = cache.open(name, fill, len(infos), lambda: room, about, base)
        cache.prune("history~", keep={name})
        return database

    def _base(self, cache: ProjectionCache[LadybugDatabase], about: About) -> Base[LadybugDatabase] | None:
        """The entry with most of these runs and no others."""
        runs = about["runs"]
        found: list[tuple[int, str, About]] = []
        for name, other in cache.entries("history~"):
            held, machines = other.get("runs"), other.get("topologies")
            if held and machines and set(machines) <= set(about["topologies"]) and all(
                runs.get(run_id) == as_held for run_id, as_held in held.items()
            ):  # fmt: skip
                found.append((len(held), name, other))
        if not found:
            return None
        _, name, other = max(found, key=lambda entry: entry[:2])
        return Base(name, lambda database: self._add(database, other))

    def _add(self, database: LadybugDatabase, other: About) -> None:
        """Add what the entry ``other`` lacks; ``StoreError`` when not all of it can be read."""
        held, machines = other["runs"], set(other["topologies"])
        fresh = [kept.info for run_id, kept in self._runs.items() if run_id not in held]
        topologies = [self._load(id_) for id_ in sorted({info["topology"] for info in fresh} - machines)]
        there = [self._load(id_) for id_ in sorted({info["topology"] for info in fresh} & machines)]
        extend_history(database, topologies, [self._read(info) for info in fresh], there)

    def _topologies(self, infos: Iterable[Mapping[str, Any]]) -> list[TopologyRecord]:
        found = []
        for id_ in dict.fromkeys(info["topology"] for info in infos):
            try:
                found.append(self._load(id_))
            except StoreError as error:
                if any(self._is_there(info) for info in infos if info["topology"] == id_):
                    self._note(f"the history lacks topology '{id_}': {error}")
        return found

    def _records(self, infos: Iterable[Mapping[str, Any]]) -> list[RunRecord]:
        found = []
        for info in infos:
            try:
                found.append(self._read(info))
            except StoreError as error:
                if self._is_there(info):
                    self._note(f"the history lacks the use of resources of run '{info['id']}': {error}")
                    found.append(RunRecord(info, {}))
        return found

    def _read(self, info: Mapping[str, Any]) -> RunRecord:
        tables = archive.read_run(self._folder / info["id"], self._load).tables
        return RunRecord(info, {name: tables[name] for name in HISTORY_TABLES})

    def _is_there(self, info: Mapping[str, Any]) -> bool:
        """Whether the run was not removed meanwhile."""
        return (self._folder / str(info["id"])).is_dir()
