"""The store that is looked at, and what has been read of it. Nothing here writes.

All methods may take long, and may be called from any thread.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from kernbench import api
from kernbench.errors import UsageError
from kernbench.tui.models.window import ChosenWindow

if TYPE_CHECKING:
    import pyarrow as pa

    from kernbench.pgraph import GraphStore, TopologyRecord

_KEPT = 4
"""Runs whose tables stay in memory."""


class OpenRun:
    """One run with its trace and its machine."""

    def __init__(self, run: api.Run, topology: TopologyRecord) -> None:
        self.run = run
        self.topology = topology

    @property
    def id(self) -> str:
        """The run's id."""
        return self.run.id

    def table(self, name: str) -> pa.Table:
        """A table of the trace; ``UsageError`` for a run without one."""
        if name not in self.run.tables:
            raise UsageError(f"run '{self.id}' has no trace to look into; re-run it without --no-trace")
        return self.run.tables[name]

    @property
    def traced(self) -> bool:
        """Whether the run has transactions to look into."""
        return "Transaction" in self.run.tables and self.run.tables["Transaction"].num_rows > 0

    def used(self, window: ChosenWindow) -> api.Frame:
        """The use of resources within a window, columns as :attr:`kernbench.Run.used`."""
        return self.run.use(**window.arguments) if self.traced else self.run.used

    @cached_property
    def components(self) -> Mapping[str, int]:
        """Row in the topology's table of components by name."""
        return {name: row for row, name in enumerate(self.topology.tables["Component"]["name"].to_pylist())}

    @cached_property
    def links(self) -> Mapping[str, int]:
        """The same for links."""
        return {name: row for row, name in enumerate(self.topology.tables["Link"]["name"].to_pylist())}


class Browser:
    """An open store as the screens see it."""

    def __init__(self, store: GraphStore) -> None:
        self.store = store
        self.building = ""
        """How far the store has come with a graph that takes long to build; empty when there is none."""
        store.progress = self._built
        self._lock = threading.Lock()
        self._open: dict[str, OpenRun] = {}

    def _built(self, done: int, total: int) -> None:
        self.building = "" if done >= total else f"building the graph, {done / max(total, 1):.0%}"

    @property
    def url(self) -> str:
        """The store's URL."""
        return self.store.url

    def runs(self) -> list[dict[str, Any]]:
        """The kept runs, newest first, as :func:`kernbench.api.listed` gives them."""
        return api.listed(store=self.store)[::-1]

    def under_way(self) -> api.Going:
        """The runs and sweeps that are done into the store now, and its newest run."""
        return api.under_way(self.store)

    def resolve(self, ref: str) -> str:
        """The id of the run that ``ref`` means; ``RunNotFoundError`` when there is none."""
        return api.open_run(ref, self.store).id

    def run(self, run_id: str) -> OpenRun:
        """A run by its id, kept open while it is among the last few that were looked at."""
        with self._lock:
            found = self._open.pop(run_id, None)
            if found is None:
                run = api.open_run(run_id, self.store)
                found = OpenRun(run, self.store.load_topology(str(run.info["topology_id"])))
            self._open[run_id] = found
            while len(self._open) > _KEPT:
                del self._open[next(iter(self._open))]
            return found
