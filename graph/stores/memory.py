"""The store behind ``memory:``: runs live as long as this process does."""

from __future__ import annotations

from collections.abc import Sequence
from types import MappingProxyType
from typing import Any

from graph.archive import canonical_topology, complete_info
from graph.columns import canonical_tables, check_references
from graph.manifest import json_text
from graph.store import RunRecord, StoreError, TopologyRecord
from graph.stores.base import LadybugStore
from graph.stores.common import taken
from graph.stores.ladybug_engine import LadybugDatabase
from graph.stores.ladybug_projection import data_bytes, project_history, project_run


class MemoryStore(LadybugStore):
    """Keeps records as they are and projects them when they are first asked about."""

    def __init__(self) -> None:
        super().__init__("memory:")
        self._runs: dict[str, RunRecord] = {}
        self._topologies: dict[str, TopologyRecord] = {}

    def keep(self, run: RunRecord, topology: TopologyRecord) -> str:
        """Keep a run and its topology; return the run id."""
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
            self._runs[info["id"]] = RunRecord(MappingProxyType(info), MappingProxyType(tables))
            self._forget("history")
        return str(info["id"])

    def runs(self) -> list[dict[str, Any]]:
        """Properties of every run, in the order in which they were kept."""
        with self._lock:
            self._check_open()
            return [dict(record.info) for record in self._runs.values()]

    def remove(self, run_id: str) -> None:
        """Forget a run, and its topology where it was the last on it."""
        with self._lock:
            topology = self._record(run_id).info["topology"]
            del self._runs[run_id]
            if all(record.info["topology"] != topology for record in self._runs.values()):
                del self._topologies[topology]
            self._forget("history")
            self._forget(f"run {run_id} ")

    def set_tags(self, run_id: str, tags: Sequence[str]) -> None:
        """Replace a run's tags."""
        with self._lock:
            record = self._record(run_id)
            info = dict(record.info) | {"tags": json_text([str(tag) for tag in tags], "tags")}
            self._runs[run_id] = RunRecord(MappingProxyType(info), record.tables)
            self._forget("history")
            self._forget(f"run {run_id} ")

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

    def _run_database(self, run_id: str) -> LadybugDatabase:
        def build() -> LadybugDatabase:
            run = self._runs[run_id]
            topology = self._topologies[run.info["topology"]]
            database = LadybugDatabase(data_bytes=data_bytes(run, topology))
            project_run(database, run, topology)
            return database

        return self._cached(f"run {run_id} ", build)

    def _history_database(self, with_use: bool) -> LadybugDatabase:
        def build() -> LadybugDatabase:
            runs = list(self._runs.values())
            used = {run.info["id"]: run.tables["Used"] for run in runs} if with_use else None
            topologies = list(self._topologies.values())
            size = sum(table.nbytes for table in (used or {}).values()) + data_bytes(*topologies)
            database = LadybugDatabase(data_bytes=size)
            project_history(database, [run.info for run in runs], topologies, used)
            return database

        return self._cached(f"history {with_use}", build)
