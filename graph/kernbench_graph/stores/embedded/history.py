"""The graph over all runs of an embedded store, made from the one that is cached where runs were only added.

An entry of the cache says which runs it holds, and with which tags. One all of whose runs are still there as
they were becomes the new one when the runs that it lacks are added to a copy of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from kernbench_graph.archive import record as archive
from kernbench_graph.errors import StoreError
from kernbench_graph.projection import HISTORY, graph_parts
from kernbench_graph.records import RunRecord, TopologyRecord
from kernbench_graph.stores.embedded.cache import About, Base, D, DatabaseEngine, Progress, ProjectionCache
from kernbench_graph.stores.embedded.loading import HISTORY_TABLES

_BYTES_PER_RUN = 1 << 20
"""Room for what a run used, where the graph cannot be cached as a file."""


class Kept(NamedTuple):
    """A run as its manifest describes it."""

    info: Mapping[str, Any]
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

    def database(
        self,
        files: DatabaseEngine[D],
        cache: ProjectionCache[D] | None,
        names: tuple[str, ...],
        progress: Progress | None,
    ) -> D:
        """With the labels and types ``names``: from ``cache``, brought up to date there, else in memory."""
        infos = [kept.info for kept in self._runs.values()]
        about: About = {
            "runs": {run_id: [kept.content, kept.info["tags"]] for run_id, kept in self._runs.items()},
            "topologies": sorted({info["topology"] for info in infos}),
        }

        def fill(database: D) -> None:
            topologies = self._topologies(infos)
            records = self._records(infos) if names == HISTORY else [RunRecord(info, {}) for info in infos]
            if len(topologies) < len(about["topologies"]) or (
                names == HISTORY and not all(run.tables for run in records)
            ):
                about["runs"] = None  # not all of it could be read: nothing must be built on this
            parts = graph_parts(records, topologies, names, by_id=True)
            files.project(database, parts, names, progress, by_id=True)

        def add(database: D, other: About) -> None:
            """Add what an entry lacks; ``StoreError`` when not all of it can be read."""
            fresh = [kept.info for run_id, kept in self._runs.items() if run_id not in other["runs"]]
            machines, held = {info["topology"] for info in fresh}, set(other["topologies"])
            topologies, there = (
                [self._load(id_) for id_ in sorted(some)] for some in (machines - held, machines & held)
            )
            records = [self._read(info) if names == HISTORY else RunRecord(info, {}) for info in fresh]
            parts = graph_parts(records, topologies, names, by_id=True, others=there)
            files.project(database, parts, names, progress, by_id=True, there=names)

        if cache is None:
            return files.in_memory(fill, 0)
        prefix = f"history-{len(names)}" if files.grows else "history"
        name = cache.name(prefix, self.content)
        room = _BYTES_PER_RUN * (len(infos) + 32)
        base = _base(cache, f"{prefix}~", about, add)
        database = cache.open(name, fill, len(infos), lambda: room, about, base)
        cache.prune(f"{prefix}~", keep={name})
        return database

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


def _base(
    cache: ProjectionCache[D], prefix: str, about: About, add: Callable[[D, About], None]
) -> Base[D] | None:
    """The entry with most of these runs and no others."""
    runs, topologies = about["runs"], set(about["topologies"])
    found = [
        (len(other["runs"]), name, other)
        for name, other in cache.entries(prefix)
        if other.get("runs")
        and topologies.issuperset(other.get("topologies") or ("",))
        and all(runs.get(run_id) == as_held for run_id, as_held in other["runs"].items())
    ]
    if not found:
        return None
    _, name, other = max(found, key=lambda entry: entry[:2])
    return Base(name, lambda database: add(database, other))
