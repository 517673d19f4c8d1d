"""Launches of kernels on every screen."""

from __future__ import annotations

from kernbench.analysis.windows.chosen_window import ChosenWindow
from kernbench.api.result import Run
from kernbench.draw.content import Content, Grid, columns_of

_COLUMNS = columns_of(
    "launch kernel model_nodes model_line rank package follows times pes t_start t_done latency_ns "
    "launch_ns pe_ns late_ns"
)
_OF_SOME = {
    "model_nodes": None,
    "model_line": None,
    "rank": None,
    "follows": None,
    "times": None,
    "late_ns": 0.0,
}
"""Columns that are there where a launch has another value than this."""
_LATE = "Launches; late_ns: how much later than its launch messages asked for its PEs started"
_EMPTY = "this run launched no kernel"


def of_run(run: Run, _window: ChosenWindow) -> Content:
    """A row for each launch: its rank, the one simulated for it, and how often it happens, where known."""

    def is_known(name: str) -> bool:
        return any(one.get(name, _OF_SOME[name]) != _OF_SOME[name] for one in run.launches)

    columns = [column for column in _COLUMNS if column.name not in _OF_SOME or is_known(column.name)]
    heading = _LATE if is_known("late_ns") else "Launches"
    return Content([Grid("launches", heading, columns, run.launches, _EMPTY)], _EMPTY)
