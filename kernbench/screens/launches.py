"""Launches of kernels on every screen."""

from __future__ import annotations

from kernbench.analysis.chosen_window import ChosenWindow
from kernbench.api.result import Run
from kernbench.report.content import Content, Grid, columns_of

_COLUMNS = columns_of(
    "launch kernel rank package follows times pes t_start t_done latency_ns launch_ns pe_ns late_ns"
)
_OF_SOME = ("rank", "follows", "times")
"""Columns that are there where a launch has a value."""
_EMPTY = "this run launched no kernel"


def of_run(run: Run, _window: ChosenWindow) -> Content:
    """A row for each launch: its rank, the one simulated for it, and how often it happens, where known."""
    columns = [
        column
        for column in _COLUMNS
        if column.name not in _OF_SOME or any(one.get(column.name) is not None for one in run.launches)
    ]
    return Content([Grid("launches", "Launches", columns, run.launches, _EMPTY)], _EMPTY)
