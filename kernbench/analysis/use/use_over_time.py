"""How busy each resource was in each of many intervals of a window: the frames of a picture over time."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa

from kernbench.analysis.windows.busy_course import Course
from kernbench.analysis.windows.time_window import Floats, Window
from kernbench.analysis.windows.window_use import Usage


def use_over_time(
    tables: Mapping[str, pa.Table], window: Window, bins: int
) -> tuple[list[str], Floats, Floats]:
    """Utilisation of each resource in ``bins`` intervals of equal length.

    The rules are those of :func:`kernbench.analysis.windows.window_use.use_within`; all intervals are worked
    out in one pass, so that a million hops take a second.

    Args:
        tables: The trace of a run.
        window: The intervals lie between its start and its end. Time outside of it, between two launches,
            belongs to no interval; an interval that lies wholly outside has utilisation 0.
        bins: How many intervals.

    Returns:
        Names of the resources that were used in the run; the ``bins + 1`` edges of the intervals, ns of
        simulated time; utilisation, 0 to 1, a row for each interval and a column for each resource.
    """
    usage = Usage(tables)
    names = usage.recorded["resource"]
    begin = window.spans[0][0] if window.spans else 0.0
    end = window.spans[-1][1] if window.spans else begin
    edges = np.linspace(begin, end, bins + 1)
    covered = window.covered(edges)
    course = usage.beyond.course(usage.course) if window.accounted and usage.beyond else usage.course
    busy_ns = spread(course, window, covered, len(names))
    lengths = np.diff(covered)[:, np.newaxis]
    shares = np.divide(busy_ns, lengths, out=np.zeros_like(busy_ns), where=lengths > 0)
    return names.tolist(), edges, np.minimum(shares, 1.0)  # last bits of sums could exceed it


def spread(course: Course, window: Window, covered: Floats, count: int) -> Floats:
    """Time in service in each interval at each of ``count`` places, ns.

    ``covered``: ns of the window before each edge of the intervals.
    """
    first, last = window.covered(course.begin), window.covered(course.end)
    rate = course.ns / (course.end - course.begin)
    served = [
        np.bincount(course.where, rate * (np.clip(edge, first, last) - first), minlength=count)
        for edge in covered
    ]
    return np.diff(np.array(served), axis=0)
