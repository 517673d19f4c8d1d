"""Pictures of sweeps: latencies over what was swept, and a cost over latency."""

from __future__ import annotations

import math
import os
from typing import TYPE_CHECKING, Any

from kernbench.api.sweeps.result import Sweep, SweepPoint
from kernbench.draw.cells import is_number
from kernbench.errors import UsageError
from kernbench.support.sizes import read_size

if TYPE_CHECKING:
    from kernbench.api.stores import Store


def sweep_figure(sweep: Sweep, path: str | os.PathLike[str]) -> None:
    """Draw a sweep as PNG: lines over one swept key, a heat map over two, several lines over more.

    Points that failed are left out. ``MissingExtraError`` when matplotlib is not installed.
    """
    from kernbench.draw.figures import drawing, sweep_plot

    rows = [
        {**{key: point.value(key) for key in sweep.swept}, "latency_ns": point.latency_ns}
        for point in sweep.points
        if point.latency_ns is not None and not point.error
    ]
    figure = sweep_plot.sweep_figure(rows, sweep.swept, f"sweep of {sweep.bench}")
    drawing.save(figure, os.fspath(path))


def pareto_figure(
    sweep: Sweep, path: str | os.PathLike[str], against: str = "energy", store: Store = None
) -> None:
    """Draw a cost of a sweep's points over their latency as PNG, with the Pareto front of the two.

    Args:
        sweep: The points; for their energy as :meth:`Sweep.with_energy` gives them.
        path: The file.
        against: ``energy``, ``area``, or a swept key whose values are numbers; less of it is better.
        store: Where the runs are kept, for ``area``.

    Raises:
        UsageError: There is no such cost to draw.
        MissingExtraError: matplotlib is not installed.
    """
    from kernbench.draw.figures import drawing, sweep_plot

    costs = _costs(sweep, against, store)
    names = {"energy": "energy of the launches, nJ", "area": "area of all parts that is known, mm²"}

    def row(point: SweepPoint) -> dict[str, Any]:
        at = " ".join(f"{key}={point.value(key)}" for key in sweep.swept)
        return {"name": at, "latency_ns": point.latency_ns, "cost": costs[point.point]}

    good = [row(p) for p in sweep.points if p.latency_ns is not None and not p.error]
    good = [point for point in good if point["cost"] is not None]
    if not good:
        raise UsageError(
            f"no point of the sweep has {against} to draw; sweep with energy, or name area or one of "
            f"{', '.join(sweep.swept) or 'the swept keys'} with numbers"
        )
    front = [row(point) for point in sweep.front_of(costs)]
    figure = sweep_plot.pareto_figure(good, front, names.get(against, against), f"sweep of {sweep.bench}")
    drawing.save(figure, os.fspath(path))


def _costs(sweep: Sweep, against: str, store: Store) -> dict[int, float | None]:
    """The cost of each point by its number; None where it has none."""
    if against == "energy":
        return {p.point: None if p.energy_pj is None else p.energy_pj / 1e3 for p in sweep.points}
    if against == "area":
        from kernbench.api.open_runs import open_run
        from kernbench.api.stores import borrowed
        from kernbench.api.topologies import topology_area
        from kernbench.support.pgraph import topology_graph

        with borrowed(store) as kept_in:
            kept = {p.point: open_run(p.run_id, kept_in) for p in sweep.points if p.run_id}
            machines = {point: topology_graph(run.topology_record()) for point, run in kept.items()}
        areas = {point: math.fsum(topology_area(machine).values()) for point, machine in machines.items()}
        return {p.point: areas.get(p.point) for p in sweep.points}
    return {p.point: _number(p.value(against)) for p in sweep.points}


def _number(value: Any) -> float | None:
    """A value of a key as a number, sizes with their units; None for another one."""
    value = read_size(value) if isinstance(value, str) else value
    return float(value) if is_number(value) else None
