"""When a place was busy: the course of its service, worked out from what its hops and operations record.

A hop records when its first flit was served and when its last one left; between the two the flits of several
hops may take turns, and which one the place served when is not recorded. What is known of any time is that
the place had served all that had left by then, and nothing that had not begun, and never more than it can. Of
the courses that fit, this one is taken: each hop's service is spread evenly over its stay. Where that were
more than the place can do, the rest is served as soon as it has room for it, but never after what it belongs
to has left. For hops that were served one after another, as those at a crowded memory slice are, that is
exactly when the place was busy.

A course is intervals of even service, which together never serve more than the place can. So the use of a
place in a window is a sum over the parts of its intervals in there, never more than the window, and windows
that divide a time range divide its use.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernbench.analysis.trace_tables import Ints
from kernbench.analysis.windows.time_window import Floats, Window

_MORE = 1e-9
"""What a rate exceeds 1 by for rounding alone."""
_POINT = 1e-9
"""ns below which a stay has no length."""
_SAME = 1e-12
"""Rates that differ by so little are one."""


class Course(NamedTuple):
    """Intervals of even service, in arrays.

    They are the stays themselves where all of these fit beside each other; else they are disjoint.
    """

    where: Ints
    ns: Floats
    """Time in service within the interval."""
    begin: Floats
    end: Floats

    def within(self, window: Window, count: int, near: Ints | slice = slice(None)) -> Floats:
        """Time in service within ``window`` at each of ``count`` places, ns.

        ``near`` are the rows that may have a part there, if they are known.
        """
        share = window.share(self.begin[near], self.end[near])
        return np.asarray(np.bincount(self.where[near], self.ns[near] * share, minlength=count), np.float64)


def course_of(where: Ints, work: Floats, begin: Floats, end: Floats) -> Course:
    """The course of service at each place.

    Args:
        where: Of each stay its place.
        work: For how long the place serves it, ns.
        begin: When its service begins, ns; from 0 on.
        end: When it has left.
    """
    some = np.flatnonzero(work > 0)
    where, work, begin, end = where[some], work[some], begin[some], end[some]
    if not len(some):
        return Course(where, work, begin, end)
    place, time, change, jump, left = _changes(where, work, begin, end)
    crowded = np.unique(place[(_rates(*change) > 1.0 + _MORE) | (jump > 0)])
    plain = ~np.isin(where, crowded)
    parts = [Course(where[plain], work[plain], begin[plain], end[plain])]
    edges = zip(np.searchsorted(place, crowded), np.searchsorted(place, crowded, "right"), strict=True)
    for number, (first, after) in zip(crowded.tolist(), edges, strict=True):
        one = slice(first, after)
        rate = _rates(change[0][one], change[1][one])
        parts.append(_merge(_share_out(number, time[one], rate, jump[one], left[one])))
    return Course(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))


def _changes(
    where: Ints, work: Floats, begin: Floats, end: Floats
) -> tuple[Ints, Floats, tuple[Floats, Ints], Floats, Floats]:
    """Each place's times at which something begins or leaves, in order, and what changes there.

    That is by how much the rate and the number of those present change; the work of stays without length; and
    the work of all that leave.
    """
    length = end - begin
    point = length < _POINT
    rate = np.where(point, 0.0, work / np.where(point, 1.0, length))
    none = np.zeros(len(where))
    there = np.where(point, 0, 1)
    place, time = np.concatenate([where, where]), np.concatenate([begin, end])
    order = np.lexsort((time, place))
    place, time = place[order], time[order]
    first = np.flatnonzero(np.concatenate([[True], (place[1:] != place[:-1]) | (time[1:] != time[:-1])]))

    def summed(at_begin: NDArray[Any], at_end: NDArray[Any]) -> NDArray[Any]:
        return np.add.reduceat(np.concatenate([at_begin, at_end])[order], first)

    changes = summed(rate, -rate), summed(there, -there)
    return place[first], time[first], changes, summed(np.where(point, work, 0.0), none), summed(none, work)


def _rates(change: Floats, there: Ints) -> Floats:
    """The rate from each time on, from how it and the number of those present change."""
    rate = np.cumsum(change)
    rate[np.cumsum(there) == 0] = 0.0  # nothing is there: no last bits either
    return rate


def _share_out(place: int, time: Floats, rate: Floats, jump: Floats, left: Floats) -> Course:
    """The course of one place that cannot serve all stays evenly.

    ``rate`` is that from each time on, ``jump`` and ``left`` the work that comes and leaves at the time.
    """
    step = np.diff(time)
    evenly = np.concatenate([[0.0], np.cumsum(rate[:-1] * step + jump[:-1])])  # just before each time
    after = evenly + jump
    gone = np.cumsum(left)
    # Served by a time: as soon as there is room; and at the latest, for all to leave when they do.
    soon = time + np.minimum.accumulate(evenly - time)
    late = time + np.maximum.accumulate((gone - time)[::-1])[::-1]
    # Between two times the former slows down where nothing is left over, the latter begins.
    idle = 1.0 - rate[:-1]
    slows = time[:-1] + np.where(idle > 0, (after - soon)[:-1] / np.where(idle > 0, idle, 1.0), step)
    starts = time[1:] - (late[1:] - gone[:-1])
    at = np.concatenate([np.arange(len(step))] * 2)
    between = np.concatenate([slows, starts])
    inside = (between > time[at]) & (between < time[at + 1])
    at, between = at[inside], between[inside]
    ns = between - time[at]
    order = np.argsort(np.concatenate([time, between]), kind="stable")
    times, soon, late = (
        np.concatenate(values)[order]
        for values in (
            (time, between),
            (soon, np.minimum(after[at] + rate[at] * ns, soon[at] + ns)),
            (late, np.maximum(gone[at], late[at + 1] - (time[at + 1] - between))),
        )
    )
    times, served = _with(times, np.maximum(soon, late), _meeting(times, soon, late), soon)

    # What is recorded to be served faster than the place can begins before, and at a run's start ends after.
    total = float(gone[-1])
    ahead = max(float(times[0]) - max(float(served[0]), 0.0), 0.0)
    times = np.concatenate([[ahead], times, [max(float(times[-1]), total)]])
    served = np.concatenate([[0.0], np.clip(served, 0.0, total), [total]])
    times, served = _with(times, np.minimum(served, times), _meeting(times, served, times), times)
    return Course(
        np.full(len(times) - 1, place), np.diff(np.maximum.accumulate(served)), times[:-1], times[1:]
    )


def _meeting(times: Floats, one: Floats, other: Floats) -> Floats:
    """Where two lines with these values at ``times`` cross in between."""
    apart = one - other
    at = np.flatnonzero(apart[:-1] * apart[1:] < 0)
    return np.asarray(times[at] + (times[at + 1] - times[at]) * apart[at] / (apart[at] - apart[at + 1]))


def _with(times: Floats, values: Floats, more: Floats, line: Floats) -> tuple[Floats, Floats]:
    """``times`` and ``values``, with those of ``line`` at ``more`` times."""
    order = np.argsort(np.concatenate([times, more]), kind="stable")
    found = np.concatenate([values, np.interp(more, times, line)])
    return np.concatenate([times, more])[order], found[order]


def _merge(course: Course) -> Course:
    """Neighbours of one rate are one interval; those without service are left out."""
    some = (course.end > course.begin) & (course.ns > _SAME * (course.end - course.begin))  # no last bits
    where, ns, begin, end = course.where[some], course.ns[some], course.begin[some], course.end[some]
    if not len(where):  # its work is nothing beside the time for which it stays
        return Course(where, ns, begin, end)
    rate = ns / (end - begin)
    joined = (where[1:] == where[:-1]) & (begin[1:] == end[:-1])
    joined &= np.abs(rate[1:] - rate[:-1]) <= _SAME * np.maximum(rate[1:], rate[:-1])
    first = np.flatnonzero(np.concatenate([[True], ~joined]))
    last = np.append(first[1:], len(where)) - 1
    return Course(where[first], np.add.reduceat(ns, first), begin[first], end[last])
