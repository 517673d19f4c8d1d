"""The store behind ``memory:``: runs live as long as this process does."""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

from kernbench_graph.added import InMemory
from kernbench_graph.archive.atomic import ScratchFolder
from kernbench_graph.archive.canonical import canonical_tables, check_references
from kernbench_graph.archive.manifest import json_text
from kernbench_graph.archive.record import canonical_topology, changed_tags, complete_info, tag_list
from kernbench_graph.errors import StoreError, StoreUrlError
from kernbench_graph.projection import HISTORY, graph_parts
from kernbench_graph.records import RunRecord, TopologyRecord, resolve_ref
from kernbench_graph.store import GraphStore, taken
from kernbench_graph.stores.embedded.base import LocalStore
from kernbench_graph.stores.embedded.cache import D, Database, DatabaseEngine, ProjectionCache
from kernbench_graph.stores.embedded.engines import files_of
from kernbench_graph.stores.embedded.loading import HISTORY_TABLES, data_bytes


def open_url(url: str) -> GraphStore:
    """A new, empty store; ``StoreUrlError`` when ``url`` is more than ``memory:``."""
    if url != "memory:":
        raise StoreUrlError(f"store '{url}' is not a store URL; a store in memory has no name, use 'memory:'")
    return MemoryStore()


class MemoryStore(LocalStore):
    """Keeps records as they are and projects them when they are first asked about."""

    def __init__(self) -> None:
        super().__init__("memory:")
        self._runs: dict[str, RunRecord] = {}
        self._topologies: dict[str, TopologyRecord] = {}
        self._kept: dict[str, int] = {}
        self._number = itertools.count()
        self._changes = 0
        """How often runs were kept, removed or tagged: what was projected before is out of date."""
        self._folder: Path | None = None

    def close(self) -> None:
        """Let go of all runs and databases."""
        super().close()
        if self._folder is not None:
            self._remove()

    def keep(self, run: RunRecord, topology: TopologyRecord, detail: str = "full") -> str:
        """Keep a run and its topology; return the run id."""
        self._check_detail(detail)
        info = complete_info(run.info, topology)
        what = f"run '{info['id']}'"
        tables = canonical_tables("run", run.tables, what)
        with self._lock:
            self._check_open()
            kept = self._topologies.get(topology.id) or canonical_topology(topology)
            check_references({**kept.tables, **tables}, what)
            if info["id"] in self._runs:
                raise taken(info["id"])
            json_text(info, what)
            self._topologies[kept.id] = kept
            record = RunRecord(MappingProxyType(info), MappingProxyType(tables))
            self._runs[info["id"]] = self._whole(record, added=InMemory())
            self._kept[info["id"]] = next(self._number)
            self._changes += 1
        self._forget("history")
        return str(info["id"])

    def runs(self) -> list[Mapping[str, Any]]:
        """Properties of every run, in the order in which they were kept."""
        with self._lock:
            self._check_open()
            return [dict(record.info) for record in self._runs.values()]

    def resolve(self, ref: str) -> str:
        """The id meant by ``last``, ``last~N``, an id or a unique prefix of one."""
        with self._lock:
            self._check_open()
            return resolve_ref(ref, list(self._runs))

    def remove(self, run_id: str) -> None:
        """Forget a run, and its topology where it was the last on it."""
        with self._lock:
            topology = self._record(run_id).info["topology"]
            del self._runs[run_id], self._kept[run_id]
            if all(record.info["topology"] != topology for record in self._runs.values()):
                del self._topologies[topology]
            self._changes += 1
        self._forget("history")
        self._forget(f"run {run_id} ")

    def change_tags(self, run_id: str, add: Sequence[str] = (), remove: Sequence[str] = ()) -> list[str]:
        """Add and remove tags of a run; return those that it has then."""
        with self._lock:
            record = self._record(run_id)
            text = changed_tags(str(record.info["tags"]), add, remove)
            info = dict(record.info) | {"tags": text}
            self._runs[run_id] = RunRecord(MappingProxyType(info), record.tables)
            self._changes += 1
        self._forget("history")
        self._forget(f"run {run_id} ")
        return tag_list(text)

    def load(self, run_id: str) -> RunRecord:
        """The record of a run."""
        with self._lock:
            record = self._record(run_id)
            return RunRecord(dict(record.info), record.tables)

    def load_topology(self, topology_id: str) -> TopologyRecord:
        """The record of a topology."""
        with self._lock:
            self._check_open()
            if topology_id not in self._topologies:
                raise StoreError(f"no topology '{topology_id}' in store 'memory:'; keep a run on it first")
            return self._topologies[topology_id]

    def _record(self, run_id: str) -> RunRecord:
        self._check_open()
        if run_id not in self._runs:
            raise self._unknown(run_id)
        return self._runs[run_id]

    def _is_kept(self, run_id: str) -> bool:
        return run_id in self._runs

    def _content(self, run_id: str) -> str:
        """Identifies the record of a run except its tags."""
        with self._lock:
            self._record(run_id)
            return f"{self._kept[run_id]}{'' if self.computed is None else ' with facts'}"

    def _cache(self, engine: DatabaseEngine[D]) -> ProjectionCache[D]:
        """Where databases are cached: in a folder that goes when the store is closed."""
        with self._lock:
            if self._folder is None:
                scratch = ScratchFolder()
                self._folder = scratch.path
                self._remove = weakref.finalize(self, scratch.remove)
        return ProjectionCache(self._folder, self._note, engine)

    def _history_database(self, names: tuple[str, ...], engine: str) -> Database:
        with self._lock:
            topologies, runs, changes = (
                list(self._topologies.values()),
                list(self._runs.values()),
                self._changes,
            )
        if names != HISTORY:
            runs = [RunRecord(run.info, {}) for run in runs]

        def build() -> Database:
            tables = [run.tables[name] for run in runs for name in HISTORY_TABLES if run.tables]
            size = sum(table.nbytes for table in tables) + data_bytes(*topologies)
            parts = graph_parts(runs, topologies, names, by_id=True)
            files = files_of(engine)
            found: Database = files.in_memory(
                lambda made: files.project(made, parts, names, self.progress, by_id=True), size
            )
            return found

        return self._cached(f"history {engine} {' '.join(names)} {changes}", build)
