"""A sweep on every screen: a row for each point, then the fastest and what to know of the others."""

from __future__ import annotations

from kernbench.api.sweeps.result import Sweep
from kernbench.draw.cells import number
from kernbench.draw.content import Content, Grid, column

_QUIET = {"verified": (None,), "kept_before": (False,), "error": ("",)}


def content(found: Sweep) -> Content:
    """Points in the order of the grid."""
    names = found.columns()
    columns = [column(name, _QUIET.get(name, ())) for name in names]
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
