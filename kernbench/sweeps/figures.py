"""Pictures of sweeps: latencies over what was swept, and energy over latency."""

from __future__ import annotations

import os
from typing import Any

from kernbench.sweeps.result import Sweep, SweepPoint


def sweep_figure(sweep: Sweep, path: str | os.PathLike[str]) -> None:
    """Draw a sweep as PNG: lines over one swept key, a heat map over two, several lines over more.

    Points that failed are left out. ``MissingExtraError`` when matplotlib is not installed.
    """
    from kernbench.report.figures import drawing, sweep_plot

    drawing.require()
    rows = [
        {**{key: point.value(key) for key in sweep.swept}, "latency_ns": point.latency_ns}
        for point in sweep.points
        if point.latency_ns is not None and not point.error
    ]
    figure = sweep_plot.sweep_figure(rows, sweep.swept, f"sweep of {sweep.bench}")
    drawing.save(figure, os.fspath(path))


def pareto_figure(sweep: Sweep, path: str | os.PathLike[str]) -> None:
    """Draw the energy of a sweep's points over their latency as PNG, with the Pareto front of the two.

    ``UsageError`` for a sweep without energy (:meth:`Sweep.with_energy`); ``MissingExtraError`` when
    matplotlib is not installed.
    """
    from kernbench.report.figures import drawing, sweep_plot

    drawing.require()

    def row(point: SweepPoint) -> dict[str, Any]:
        at = " ".join(f"{key}={point.value(key)}" for key in sweep.swept)
        return {"name": at, "latency_ns": point.latency_ns, "energy_pj": point.energy_pj}

    good = [row(point) for point in sweep.points if point.energy_pj is not None and not point.error]
    figure = sweep_plot.pareto_figure(good, [row(p) for p in sweep.front], f"sweep of {sweep.bench}")
    drawing.save(figure, os.fspath(path))
