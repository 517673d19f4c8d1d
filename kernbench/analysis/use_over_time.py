"""How busy each resource was in each of many stretches of a window: the frames of a picture over time."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from kernbench.analysis.occupancy import united
from kernbench.analysis.time_window import Window
from kernbench.analysis.window_use import BY_OPERATION, rows_of, stands_for
from kernbench.kinds import COMPONENT_KINDS

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
    used = {name: tables["Use"][name].to_numpy() for name in ("resource", "is_link", "kind", "busy_ns")}
    names, kinds = used["resource"], used["kind"]
    index = {name: number for number, name in enumerate(names.tolist())}
    begin = window.spans[0][0] if window.spans else 0.0
    end = window.spans[-1][1] if window.spans else begin
    edges = np.linspace(begin, end, bins + 1)
    busy = np.zeros((bins, len(names)))
    whole = np.zeros(len(names))
    for where, weight, first, last in _entries(tables, used, index):
        whole += np.bincount(where, weight, minlength=len(names))
        busy += spread(window, edges, where, weight, first, last, len(names))
    parts = np.arange(len(names))
    for number in np.flatnonzero(whole == 0).tolist():
        parts[number] = stands_for(number, names[number], kinds, index)
    scale = np.where(whole > 0, 1.0 / np.where(whole > 0, whole, 1.0), 0.0)
    busy_ns = (busy * scale)[:, parts] * used["busy_ns"]
    lengths = np.diff(window.covered(edges))[:, np.newaxis]
    shares = np.divide(busy_ns, lengths, out=np.zeros_like(busy_ns), where=lengths > 0)
    return names.tolist(), edges, np.minimum(shares, 1.0)


def _entries(
    tables: Mapping[str, pa.Table], used: Mapping[str, NDArray[np.generic]], index: Mapping[str, int]
) -> list[tuple[NDArray[np.int64], Floats, Floats, Floats]]:
    """Where, weight, begin and end of what keeps resources busy: hops, and the operations of engines."""
    kinds = used["kind"]
    by_op = np.array([kind in BY_OPERATION for kind in kinds], dtype=bool)
    memory = np.array([k in COMPONENT_KINDS and COMPONENT_KINDS[str(k)].memory for k in kinds], dtype=bool)
    at = rows_of(tables["Hop"]["resource"], index)
    hop = (at >= 0) & ~by_op[at]
    where = at[hop]
    weighs = used["is_link"].astype(bool) | memory
    weight = np.where(weighs[where], tables["Hop"]["bytes"].to_numpy()[hop], 1.0)
    begin, end = (tables["Hop"][name].to_numpy()[hop] for name in ("t_start", "t_out"))
    on = rows_of(tables["Op"]["component"], index)
    op = (on >= 0) & by_op[on]
    starts, ends = (tables["Op"][name].to_numpy()[op] for name in ("t_start", "t_end"))
    at, starts, ends = united(on[op], starts, ends)
    return [(where, weight, begin, end), (at, ends - starts, starts, ends)]


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
