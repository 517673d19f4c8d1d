"""What a simulated service answers: a point for each rate, and what is said of all."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from math import inf, isnan
from pathlib import Path
from typing import Any, ClassVar

from kernbench.api.shown import Shows, flat_rows
from kernbench.draw.content import Flat
from kernbench.support.written_files import write_csv
from kernbench.workloads.serving.limits import Limits
from kernbench.workloads.serving.measures import (
    RequestTimes,
    Row,
    Target,
    over_time,
    percentiles,
    totals,
    waits,
)
from kernbench.workloads.serving.request import CAUSES
from kernbench.workloads.serving.served import Served
from kernbench.workloads.serving.step_table import Bar

REQUEST = ("request", "arrive_ns", "prompt", "output", "admit_ns", "first_ns", "done_ns", "ttft_ns",
           "tpot_ns", "latency_ns", "preempted", "refused",
           *(f"waited_for_{cause}_ns" for cause in CAUSES))  # fmt: skip


@dataclass(frozen=True, slots=True)
class ServingPoint:
    """A service under one load; see :mod:`kernbench.workloads.serving.measures` for what rows hold."""

    rate: float
    """Requests a second that were asked for; of a trace without a rate, those that it has."""
    served: Served
    times: RequestTimes
    totals: Row
    percentiles: Sequence[Row]

    @classmethod
    def of(cls, served: Served, target: Target, rate: float | None) -> ServingPoint:
        """The figures of ``served``; ``rate`` is the rate that was asked for, if any."""
        rate = served.load.rate if rate is None else rate
        times = RequestTimes.of(served)
        return cls(rate, served, times, totals(served, times, target), percentiles(times))

    def curve_row(self) -> Row:
        """One line of a curve over rates: totals, and mean and percentiles of each time."""
        return {"rate": self.rate} | self.totals | {
            f"{row['time']}_{name}": value
            for row in self.percentiles for name, value in row.items() if name != "time"
        }  # fmt: skip

    def requests(self) -> list[Row]:
        """A row a request, in order of arrival, with the columns ``REQUEST``; None for what never was."""
        served, load = self.served, self.served.load
        place = {int(number): at for at, number in enumerate(self.times.number)}
        rows = []
        for number, arrive_ns in enumerate(load.arrive_ns.tolist()):
            at = place.get(number)
            known: dict[str, Any] = {}
            if at is not None:
                times = self.times
                known = {
                    "admit_ns": served.admit_ns[number],
                    "first_ns": served.first_ns[number],
                    "done_ns": served.done_ns[number],
                    "ttft_ns": float(times.ttft[at]),
                    "tpot_ns": None if isnan(times.tpot[at]) else float(times.tpot[at]),
                    "latency_ns": float(times.latency[at]),
                    "preempted": served.preemptions.get(number, 0),
                }
                waited = served.waits.get(number, (0.0,) * len(CAUSES))
                known |= {f"waited_for_{c}_ns": ns for c, ns in zip(CAUSES, waited, strict=True)}
            row = {"request": number, "arrive_ns": arrive_ns, "prompt": int(load.prompt[number]),
                   "output": int(load.output[number]), **known, "refused": at is None}  # fmt: skip
            rows.append({name: row.get(name) for name in REQUEST})
        return rows


@dataclass(frozen=True, slots=True)
class Serving(Shows):
    """A simulated service: ``points`` in order of their rates.

    ``knee`` is the highest rate found at which 99 % of the requests keep the target; None where no target
    was given, or no rate keeps it. ``bars``: how far off interpolation between simulated steps is, by phase.
    """

    shown_by: ClassVar[str] = "serving:content"
    model: str
    machine: str
    packages: int
    """Packages of each machine."""
    replicas: int
    policy: str
    asked: Mapping[str, str]
    """The load, in words: ``prompt``, ``output``, ``requests``, ``seed``, or ``trace``."""
    limits: Limits
    target: Target
    points: Sequence[ServingPoint]
    knee: float | None = None
    bars: Mapping[str, Bar] = field(default_factory=dict)
    steps: Sequence[Row] = ()
    """The simulated steps: ``phase batch tokens ns``, tokens of each sequence."""
    notes: Sequence[str] = ()

    @property
    def point(self) -> ServingPoint:
        """The one that is shown whole: at the knee, else of the highest rate."""
        return next((point for point in self.points if point.rate == self.knee), self.points[-1])

    def curve(self) -> list[Row]:
        """A row a rate."""
        return [point.curve_row() for point in self.points]

    def flat(self) -> Flat:
        """The curve, as CSV shows it."""
        return flat_rows(self.curve())

    def as_dict(self) -> dict[str, Any]:
        """All but single requests, as JSON shows it."""
        return {
            "model": self.model,
            "machine": self.machine,
            "packages": self.packages,
            "replicas": self.replicas,
            "policy": self.policy,
            "asked": dict(self.asked),
            "limits": asdict(self.limits),
            "target": {name: ns if ns < inf else None for name, ns in asdict(self.target).items()},
            "knee": self.knee,
            "curve": self.curve(),
            "percentiles": list(self.point.percentiles),
            "waits": waits(self.point.served),
            "over_time": over_time(self.point.served),
            "steps": list(self.steps),
            "bars": {phase: asdict(bar) for phase, bar in self.bars.items()},
            "notes": list(self.notes),
        }

    def write_requests(self, path: str | os.PathLike[str]) -> None:
        """Write a row for each request of :attr:`point` as CSV."""
        write_csv(Path(path), REQUEST, self.point.requests())
