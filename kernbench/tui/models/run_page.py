"""One run: launches, where its time went, resources, waits, critical path, transactions, operations."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from kernbench.api.screens import SCREENS, Screen
from kernbench.kinds import COMPONENT_KINDS
from kernbench.report.cells import number
from kernbench.report.content import Column
from kernbench.report.targets import Target
from kernbench.tui.models.browser import OpenRun
from kernbench.tui.models.pages import Page, Section
from kernbench.tui.models.screen_table import table_of
from kernbench.tui.models.table import Table
from kernbench.tui.models.window import Window

if TYPE_CHECKING:
    import pyarrow as pa


_OWN = frozenset({"waits"})
"""Tabs with a table of their own here: a terminal has room for every wait there was."""
_VERIFIED = {True: "verified", False: "WRONG VALUES", None: "not verified"}

RUNS = (
    *(Column(name) for name in ("run_id", "bench")),
    Column("latency_ns", "ns"),
    *(Column(name) for name in ("params", "topology", "verified", "status", "changed", "started_at", "tags")),
)
_LAUNCHES = (
    *(Column(name) for name in ("launch", "kernel", "rank", "package", "pes")),
    *(Column(name, "ns") for name in ("latency_ns", "pe_ns", "late_ns", "t_submit", "t_start", "t_done")),
)
_TIME = (Column("by"), Column("name"), Column("ns", "ns"), Column("share", percent=True))
RESOURCES = (
    Column("resource"),
    Column("kind"),
    Column("utilisation", percent=True),
    Column("occupancy", percent=True),
    Column("wait_ns", "ns"),
    Column("busy_ns", "ns"),
    Column("bytes"),
    Column("transactions"),
    Column("max_queue"),
)
_STEPS = (
    Column("cause"),
    Column("ns", "ns"),
    Column("transaction"),
    Column("location"),
    Column("t_start", "ns"),
    Column("line"),
    Column("activity"),
)
TRANSACTIONS = (
    Column("transaction"),
    Column("kind"),
    Column("src"),
    Column("dst"),
    Column("bytes"),
    Column("latency_ns", "ns"),
    Column("wait_ns", "ns"),
    Column("service_ns", "ns"),
    Column("t_submit", "ns"),
    Column("launch"),
    Column("op"),
    Column("caused_by"),
)
OPERATIONS = (
    Column("op"),
    Column("kind"),
    Column("label"),
    Column("component"),
    Column("t_start", "ns"),
    Column("ns", "ns"),
    Column("queued_ns", "ns"),
    Column("bytes"),
    Column("source"),
    Column("launch"),
    Column("parent"),
)
WAITS = (
    Column("waiter"),
    Column("holder"),
    Column("resource"),
    Column("wait_ns", "ns"),
    Column("t_from", "ns"),
    Column("t_to", "ns"),
    Column("holders"),
)


def runs_table(rows: list[dict[str, Any]]) -> Table:
    """The kept runs; parameters and what changed as texts."""
    shown = [
        {
            **row,
            "params": " ".join(f"{key}={value}" for key, value in row["params"].items()),
            "changed": "first" if row["changed"] is None else ", ".join(row["changed"]),
            "started_at": str(row["started_at"])[:19].replace("T", " "),
            "tags": ", ".join(row["tags"]),
        }
        for row in rows
    ]
    return Table.of_dicts(shown, RUNS, "no runs here; keep one with 'kernbench run --bench qkv-gemm'")


def run_page(opened: OpenRun, window: Window) -> Page:
    """The page of a run. The trace is read by its sections, not here: a long run opens at once."""
    run = opened.run
    chosen = run.window(**window.arguments)
    params = " ".join(f"{key}={value}" for key, value in run.params.items())
    changes = " ".join(f"{key}={value}" for key, value in run.info["topology_changes"].items())
    launched = f"{number(run.latency_ns)} ns in {_launched(run.launches)}" if run.launches else "no launches"
    facts = [
        ("bench", f"{run.bench} {params}".strip()),
        ("topology", f"{run.topology} with {changes}" if changes else run.topology),
        ("latency", f"{launched}, {_VERIFIED[run.verified]}"),
        ("simulated", f"{number(run.sim_ns)} ns, {run.info['hops']} hops; status {run.info['status']}"),
        ("window", f"{chosen.name}, {number(chosen.ns)} ns"),
    ]
    sections = [
        Section("Launches", lambda: Table.of_dicts(run.launches, _LAUNCHES, "this run launched no kernel")),
        Section("Time", lambda: _time(opened, window)),
        Section("Critical path", lambda: _steps(opened, window)),
        Section("Resources", lambda: resources(opened, window)),
        Section("Waits", lambda: waits(opened, window)),
        Section("Transactions", lambda: transactions(opened, _within(opened, window, "t_submit"))),
        Section("Operations", lambda: operations(opened, _within(opened, window, "t_start"))),
        *(
            Section(one.title, partial(_screen, one, opened, window))
            for one in SCREENS
            if one.key not in _OWN
        ),
    ]
    return Page(f"run {run.id}", facts, sections, Target("run", run.id), run.id, _steps_of)


def _steps_of(row: Mapping[str, Any]) -> tuple[str, str] | None:
    """A cause, or a source line, leads to its steps on the critical path."""
    by, name = row.get("by"), str(row.get("name", ""))
    return ("Critical path", f"{by}={name}") if by in ("cause", "line") and " " not in name else None


def _launched(launches: list[dict[str, Any]]) -> str:
    return "1 launch" if len(launches) == 1 else f"{len(launches)} launches"


def _time(opened: OpenRun, window: Window) -> Table:
    """The critical path by cause, and below it by source line."""
    path = opened.path(window)
    total = path.ns or 1.0
    rows = [("cause", cause, ns, ns / total) for cause, ns in path.by_cause().items()]
    rows += [("line", line, ns, ns / total) for line, ns in path.by_line().items() if line]
    rows += [("location", name, ns, ns / total) for name, ns in list(path.by_location().items())[:20]]
    return Table.of_rows(rows, _TIME, "no time in this window")


def _screen(screen: Screen, opened: OpenRun, window: Window) -> Table:
    """A tab as it is described."""
    return table_of(screen.work_out(opened.run, **window.arguments))


def _steps(opened: OpenRun, window: Window) -> Table:
    steps = [
        (step.cause, step.ns, step.transaction, step.location, step.t_start, step.line, step.activity)
        for step in opened.path(window).steps
    ]
    return Table.of_rows(steps, _STEPS, "no time in this window")


def resources(opened: OpenRun, window: Window) -> Table:
    """Links and components, the busiest first; parts whose use is counted elsewhere are left out."""
    used = opened.used(window)
    counted = [
        index
        for index, kind in enumerate(used["kind"])
        if kind not in COMPONENT_KINDS or not COMPONENT_KINDS[kind].counted_elsewhere
    ]
    rows = np.array(counted, dtype=np.int64)
    shares = -np.round(used["utilisation"][rows], 9)
    # Kinds together, so that those that are alike stand side by side.
    order = rows[np.lexsort((used["resource"][rows].astype(str), used["kind"][rows].astype(str), shares))]
    return Table.of_arrow(
        {name: values[order] for name, values in used.items()}, RESOURCES, "nothing was used"
    )


def waits(opened: OpenRun, window: Window) -> Table:
    """Waits that began within the window, longest first."""
    table = opened.table("WaitedFor")
    inside = _within(opened, window, "t_from")(table)
    renamed = inside.rename_columns({"txn": "waiter", "ns": "wait_ns"})
    return Table.of_arrow(
        renamed.sort_by([("wait_ns", "descending"), ("waiter", "ascending")]), WAITS, "no transaction waited"
    )


Selection = Callable[["pa.Table"], "pa.Table"]


def transactions(opened: OpenRun, select: Selection) -> Table:
    """Transactions that ``select`` leaves, in order of number."""
    import pyarrow.compute as pc

    table = select(opened.table("Transaction"))
    table = table.append_column("latency_ns", pc.subtract(table["t_done"], table["t_submit"]))
    return Table.of_arrow(table.rename_columns({"number": "transaction"}), TRANSACTIONS, "no transactions")


def operations(opened: OpenRun, select: Selection) -> Table:
    """Operations that ``select`` leaves, in order of number."""
    import pyarrow.compute as pc

    table = select(opened.table("Op"))
    table = table.append_column("ns", pc.subtract(table["t_end"], table["t_start"]))
    table = table.append_column("queued_ns", pc.subtract(table["t_start"], table["t_ready"]))
    return Table.of_arrow(table.rename_columns({"number": "op"}), OPERATIONS, "no operations")


def _within(opened: OpenRun, window: Window, column: str) -> Selection:
    """Rows whose time in ``column`` lies within the window; at the very end of the run as well."""
    chosen = opened.run.window(**window.arguments)

    def select(table: pa.Table) -> pa.Table:
        times = table[column].to_numpy()
        keep = np.zeros(len(times), dtype=bool)
        for begin, end in chosen.spans:
            keep |= (times >= begin) & ((times < end) | (end >= opened.run.sim_ns))
        return table.filter(keep)

    return select
