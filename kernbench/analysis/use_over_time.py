"""How busy each resource was in each of many stretches of a window: the frames of a picture over time."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from kernbench.analysis.time_window import Window
from kernbench.analysis.window_use import Usage

Floats = NDArray[np.float64]


def use_over_time(
    tables: Mapping[str, pa.Table], window: Window, bins: int
) -> tuple[list[str], Floats, Floats]:
    """Utilisation of each resource in ``bins`` stretches of equal length.

    The rules are those of :func:`kernbench.analysis.window_use.use_within`; all stretches are worked out in
    one pass, so that a million hops take a second. An interval without length counts in the stretch in which
    it begins.

    Args:
        tables: The trace of a run.
        window: The stretches lie between its begin and its end. Time outside of it, between two launches,
            is no part of a stretch; one that lies outside altogether has utilisation 0.
        bins: How many stretches.

    Returns:
        Names of the resources that were used in the run; the ``bins + 1`` edges of the stretches, ns of
        simulated time; utilisation, 0 to 1, a row for each stretch and a column for each resource.
    """
    usage = Usage(tables)
    names = usage.recorded["resource"]
    begin = window.spans[0][0] if window.spans else 0.0
    end = window.spans[-1][1] if window.spans else begin
    edges = np.linspace(begin, end, bins + 1)
    busy = np.zeros((bins, len(names)))
    for where, weight, first, last in usage.busy:
        busy += spread(window, edges, where, weight, first, last, len(names))
    whole = usage.whole["busy"]
    scale = np.where(whole > 0, 1.0 / np.where(whole > 0, whole, 1.0), 0.0)
    busy_ns = (busy * scale)[:, usage.parts] * usage.recorded["busy_ns"]
    lengths = np.diff(window.covered(edges))[:, np.newaxis]
    shares = np.divide(busy_ns, lengths, out=np.zeros_like(busy_ns), where=lengths > 0)
    return names.tolist(), edges, np.minimum(shares, 1.0)


def spread(
    window: Window,
    edges: Floats,
    where: NDArray[np.int64],
    weight: Floats,
    begin: Floats,
    end: Floats,
    count: int,
) -> Floats:
    """The part of each weight that lies within each stretch, summed by resource."""
    if not len(where):
        return np.zeros((len(edges) - 1, count))
    first, last = window.covered(begin), window.covered(end)
    length = end - begin
    point = length <= 0
    inside = window.touches(begin, end)
    per_ns = np.where(point, 0.0, weight / np.where(point, 1.0, length))
    points = weight * (point & inside)
    sums = []
    for edge, covered in zip(edges, window.covered(edges), strict=True):
        before = np.clip(covered, first, last) - first
        sums.append(np.bincount(where, per_ns * before + points * (begin < edge), minlength=count))
    if point.any():
        # What happens at the very end belongs to the last stretch.
        sums[-1] = sums[-1] + np.bincount(where, points * (begin >= edges[-1]), minlength=count)
    return np.diff(np.array(sums), axis=0)
