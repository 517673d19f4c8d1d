"""The graph over all runs of an embedded store, made from the one that is cached where runs were only added.

An entry of the cache says which runs it holds. A run's record never changes, but for its tags; so an entry
all of whose runs are still there becomes the new one when the runs that it lacks are added to a copy of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from graph import archive
from graph.store import StoreError, TopologyRecord
from graph.stores.ladybug_cache import About, Base, ProjectionCache, entry_name
from graph.stores.ladybug_engine import LadybugDatabase
from graph.stores.ladybug_projection import extend_history, project_history, retag_history

_BYTES_PER_RUN = 1 << 20
"""Room for what a run used, where the graph cannot be cached as a file."""


class Kept(NamedTuple):
    """A run as its manifest describes it."""

    info: dict[str, Any]
    content: str
    """Hash of the whole record, but for the tags."""


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
        self.name = entry_name("history", *(f"{kept.content} {kept.info['tags']}" for kept in runs.values()))
        """Of its entry in the cache."""

    def small(self) -> LadybugDatabase:
        """Runs and topologies only, in memory: quicker made than opened."""
        database = LadybugDatabase()
        infos = [kept.info for kept in self._runs.values()]
        project_history(database, infos, self._topologies(infos), None)
        return database

    def cached(self, cache: ProjectionCache) -> LadybugDatabase:
        """With what runs used, and where: from ``cache``, brought up to date there when needed."""
        infos = [kept.info for kept in self._runs.values()]
        about: About = {
            "runs": {run_id: [kept.content, kept.info["tags"]] for run_id, kept in self._runs.items()},
            "topologies": sorted({info["topology"] for info in infos}),
        }

        def fill(database: LadybugDatabase) -> None:
            topologies, used = self._topologies(infos), self._used(infos)
            if len(topologies) < len(about["topologies"]) or len(used) < len(infos):
                about["runs"] = None  # not all of it could be read: nothing must be built on this
            project_history(database, infos, topologies, used)

        base = self._base(cache, about)
        room = _BYTES_PER_RUN * (len(infos) + 32)
        database = cache.open(self.name, fill, len(infos), lambda: room, about, base)
        cache.prune("history~", keep=self.name)
        return database

    def _base(self, cache: ProjectionCache, about: About) -> Base | None:
        """The entry with most of these runs and no others."""
        runs = about["runs"]
        found: list[tuple[int, str, About]] = []
        for name, other in cache.entries("history~"):
            held, machines = other.get("runs"), other.get("topologies")
            if held and machines and set(machines) <= set(about["topologies"]) and all(
                run_id in runs and runs[run_id][0] == content for run_id, (content, _) in held.items()
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
        used = {info["id"]: self._read(info) for info in fresh}
        extend_history(database, fresh, topologies, used, machines | {record.id for record in topologies})
        retag_history(
            database,
            [kept.info for run_id, kept in self._runs.items()
             if run_id in held and held[run_id][1] != kept.info["tags"]],
        )  # fmt: skip

    def _topologies(self, infos: Iterable[Mapping[str, Any]]) -> list[TopologyRecord]:
        found = []
        for id_ in dict.fromkeys(info["topology"] for info in infos):
            try:
                found.append(self._load(id_))
            except StoreError as error:
                if any(self._is_there(info) for info in infos if info["topology"] == id_):
                    self._note(f"the history lacks topology '{id_}': {error}")
        return found

    def _used(self, infos: Iterable[Mapping[str, Any]]) -> dict[str, pa.Table]:
        found = {}
        for info in infos:
            try:
                found[info["id"]] = self._read(info)
            except StoreError as error:
                if self._is_there(info):
                    self._note(f"the history lacks what run '{info['id']}' used: {error}")
        return found

    def _read(self, info: Mapping[str, Any]) -> pa.Table:
        return archive.read_run(self._folder / info["id"]).tables["Used"]

    def _is_there(self, info: Mapping[str, Any]) -> bool:
        """Whether the run was not removed meanwhile."""
        return (self._folder / str(info["id"])).is_dir()
