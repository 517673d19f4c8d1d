"""The store that is looked at, what has been read of it, and the queries that run. Nothing here writes.

All methods may take long, and may be called from any thread.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import kernbench as kb
from kernbench.api import active_runs as going
from kernbench.api.active_runs import ActiveRuns
from kernbench.api.kept_runs import listed
from kernbench.api.open_runs import OpenRuns
from kernbench.draw.content import Column
from kernbench.tui.models.table import ShownTable

if TYPE_CHECKING:
    from kernbench.support.pgraph import GraphStore, RunningQuery

_COLUMNS = (
    Column("query"), Column("since", "s"), Column("state"), Column("run"), Column("asker"), Column("text"),
)  # fmt: skip


class Browser(OpenRuns):
    """An open store as the screens see it."""

    def __init__(self, store: GraphStore) -> None:
        super().__init__(store)
        self.building = ""
        """How far the store has come with a graph that takes long to build; empty when there is none."""
        store.progress = self._built

    def _built(self, done: int, total: int) -> None:
        self.building = "" if done >= total else f"building the graph, {done / max(total, 1):.0%}"

    @property
    def url(self) -> str:
        """The store's URL."""
        return self.store.url

    def runs(self) -> list[dict[str, Any]]:
        """The kept runs, newest first, as :func:`kernbench.api.kept_runs.listed` gives them."""
        return listed(store=self.store)[::-1]

    def under_way(self) -> ActiveRuns:
        """The runs and sweeps that are done into the store now, and its newest run."""
        return going.under_way(self.store)

    def resolve(self, ref: str) -> str:
        """The id of the run that ``ref`` means; ``RunNotFoundError`` when there is none."""
        return kb.open_run(ref, self.store).id


def running_table(queries: Iterable[RunningQuery]) -> ShownTable:
    """Number, seconds, state, run, asker and text of each, in the order in which they come."""
    rows = [
        {
            "query": query.number,
            "since": int(query.seconds),
            "state": query.doing,
            "run": query.run or "all",
            "asker": query.asker.name,
            "text": " ".join(query.text.split()),
        }
        for query in queries
    ]
    return ShownTable.of_dicts(rows, _COLUMNS, "no query is running")
