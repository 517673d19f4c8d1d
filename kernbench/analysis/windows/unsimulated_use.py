"""Use of a run's parts that it accounts for without having simulated it: the table ``Beyond``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from kernbench.analysis.windows.busy_course import Course

Columns = Mapping[str, NDArray[Any]]
COUNTED = ("bytes", "busy_ns", "wait_ns", "transactions")


def _bases(tables: Mapping[str, pa.Table]) -> Iterator[tuple[tuple[float, float], int, tuple[float, float]]]:
    """Of each repeat its last simulated period, and how often it happens; of packages their launches, 0."""
    launched_at = min(tables["Launch"]["t_start"].to_pylist(), default=0.0)
    for one in tables["Repeat"].to_pylist():
        begin, end = one["from_ns"], one["to_ns"]
        if one["kind"] == "repeat":
            yield (begin - one["period_ns"], begin), one["times"], (begin, end)
        else:
            yield (launched_at, end), 0, (launched_at, end)


class Beyond:
    """The table of that name: what is accounted for at each of a run's parts, the columns of ``use``."""

    def __init__(self, tables: Mapping[str, pa.Table], use: Columns) -> None:
        names = use["resource"].tolist()
        row = {name: number for number, name in enumerate(names)}
        table = tables.get("Beyond")
        rows = table.to_pylist() if table is not None else []
        self.like = like = {one["resource"]: one["like"] for one in rows if one["like"] != one["resource"]}
        """By part of a package that was not simulated the one in its place that was."""
        there = [one for one in rows if one["resource"] in row]
        self._at = np.array([row[one["resource"]] for one in there], np.int64)
        self._like = np.array([row[like.get(one["resource"], one["resource"])] for one in there], np.int64)
        self._of = np.array([one["repeat"] for one in there], np.int64)
        self._values = {key: np.array([one[key] for one in there], np.float64) for key in COUNTED}
        bases = list(_bases(tables)) if there else []
        self.bases = [(base, times) for base, times, _ in bases]
        """By repeat, the simulated interval that stands for it, and how many periods were not simulated;
        of packages 0."""
        self._spans = np.array([span for *_, span in bases], np.float64).reshape(-1, 2)
        self._count = len(names)
        self.whole = {key: self._sum(values) for key, values in self._values.items()}
        """All of it by part."""

    def __bool__(self) -> bool:
        return len(self._at) > 0

    def simulated(self, use: Columns) -> dict[str, NDArray[Any]]:
        """The columns ``use`` of the whole run without it."""
        if not self:
            return dict(use)
        return {
            key: (values - self.whole[key]).astype(values.dtype) if key in COUNTED else values
            for key, values in use.items()
        }

    def share(self, number: int, key: str, within: NDArray[Any], whole: NDArray[Any]) -> NDArray[Any]:
        """What a window has of a repeat by part: as it has ``within`` of the ``whole`` that it is like."""
        part = np.where(whole > 0, within / np.where(whole > 0, whole, 1.0), 0.0)
        return self._sum(self._values[key] * part[self._like] * (self._of == number))

    def course(self, simulated: Course) -> Course:
        """When parts are busy, with what is accounted for spread evenly over its time."""
        begin, end = self._spans[self._of].T
        more = Course(self._at, self._values["busy_ns"], begin, end)
        return Course(*(np.concatenate(columns) for columns in zip(simulated, more, strict=True)))

    def _sum(self, values: NDArray[Any]) -> NDArray[Any]:
        return np.asarray(np.bincount(self._at, values, minlength=self._count))
