"""The critical path on every screen: its sums, which say where the time went, and its steps."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from kernbench.analysis.path.model_time import by_model
from kernbench.analysis.path.path_steps import CriticalPath
from kernbench.analysis.windows.chosen_window import ChosenWindow
from kernbench.api.result import Run
from kernbench.draw.cells import number
from kernbench.draw.content import SHARE, Column, Content, Grid, columns_of

EMPTY = "no time in this window"
OUTSIDE = "outside of kernels"
_STEPS = columns_of("t_start t_end ns cause location line activity transaction")
_PLACES = 20
_INTERVALS = 500
"""Steps that are shorter than the path by this factor are drawn together with their neighbours."""


def time_of_run(run: Run, window: ChosenWindow) -> Content:
    """Where a window's time went: by cause, by source line and by location."""
    path, name = run.critical_path(window), run.window(window).name
    heading = f"Critical path of {name} by cause, {number(path.ns)} ns"
    causes = replace(sums(path, "cause"), heading=heading, in_summary=None)
    model = [model_sums(run, path)] if run.of_model else []
    return Content([causes, *model, sums(path, "line"), sums(path, "location")], EMPTY)


def model_sums(run: Run, path: CriticalPath) -> Grid:
    """The path's time by what launches carry out of a compiled model, the longest first."""
    rows = by_model(path, run.launches)
    line = "model_line " if any(row["model_line"] for row in rows) else ""
    columns = columns_of(f"model_nodes {line}kernel launches ns share cause location")
    heading = "Critical path by node of the model"
    return Grid("model", heading, columns, rows, EMPTY, label="model_nodes",
                total=path.ns, first=_PLACES)  # fmt: skip


def sums(path: CriticalPath, by: str) -> Grid:
    """The path's time by ``cause``, ``line`` or ``location``, the longest first."""
    found = {"cause": path.by_cause, "line": path.by_line, "location": path.by_location}[by]()
    rows = [{by: name or OUTSIDE, "ns": ns, "share": ns / (path.ns or 1.0)} for name, ns in found.items()]
    heading = f"Critical path by {'source line' if by == 'line' else by}"
    columns = [Column(by), Column("ns", "ns"), Column("share", SHARE)]
    if by == "location":
        causes = path.main_causes()
        rows = [row | {"cause": causes[name]} for row, name in zip(rows, found, strict=True)]
        columns.append(Column("cause"))
    bars = "" if by == "location" else "ns"  # rows of places are links, which bars cannot be
    return Grid(by, heading, columns, rows, EMPTY, label=by, bars=bars, total=path.ns, only_bars=bool(bars),
                first=_PLACES if by == "location" else None)  # fmt: skip


def of_run(run: Run, window: ChosenWindow) -> Content:
    """The steps one by one, drawn as a strip of causes over time."""
    path = run.critical_path(window)
    length = f"{number(path.ns)} ns in {len(path.steps)} steps"
    return Content([steps(path)], EMPTY, said=[f"{length}: the chain of work and waiting that makes it."])


def steps(path: CriticalPath) -> Grid:
    """The steps of a path, oldest first."""
    rows = [{column.name: getattr(step, column.name) for column in _STEPS} for step in path.steps]
    return Grid("steps", "Steps", _STEPS, rows, EMPTY, drawn=_strip(path))


def _strip(path: CriticalPath) -> list[list[Any]]:
    """Intervals of the path as ``[start, end, {cause: ns}]``, start and end in ns.

    Neighbours of one cause are one, and so are neighbours that are too short to be seen. All that is left out
    is their order: the sums by cause are those of the whole path.
    """
    shortest = path.ns / _INTERVALS
    drawn: list[list[Any]] = []
    for step in path.steps:
        last = drawn[-1] if drawn else None
        if (
            last is None
            or abs(last[1] - step.t_start) >= 1e-9
            or (set(last[2]) != {step.cause} and step.t_end - last[0] > shortest)
        ):
            drawn.append(last := [step.t_start, step.t_end, {}])
        last[1] = step.t_end
        last[2][step.cause] = last[2].get(step.cause, 0.0) + step.ns
    return drawn
