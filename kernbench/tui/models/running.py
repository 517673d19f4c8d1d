"""The queries that are running, as a table."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from kernbench.report.content import Column
from kernbench.tui.models.table import ShownTable

if TYPE_CHECKING:
    from kernbench.pgraph import RunningQuery

_COLUMNS = (
    Column("query"), Column("since", "s"), Column("state"), Column("run"), Column("asker"), Column("text"),
)  # fmt: skip


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
