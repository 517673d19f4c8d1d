"""The kept runs of a store, opened."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from functools import cached_property

from kernbench.api.result import Run
from kernbench.api.stores import Store, as_store, run_id
from kernbench.api.team import is_seen
from kernbench.support.pgraph import GraphStore, PropertyGraph, TopologyRecord, topology_graph

_KEPT = 4
"""Runs whose tables stay in memory."""


def runs(store: Store = None, *, project: str | None = None) -> list[Run]:
    """The runs of a project kept in ``store``, oldest first. Their tables are read when looked at.

    ``project`` None stands for that of ``KERNBENCH_PROJECT``; empty, or where that is not set, for all runs.
    """
    opened = as_store(store)
    return [Run.kept(opened, info) for info in opened.runs() if is_seen(info, project)]


def open_run(ref: str = "last", store: Store = None, *, project: str | None = None) -> Run:
    """The run that ``ref`` means: an id, a unique prefix of one, a tag, ``last`` or ``last~N``.

    Of several runs with that tag the newest; ``last`` and tags are those of ``project``, as for :func:`runs`.
    ``RunNotFoundError`` lists the runs that there are.
    """
    opened = as_store(store)
    return Run.kept(opened, opened.load(run_id(opened, ref, project)).info)


class OpenRun:
    """A run with its machine."""

    def __init__(self, run: Run) -> None:
        self.run = run

    @cached_property
    def topology(self) -> TopologyRecord:
        """The topology, as it was compiled for the run."""
        return self.run.topology_record()

    @cached_property
    def graph(self) -> PropertyGraph:
        """The same as a graph."""
        return topology_graph(self.topology)

    @cached_property
    def components(self) -> Mapping[str, int]:
        """Row in the topology's table of components by name."""
        return self._rows("Component")

    @cached_property
    def links(self) -> Mapping[str, int]:
        """The same for links."""
        return self._rows("Link")

    def _rows(self, table: str) -> Mapping[str, int]:
        return {name: row for row, name in enumerate(self.topology.tables[table]["name"].to_pylist())}


class OpenRuns:
    """The runs of a store that were looked at last stay open. Safe to use from several threads."""

    def __init__(self, store: GraphStore) -> None:
        self.store = store
        self._lock = threading.Lock()
        self._open: dict[str, OpenRun] = {}

    def run(self, ref: str = "last") -> OpenRun:
        """The run that ``ref`` means, with its tags of now; ``RunNotFoundError`` when there is none."""
        with self._lock:
            run = open_run(ref, self.store)
            found = self._open.pop(run.id, None)
            if found is None or found.run.tags != run.tags:
                found = OpenRun(run)
            self._open[run.id] = found
            while len(self._open) > _KEPT:
                del self._open[next(iter(self._open))]
            return found
