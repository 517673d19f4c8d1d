"""Tuning on every screen: a row for each configuration, the best of each kernel and key first."""

from __future__ import annotations

import shlex
from functools import partial
from typing import Any

from kernbench.api.tuning import Point, Tuning
from kernbench.draw.content import MARK, Column, Content, Grid, column

_QUIET = {"key": ("",), "error": ("",)}


def content(found: Tuning) -> Content:
    """Configurations, kernel by kernel and key by key; those that failed come last."""
    energy = () if found.goal == "latency" else ("energy_pj", "edp_pj_ns")
    names = ("kernel", "key", "config", "latency_ns", "launch_ns", *energy, "best", "run_id", "error")
    columns = [Column(name, MARK) if name == "best" else column(name, _QUIET.get(name, ())) for name in names]
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
