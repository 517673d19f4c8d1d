"""Launches of kernels on every screen."""

from __future__ import annotations

from kernbench.analysis.chosen_window import ChosenWindow
from kernbench.api.result import Run
from kernbench.report.content import Content, Grid, columns_of

_COLUMNS = columns_of("launch kernel rank package pes t_start t_done latency_ns pe_ns late_ns")
_EMPTY = "this run launched no kernel"


def of_run(run: Run, _window: ChosenWindow) -> Content:
    """A row for each launch, with its rank where there are ranks."""
    ranks = any(one["rank"] is not None for one in run.launches)
    columns = [column for column in _COLUMNS if ranks or column.name != "rank"]
    return Content([Grid("launches", "Launches", columns, run.launches, _EMPTY)], _EMPTY)
