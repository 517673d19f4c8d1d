"""Statistics of rows that were measured: errors, and whether the model puts cases in the right order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, groupby
from statistics import median

import numpy as np

from kernbench.validation.table_file import Case

LEAST_ROWS = {"median": 3, "worst": 3, "tau": 5, "90th": 10}
"""Rows below which a statistic says nothing."""
LEAST_SHAPES = 5
"""Shapes, of more than three rows each, below which a median over them says nothing."""
_SHARES = {"median": 0.5, "90th": 0.9, "worst": 1.0}
Found = tuple[Case, float, float]
"""Settings of a case, its reference, and ours."""


@dataclass(frozen=True, slots=True)
class Statistic:
    """A figure over ``rows`` of the ``known`` ones; None where they are too few for it."""

    figure: float | None
    rows: int
    known: int


def statistic(what: str, found: Sequence[Found], known: int) -> Statistic:
    """``what`` of rows: median, 90th or worst error in %, tau (Kendall's), tau in a shape, or loss.

    Loss is what the configuration predicted fastest takes longer than the fastest of its shape, %; as
    ``tau in a shape`` it is the median over the shapes that have more than three rows.
    """
    pairs = [(reference, ours) for _, reference, ours in found]
    figure: float | None = None
    if what in ("tau in a shape", "loss"):
        value = _loss if what == "loss" else _tau
        shapes = [value(alike) for alike in _by_shape(found)]
        figure = median(shapes) if len(shapes) >= LEAST_SHAPES else None
    elif len(found) >= LEAST_ROWS[what]:
        errors = [100 * abs(ours / reference - 1) for reference, ours in pairs]
        figure = _tau(pairs) if what == "tau" else float(np.quantile(errors, _SHARES[what]))
    return Statistic(figure, len(found), known)


def _by_shape(found: Sequence[Found]) -> Iterator[list[tuple[float, float]]]:
    def shape(one: Found) -> list[int]:
        return [int(one[0][key]) for key in "mnk"]

    for _, same in groupby(sorted(found, key=shape), shape):
        alike = [(reference, ours) for _, reference, ours in same]
        if len(alike) > 3:
            yield alike


def _tau(pairs: Sequence[tuple[float, float]]) -> float:
    """Kendall's: how much oftener two are in the same order than not, as a share of all."""
    both = [(a - c) * (b - d) for (a, b), (c, d) in combinations(pairs, 2)]
    return sum((one > 0) - (one < 0) for one in both) / len(both)


def _loss(pairs: Sequence[tuple[float, float]]) -> float:
    chosen = min(pairs, key=lambda one: one[1])[0]
    return 100 * (chosen / min(reference for reference, _ in pairs) - 1)
