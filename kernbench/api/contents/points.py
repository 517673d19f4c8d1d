"""Measured points on every screen: a row for each point of a sweep, or for each configuration of a tuning."""

from __future__ import annotations

import shlex
from functools import partial
from typing import Any

from kernbench.api.sweeps.result import Sweep
from kernbench.api.tuning import Point, Tuning
from kernbench.draw.cells import number
from kernbench.draw.content import MARK, Column, Content, Grid, column

_QUIET_OF_SWEEP = {"verified": (None,), "kept_before": (False,), "error": ("",)}
_QUIET_OF_TUNING = {"key": ("",), "error": ("",)}


def of_sweep(found: Sweep) -> Content:
    """Points in the order of the grid, then the fastest and what to know of the others."""
    names = found.columns()
    columns = [column(name, _QUIET_OF_SWEEP.get(name, ())) for name in names]
    rows = [dict(zip(names, row, strict=True)) for row in found.rows()]
    lines = []
    if found.best is not None and len(found.points) > 1:
        at = " ".join(f"{key}={found.best.value(key)}" for key in found.swept)
        lines.append(f"fastest: {number(found.best.latency_ns)} ns at {at or 'every point'}")
    if found.front:
        points = ", ".join(str(point.point) for point in found.front)
        lines.append(f"Pareto front of latency and energy, the fastest first: point {points}")
    lines += [found.note] if found.note else []
    return Content([Grid("points", "", columns, rows)], "no points", note="\n".join(lines))


def of_tuning(found: Tuning) -> Content:
    """Configurations, kernel by kernel and key by key; those that failed come last."""
    energy = () if found.goal == "latency" else ("energy_pj", "edp_pj_ns")
    names = ("kernel", "key", "config", "latency_ns", "launch_ns", *energy, "best", "run_id", "error")
    columns = [
        Column(name, MARK) if name == "best" else column(name, _QUIET_OF_TUNING.get(name, ()))
        for name in names
    ]
    ordered = sorted(found.points, key=partial(_order, goal=found.goal))
    lines = []
    if found.settings:
        chosen = " ".join(shlex.quote(f"{name}={value}") for name, value in found.settings.items())
        lines.append(f"to run with the best: {chosen}")
    if found.best_run:
        lines.append(f"the run with the best: {found.best_run} ('last' is the one that was measured last)")
    return Content([Grid("points", "", columns, [*map(_row, ordered)])], "no kernel", note="\n".join(lines))


def _order(point: Point, goal: str) -> tuple[str, str, bool, float]:
    cost = point.cost(goal)
    return point.kernel, str(point.key), cost is None, 0.0 if cost is None else round(cost, 6)


def _row(point: Point) -> dict[str, Any]:
    return {
        **point.as_dict(),
        "key": ", ".join(f"{name}={value}" for name, value in point.key),
        "config": " ".join(f"{name}={value}" for name, value in point.config.items()),
    }
