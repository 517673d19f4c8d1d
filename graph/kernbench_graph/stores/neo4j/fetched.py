"""The graphs of runs in a server, made here of their records: for texts that it would answer otherwise.

A text about a run sees that run alone, whatever else the store keeps. A server has the graphs of all runs in
one, and cannot hide the others from a text that may reach them.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from kernbench_graph.archive.atomic import ScratchFolder
from kernbench_graph.records import RunRecord, TopologyRecord
from kernbench_graph.stores.embedded.base import LocalStore
from kernbench_graph.stores.embedded.cache import D, Database, DatabaseEngine, ProjectionCache

if TYPE_CHECKING:
    from kernbench_graph.stores.neo4j.store import Neo4jStore


class FetchedGraphs(LocalStore):
    """Answers texts from the records of the runs that a server keeps."""

    def __init__(self, server: Neo4jStore, content: Callable[[str], str]) -> None:
        """``content`` identifies the record of a run but for its tags; empty where there is no such run."""
        super().__init__(server.url)
        self._server, self._content_of = server, content
        scratch = ScratchFolder()
        self._folder = scratch.path
        self._remove = weakref.finalize(self, scratch.remove)

    def close(self) -> None:
        """Let go of all databases."""
        super().close()
        self._remove()

    def answer(self, cypher: str, params: dict[str, Any], run: str, timeout_s: float) -> Any:
        """The answer to a text about a run, as a store in a folder gives it."""
        self.computed, self.progress = self._server.computed, self._server.progress
        return self._answer(cypher, params, run, timeout_s, None, proved=False)

    def runs(self) -> list[dict[str, Any]]:
        """Properties of every run."""
        return self._server.runs()

    def resolve(self, ref: str) -> str:
        """The run is named by its id here."""
        return ref

    def load(self, run_id: str) -> RunRecord:
        """The record of a run."""
        return self._server.load(run_id)

    def load_topology(self, topology_id: str) -> TopologyRecord:
        """The record of a topology."""
        return self._server.load_topology(topology_id)

    def _is_kept(self, run_id: str) -> bool:
        return bool(self._content_of(run_id))

    def _content(self, run_id: str) -> str:
        return self._content_of(run_id)

    def _cache(self, engine: DatabaseEngine[D]) -> ProjectionCache[D]:
        return ProjectionCache(self._folder, self._note, engine)

    def _history_database(self, names: tuple[str, ...], engine: str) -> Database:
        raise AssertionError("the server itself answers for all runs")
