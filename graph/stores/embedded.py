"""The store behind a path: archives are the record, LadybugDB files beside them a cache.

    <path>/runs/<run id>/            manifest.json and one Parquet file per table
    <path>/topologies/<topology id>/ the same
    <path>/cache/                    projections, named by the content they were made from

Many processes may read while others write: a run is seen when its folder has its name, and not before.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from graph import archive
from graph.atomic import clean_leftovers, is_temporary, remove_folder
from graph.columns import canonical_tables, check_references
from graph.schema import SCHEMA_VERSION
from graph.store import ArchiveError, RunNotFoundError, RunRecord, StoreError, TopologyRecord, check_id
from graph.stores.base import LadybugStore
from graph.stores.ladybug_cache import ProjectionCache
from graph.stores.ladybug_engine import LadybugDatabase
from graph.stores.ladybug_projection import PROJECTION_VERSION, data_bytes, project_history, project_run

_HISTORY_BYTES = 1 << 27
"""Room for the graph over all runs where it cannot be cached as a file."""
_log = logging.getLogger(__name__)


class _Kept(NamedTuple):
    info: dict[str, Any]
    content: str
    """Hash of the whole record of the run."""


class EmbeddedStore(LadybugStore):
    """Keeps runs as archives in a folder, which is made when the first one is kept."""

    def __init__(self, path: Path, url: str) -> None:
        super().__init__(url)
        self._runs = path / "runs"
        self._topologies = path / "topologies"
        self._cache = ProjectionCache(path / "cache", self._note)
        self._seen: dict[str, tuple[int, int, _Kept]] = {}

    def keep(self, run: RunRecord, topology: TopologyRecord) -> str:
        """Keep a run and its topology; return the run id."""
        self._check_open()
        info = archive.complete_info(run.info, topology)
        what = f"run '{info['id']}'"
        tables = canonical_tables("run", run.tables, what)
        for folder in (self._runs, self._topologies):
            clean_leftovers(folder)
        try:
            archive.write_topology(self._topologies / check_id("topology", topology.id), topology)
            check_references({**self.load_topology(topology.id).tables, **tables}, what)
            archive.write_run(self._runs / info["id"], info, tables)
        except FileExistsError as error:
            raise StoreError(
                f"{what} is in the store already; give another id, or remove that run first"
            ) from error
        except OSError as error:
            raise StoreError(f"{what} cannot be written to {self._runs} ({error.strerror or error}); "
                             "free space, or name another store") from error  # fmt: skip
        return str(info["id"])

    def runs(self) -> list[dict[str, Any]]:
        """Properties of every readable run, in the order in which they were kept; notes on the others."""
        return [dict(kept.info) for kept in self._readable().values()]

    def resolve(self, ref: str) -> str:
        """As for every store; an unreadable run is found by its full id, so that loading it says why."""
        return ref if ref in self._ids() else super().resolve(ref)

    def remove(self, run_id: str) -> None:
        """Forget a run, readable or not."""
        with self._lock:
            place = self._place(run_id)
            self._forget("history")
            self._forget(f"run {run_id} ")
            try:
                remove_folder(place)
            except FileNotFoundError as error:
                raise self._unknown(run_id) from error
            except OSError as error:
                raise StoreError(
                    f"{place} cannot be removed ({error.strerror or error}); check who owns it"
                ) from error
            self._cache.prune(f"run-{run_id}~")

    def set_tags(self, run_id: str, tags: Sequence[str]) -> None:
        """Replace a run's tags."""
        with self._lock:
            archive.change_tags(self._place(run_id), tags)

    def load(self, run_id: str) -> RunRecord:
        """The record of a run; ``SchemaVersionError`` or ``ArchiveError`` when it cannot be read."""
        return archive.read_run(self._place(run_id))

    def load_topology(self, topology_id: str) -> TopologyRecord:
        """The record of a topology."""
        self._check_open()
        folder = self._topologies / check_id("topology", topology_id)
        if not folder.is_dir():
            raise StoreError(
                f"no topology '{topology_id}' in store '{self.url}'; restore it from a copy, or run again"
            )
        return archive.read_topology(folder)

    def _ids(self) -> list[str]:
        self._check_open()
        try:
            return sorted(
                path.name for path in self._runs.iterdir() if not is_temporary(path) and path.is_dir()
            )
        except FileNotFoundError:
            return []

    def _place(self, run_id: str) -> Path:
        if run_id not in self._ids():
            raise self._unknown(run_id)
        return self._runs / run_id

    def _unknown(self, run_id: str) -> RunNotFoundError:
        return RunNotFoundError(f"no run '{run_id}' in store '{self.url}'; list the runs to see their ids")

    def _readable(self) -> dict[str, _Kept]:
        """What the manifests say, oldest first. A manifest is read again only when its file has changed."""
        found: list[tuple[int, str, _Kept]] = []
        for run_id in self._ids():
            folder = self._runs / run_id
            try:
                changed = (folder / "manifest.json").stat().st_mtime_ns
                seen = self._seen.get(run_id)
                if seen is None or seen[0] != changed:
                    info, kept_at, content = archive.read_info(folder)
                    seen = self._seen[run_id] = (changed, kept_at, _Kept(info, content))
            except FileNotFoundError:
                if folder.is_dir():
                    self._note(f"run '{run_id}' is left out: {folder / 'manifest.json'} is missing")
                continue
            except ArchiveError as error:
                if folder.is_dir():
                    self._note(f"run '{run_id}' is left out: {error}")
                continue
            found.append((seen[1], run_id, seen[2]))
        return {run_id: kept for _, run_id, kept in sorted(found, key=lambda entry: entry[:2])}

    def _run_database(self, run_id: str) -> LadybugDatabase:
        run = self.load(run_id)
        topology = self.load_topology(run.info["topology"])
        _, _, content = archive.read_info(self._runs / run_id)
        name = f"run-{run_id}~{_key(content, topology.id)}"

        def fill(database: LadybugDatabase) -> None:
            project_run(database, run, topology)

        def build() -> LadybugDatabase:
            self._forget(f"run {run_id} ")
            self._cache.prune(f"run-{run_id}~", keep=name)
            return self._cache.open(name, fill, runs=1, size=lambda: data_bytes(run, topology))

        return self._cached(f"run {run_id} {name}", build)

    def _history_database(self, with_use: bool) -> LadybugDatabase:
        kept = self._readable()
        key = _key(*(entry.content for entry in kept.values()))
        infos = [entry.info for entry in kept.values()]

        def fill(database: LadybugDatabase) -> None:
            topologies, used = [], {}
            for topology_id in dict.fromkeys(info["topology"] for info in infos):
                try:
                    topologies.append(self.load_topology(topology_id))
                except StoreError as error:
                    self._note(f"the history lacks topology '{topology_id}': {error}")
            for info in infos if with_use else []:
                try:
                    used[info["id"]] = archive.read_run(self._runs / info["id"]).tables["Used"]
                except StoreError as error:
                    self._note(f"the history lacks what run '{info['id']}' used: {error}")
            project_history(database, infos, topologies, used)

        def build() -> LadybugDatabase:
            self._forget(f"history {with_use}")
            if not with_use:  # small: quicker made than opened
                database = LadybugDatabase()
                fill(database)
                return database
            self._cache.prune("history~", keep=f"history~{key}")
            return self._cache.open(f"history~{key}", fill, runs=len(infos), size=lambda: _HISTORY_BYTES)

        return self._cached(f"history {with_use} {key}", build)

    def _note(self, text: str) -> None:
        if text not in self.notes:
            self.notes.append(text)
            _log.info("%s", text)


def _key(*contents: str) -> str:
    parts = (str(SCHEMA_VERSION), str(PROJECTION_VERSION), *contents)
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:24]
