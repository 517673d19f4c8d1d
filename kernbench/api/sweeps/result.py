"""The result of a sweep: a row for each point, as a table, as JSON and as Parquet."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kernbench.api.shown import Shows
from kernbench.hardware.topology.better import SLOWER
from kernbench.support.written_files import writing

if TYPE_CHECKING:
    import pyarrow as pa

    from kernbench.api.stores import Store

FIGURES = ("latency_ns", "sim_ns", "verified", "run_id", "kept_before", "error")
"""Columns of a sweep's table behind the number of the point and the swept keys."""
ENERGY = ("energy_pj", "edp_pj_ns")
"""Columns behind ``latency_ns``, in a sweep with energy."""


@dataclass(frozen=True, slots=True)
class SweepPoint:
    """One point of a sweep.

    ``latency_ns`` is the time of its launches and ``sim_ns`` of the whole run; both None where there is no
    run. ``run_id`` is the kept run, else empty. ``kept_before``: the run was there already. ``error`` is
    empty unless the point failed. ``estimated``: ranks or periods that are alike were not all simulated.
    ``energy_pj`` is the energy of its launches, where that was asked for.
    ``phases``: at how many phases of the refresh of its memory it ran; None where nothing is refreshed. Of
    several it is the run with the median latency, and ``spread_ns`` lies between the least and the most.
    """

    point: int
    topology: str
    params: dict[str, Any]
    topo: dict[str, Any]
    latency_ns: float | None = None
    sim_ns: float | None = None
    verified: bool | None = None
    run_id: str = ""
    kept_before: bool = False
    error: str = ""
    estimated: bool = False
    energy_pj: float | None = None
    phases: int | None = None
    spread_ns: float | None = None

    @property
    def edp_pj_ns(self) -> float | None:
        """Energy-delay product of its launches."""
        known = self.energy_pj is not None and self.latency_ns is not None
        return (self.energy_pj or 0.0) * (self.latency_ns or 0.0) if known else None

    def as_dict(self) -> dict[str, Any]:
        """The point as JSON shows it."""
        names = [name for name in self.__slots__ if name not in ("energy_pj", "phases", "spread_ns")]
        energy = {} if self.energy_pj is None else {name: getattr(self, name) for name in ENERGY}
        periodic = {} if self.phases is None else {"phases": self.phases, "spread_ns": self.spread_ns}
        return {name: getattr(self, name) for name in names} | energy | periodic

    def value(self, key: str) -> Any:
        """The value of a swept key: ``topology``, a bench parameter or a key of the topology."""
        if key == "topology":
            return self.topology
        return self.params[key] if key in self.params else self.topo.get(key)


@dataclass(frozen=True, slots=True)
class Sweep(Shows):
    """The points of a sweep, in the order of the grid whatever order they were run in."""

    shown_by = "points:of_sweep"

    bench: str
    points: tuple[SweepPoint, ...]
    anomalies: tuple[dict[str, Any], ...] = ()
    """Points that are slower than one with a worse value of a topology key: ``key value point ns``, and
    ``than_value than_point than_ns`` of the other."""

    @property
    def swept(self) -> list[str]:
        """The keys in which the points differ."""
        # A point without a topology key has the base's value of it; one without a parameter never began.
        keys = dict.fromkeys(["topology", *(name for point in self.points for name in point.params)])
        changed = dict.fromkeys(name for point in self.points for name in point.topo)
        seen = {
            key: {self._text(p, key) for p in self.points if key in {"topology", *p.params}} for key in keys
        }
        seen |= {key: {self._text(point, key) for point in self.points} for key in changed}
        return [key for key, found in seen.items() if len(found) > 1]

    @staticmethod
    def _text(point: SweepPoint, key: str) -> str:
        return json.dumps(point.value(key), default=repr)

    @property
    def note(self) -> str:
        """Caveats of comparing points; empty where there are none."""
        notes = []
        if any(point.phases == 1 for point in self.points):
            notes.append(
                "latencies depend on when memory is refreshed; with phases (--phases 8) they are medians"
            )
        if count := sum(point.estimated for point in self.points):
            notes.append(
                f"estimated, because ranks or periods are alike: {count} of {len(self.points)} points; "
                "'kernbench show RUN' says how far off each may be, and --exact simulates all"
            )
        notes += [
            f"point {one['point']} is slower than {one['than_point']} with a better {one['key']}: {SLOWER}"
            for one in self.anomalies
        ]
        return "\n".join(notes)

    @property
    def failed(self) -> list[SweepPoint]:
        """The points with an error."""
        return [point for point in self.points if point.error]

    @property
    def best(self) -> SweepPoint | None:
        """The fastest point that did not fail, of equal ones the first."""
        good = [p for p in self.points if p.latency_ns is not None and not p.error]
        return min(good, key=lambda point: round(point.latency_ns or 0.0, 6), default=None)

    def with_energy(self, store: Store = None) -> Sweep:
        """The same with the energy of each point's launches, worked out from its run in ``store``."""
        from kernbench.api.energy_use import launches_pj
        from kernbench.api.open_runs import open_run
        from kernbench.api.stores import borrowed

        with borrowed(store) as kept_in:
            return replace(
                self,
                points=tuple(
                    replace(point, energy_pj=math.fsum(launches_pj(open_run(point.run_id, kept_in))))
                    if point.run_id and not point.error
                    else point
                    for point in self.points
                ),
            )

    @property
    def front(self) -> list[SweepPoint]:
        """The Pareto front: points than which no other has both less latency and less energy, by latency."""
        return self.front_of({point.point: point.energy_pj for point in self.points})

    def front_of(self, costs: Mapping[int, float | None]) -> list[SweepPoint]:
        """As :attr:`front`, with these costs, by number of point, for the energy."""
        good = [
            (round(point.latency_ns, 6), cost, point.point, point)
            for point in self.points
            if point.latency_ns is not None and not point.error and (cost := costs[point.point]) is not None
        ]
        found: list[SweepPoint] = []
        least = math.inf
        for _, cost, _, point in sorted(good, key=lambda entry: entry[:3]):
            if cost < least:
                least = cost
                found.append(point)
        return found

    @property
    def _figures(self) -> tuple[str, ...]:
        energy = ENERGY if any(point.energy_pj is not None for point in self.points) else ()
        spread = ("spread_ns",) if any(point.spread_ns is not None for point in self.points) else ()
        return (FIGURES[0], *spread, *energy, *FIGURES[1:])

    def columns(self) -> list[str]:
        """Names of the columns of :meth:`rows`."""
        return ["point", *self.swept, *self._figures]

    def rows(self) -> list[list[Any]]:
        """A row for each point."""
        swept, figures = self.swept, self._figures
        return [
            [point.point, *(point.value(key) for key in swept), *(getattr(point, name) for name in figures)]
            for point in self.points
        ]

    def as_dict(self) -> dict[str, Any]:
        """``bench``, ``swept``, ``points`` and ``anomalies``."""
        return {
            "bench": self.bench,
            "swept": self.swept,
            "points": [point.as_dict() for point in self.points],
            "anomalies": [dict(one) for one in self.anomalies],
        }

    def table(self) -> pa.Table:
        """The rows as an Arrow table; a swept key whose values are of several types becomes text."""
        import pyarrow as pa

        names, rows = ["bench", *self.columns()], [[self.bench, *row] for row in self.rows()]
        return pa.table({name: _array([row[i] for row in rows], name) for i, name in enumerate(names)})

    def to_parquet(self, path: str | os.PathLike[str]) -> None:
        """Write :meth:`table` as a Parquet file, whole or not at all."""
        import pyarrow.parquet as pq

        target = Path(path)
        target.parent.mkdir(parents=True, exist_ok=True)
        with writing(target) as partial:
            pq.write_table(self.table(), partial)


def median_of(rows: Sequence[SweepPoint]) -> SweepPoint:
    """One point of its phases' rows, the first at phase 0: the run in the middle, and the spread of all.

    Where a phase failed, it has that error.
    """
    ordered = sorted(rows, key=lambda row: (bool(row.error), row.latency_ns or 0.0))
    good = [row.latency_ns for row in ordered if row.latency_ns is not None and not row.error]
    middle = ordered[(len(good) - 1) // 2 if good else 0]
    wrong = next((row.error for row in rows if row.error), "")
    return replace(
        middle,
        topo=rows[0].topo,
        error=wrong,
        kept_before=all(row.kept_before for row in rows),
        phases=len(rows),
        spread_ns=good[-1] - good[0] if good else None,
    )


def _array(column: Sequence[Any], name: str) -> pa.Array:
    import pyarrow as pa

    types = {
        **dict.fromkeys(("latency_ns", "sim_ns", "spread_ns", *ENERGY), pa.float64()),
        "verified": pa.bool_(),
    }
    if name in types:
        return pa.array(column, types[name])
    kinds = {type(value) for value in column if value is not None}
    if kinds == {int, float}:
        return pa.array([None if value is None else float(value) for value in column])
    if len(kinds) == 1 and kinds <= {int, float, str, bool}:
        return pa.array(column)
    return pa.array([None if value is None else str(value) for value in column], pa.string())
