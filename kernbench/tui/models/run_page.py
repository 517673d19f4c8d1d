"""One run: launches, where its time went, resources, waits and so on; and two runs side by side."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from textwrap import shorten
from typing import TYPE_CHECKING, Any

import numpy as np

from kernbench.analysis.windows.chosen_window import ChosenWindow
from kernbench.api.comparing import compare
from kernbench.api.contents import SCREENS, Screen, comparison, overview, source
from kernbench.api.open_runs import OpenRun
from kernbench.draw.content import columns_of
from kernbench.draw.targets import Target
from kernbench.tui.models.pages import Page, TabSection
from kernbench.tui.models.screen_table import grid_table, table_of
from kernbench.tui.models.table import ShownTable

if TYPE_CHECKING:
    import pyarrow as pa

    from kernbench.support.pgraph import GraphStore

_RESOURCES = 1000
"""Most that a comparison lists."""
_FACTS = ("bench", "parameters", "topology", "latency", "verified", "judged by", "status", "window")
"""What a run's page says above its tabs."""
_PROBLEM = 200
"""Characters of what is wrong with it, there."""
_ROWS = (("transactions", "Transactions", "Txns"), ("operations", "Operations", "Ops"))
"""Tabs with the rows of the trace, which follow its waits: keys, names and short names."""

TRANSACTIONS = columns_of(
    "transaction kind src dst bytes latency_ns wait_ns service_ns t_submit launch op caused_by"
)
OPERATIONS = columns_of("op kind label component t_start ns queued_ns bytes source launch parent")
WAITS = columns_of("waiter holder resource wait_ns t_from t_to holders")


def run_page(opened: OpenRun, window: ChosenWindow) -> Page:
    """The page of a run. The trace is read by its sections, not here: a long run opens at once."""
    run = opened.run
    told = dict(overview.facts(run, window))
    facts = [(name, told[name]) for name in _FACTS if name in told]
    facts += [("problem", shorten(line, _PROBLEM, placeholder=" ...")) for line in overview.wrong(run)[:1]]
    own = {  # a terminal has room for every wait there was
        "waits": lambda: waits(opened, window),
        "transactions": lambda: transactions(opened, _within(opened, window, "t_submit")),
        "operations": lambda: operations(opened, _within(opened, window, "t_start")),
    }
    sections = []
    for one in SCREENS:
        load = own.get(one.key) or partial(_screen, one, opened, window)
        sections.append(TabSection(one.title, load, one.short))
        if one.key == "waits":
            sections += [TabSection(title, own[key], short) for key, title, short in _ROWS]
    itself = Target("run", run.id)
    return Page(f"run {run.id}", facts, sections, itself, run.id, source.file_of(run), _steps_of)


def compare_page(store: GraphStore, before: str, after: str) -> Page:
    """The comparison; runs of different benches are compared as well. Rows lead into the later run."""
    found = comparison.content(compare(before, after, store, top=_RESOURCES, any_bench=True))
    facts = [*found.facts, *(("note", line) for line in found.wrong)]
    sections = [TabSection(grid.heading, partial(grid_table, grid)) for grid in found.grids]
    return Page("comparison", facts, sections, None, after)


def source_page(opened: OpenRun, line: str, window: ChosenWindow) -> Page:
    """The file that a run keeps, from ``line`` of it on."""
    shown = source.of_run(opened.run, window)
    nth = int(line.rpartition(":")[2])
    section = TabSection("Source", lambda: table_of(shown), cursor=nth - 1)
    return Page(line, [("file", shown.title)], [section], Target("line", line), opened.run.id)


def _steps_of(row: Mapping[str, Any]) -> tuple[str, str] | None:
    """A cause, or a source line, leads to its steps on the critical path."""
    by, name = row.get("by"), str(row.get("name", ""))
    return ("Critical path", f"{by}={name}") if by in ("cause", "line") and " " not in name else None


def _screen(screen: Screen, opened: OpenRun, window: ChosenWindow) -> ShownTable:
    """A tab as it is described."""
    return table_of(screen.work_out(opened.run, window))


def waits(opened: OpenRun, window: ChosenWindow) -> ShownTable:
    """Waits that began within the window, longest first."""
    table = opened.run.table("WaitedFor")
    inside = _within(opened, window, "t_from")(table)
    renamed = inside.rename_columns({"txn": "waiter", "ns": "wait_ns"})
    return ShownTable.of_arrow(
        renamed.sort_by([("wait_ns", "descending"), ("waiter", "ascending")]), WAITS, "no transaction waited"
    )


Selection = Callable[["pa.Table"], "pa.Table"]


def transactions(opened: OpenRun, select: Selection) -> ShownTable:
    """Transactions that ``select`` leaves, in order of number."""
    import pyarrow.compute as pc

    table = select(opened.run.table("Transaction"))
    table = table.append_column("latency_ns", pc.subtract(table["t_done"], table["t_submit"]))
    return ShownTable.of_arrow(
        table.rename_columns({"number": "transaction"}), TRANSACTIONS, "no transactions"
    )


def operations(opened: OpenRun, select: Selection) -> ShownTable:
    """Operations that ``select`` leaves, in order of number."""
    import pyarrow.compute as pc

    table = select(opened.run.table("Op"))
    table = table.append_column("ns", pc.subtract(table["t_end"], table["t_start"]))
    table = table.append_column("queued_ns", pc.subtract(table["t_start"], table["t_ready"]))
    return ShownTable.of_arrow(table.rename_columns({"number": "op"}), OPERATIONS, "no operations")


def _within(opened: OpenRun, window: ChosenWindow, column: str) -> Selection:
    """Rows whose time in ``column`` lies within the window; at the very end of the run as well."""
    chosen = opened.run.window(window)

    def select(table: pa.Table) -> pa.Table:
        times = table[column].to_numpy()
        keep = np.zeros(len(times), dtype=bool)
        for begin, end in chosen.spans:
            keep |= (times >= begin) & ((times < end) | (end >= opened.run.sim_ns))
        return table.filter(keep)

    return select
