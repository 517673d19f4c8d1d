"""Windows of a run: a launch, all launches, the setup outside of them, or any interval.

A window selects what summaries, questions, pictures and critical paths show. The use of a machine
within one is worked out in :mod:`kernbench.analysis.windows.window_use`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernbench.analysis.path.path_steps import CriticalPath
from kernbench.analysis.windows.chosen_window import ALL, RUN, SETUP
from kernbench.errors import UsageError
from kernbench.support.pgraph import span_of, under_way

WHOLE = "the whole run"

PARTIAL = "partial"
"""Status of a run that was stopped and partly kept."""
_SAME_NS = 1e-9

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Window:
    """Intervals (``(begin, end)`` in ns, disjoint, ascending) with a name for people."""

    name: str
    spans: tuple[tuple[float, float], ...]
    launch: int | None = None
    """The number of the launch that it is, where it is exactly one."""
    launches: tuple[int, ...] = ()
    """The numbers of the launches that it is, or is a part of."""
    accounted: bool = field(default=False, compare=False)
    """Whether it has its share of what the run accounts for without having simulated it."""

    @property
    def ns(self) -> float:
        """Its length, ns."""
        return math.fsum(time for begin, end in self.spans for time in (end, -begin))

    def check_time(self) -> None:
        """``UsageError`` where there is no time in it."""
        if self.ns <= 0:
            raise UsageError(f"{self.name} is empty; choose another window, or 'run' for all")

    def covered(self, times: Floats) -> Floats:
        """ns of the window before each of ``times``."""
        if not self.spans:
            return np.zeros(len(times))
        edges = np.array([edge for span in self.spans for edge in span])
        lengths = np.diff(edges)
        lengths[1::2] = 0.0
        return np.asarray(np.interp(times, edges, np.concatenate([[0.0], np.cumsum(lengths)])))

    def share(self, begin: Floats, end: Floats) -> Floats:
        """Share of each interval that lies within; of an interval without length 1 where it lies within."""
        length = end - begin
        shares = self.contains(begin).astype(np.float64)
        # Most waits have no length: what has one is looked at alone.
        some = np.flatnonzero(length > 0)
        shares[some] = (self.covered(end[some]) - self.covered(begin[some])) / length[some]
        return shares

    def contains(self, times: Floats) -> NDArray[np.bool_]:
        """Whether each of ``times`` lies within, the ends of an interval too."""
        if not self.spans:
            return np.zeros(len(times), np.bool_)
        begin, end = (np.array(edges) for edges in zip(*self.spans, strict=True))
        last = np.searchsorted(begin, times, side="right") - 1
        return (last >= 0) & (times <= end[last])

    def cut(self, begin: float, end: float) -> Window:
        """The part of it that lies between two times."""
        spans = ((max(a, begin), min(b, end)) for a, b in self.spans)
        return Window(self.name, tuple(span for span in spans if span[0] < span[1]))

    def touches(self, begin: Floats, end: Floats) -> NDArray[np.bool_]:
        """Whether a part of each interval lies within; times less than 1e-9 ns apart are one."""
        if not self.spans:
            return np.zeros(len(begin), np.bool_)
        first, last = (np.array(edges) for edges in zip(*self.spans, strict=True))
        # Intervals ascend: of those that end late enough, the first one begins first.
        at = np.searchsorted(last - _SAME_NS, begin, side="right")
        after = np.append(first, np.inf)
        found = end > after[at] + _SAME_NS
        point = np.flatnonzero(end - begin < _SAME_NS)
        at = np.searchsorted(last + _SAME_NS, end[point], side="right")
        found[point] |= begin[point] > after[at] - _SAME_NS
        return np.asarray(found)

    def clip(self, path: CriticalPath) -> CriticalPath:
        """The parts of ``path``'s steps that lie within, in order."""
        steps = []
        spans = iter(self.spans)
        span = next(spans, None)
        for step in path.steps:
            while span is not None and span[0] < step.t_end:
                begin, end = max(step.t_start, span[0]), min(step.t_end, span[1])
                if (begin, end) == (step.t_start, step.t_end):
                    steps.append(step)
                elif begin < end:
                    steps.append(replace(step, t_start=begin, t_end=end))
                if span[1] > step.t_end:
                    break
                span = next(spans, None)
        begin, end = (self.spans[0][0], self.spans[-1][1]) if self.spans else (path.t_start, path.t_start)
        return CriticalPath(begin, end, tuple(steps), path.paths, gaps_ns=end - begin - self.ns)


class Intervals:
    """Intervals in arrays, of which those near a window are found without looking at the others."""

    def __init__(self, begin: Floats, end: Floats) -> None:
        self._order = np.argsort(begin, kind="stable")
        self._begin = begin[self._order]
        self._latest = np.maximum.accumulate(end[self._order])

    def near(self, window: Window) -> NDArray[np.int64]:
        """Rows that may have a part within ``window``, ascending: none that has one is left out."""
        if not window.spans:
            return np.zeros(0, np.int64)
        first = np.searchsorted(self._latest, window.spans[0][0], "left")
        after = np.searchsorted(self._begin, window.spans[-1][1], "right")
        return np.sort(self._order[first:after])


def select(
    info: Mapping[str, Any],
    launch: int | str | None = None,
    from_ns: float | None = None,
    to_ns: float | None = None,
) -> Window:
    """The window of a run that is meant.

    Args:
        info: The run's properties: ``sim_ns`` and ``launches``; ``flows`` of a run of plain traffic.
        launch: A launch's number (from 0; text too), ``all`` launches, ``setup``: the time outside of them,
            or ``run`` or None: all of the run. Without launches ``all`` is the makespan of plain traffic,
            else the whole run.
        from_ns: Start of the time range.
        to_ns: End of the time range.

    Raises:
        UsageError: There is no such launch, or nothing lies between ``from_ns`` and ``to_ns``.
    """
    launches: Sequence[Mapping[str, Any]] = info.get("launches") or []
    sim_ns = float(info["sim_ns"])
    number: int | None = None
    numbers: tuple[int, ...] = ()
    accounted = False
    if launch is None or launch == RUN:
        name, spans, accounted = WHOLE, [(0.0, sim_ns)], True
    elif launch == ALL and not launches:
        spans = [_makespan(info.get("flows") or [], sim_ns)]
        name = WHOLE if spans == [(0.0, sim_ns)] else "the makespan"
    elif launch == SETUP:
        name, spans, accounted = "setup", _outside(under_way(info, launches), sim_ns), True
    elif launch == ALL and len(launches) > 1:
        name, spans = f"the kernels of {len(launches)} launches", under_way(info, launches)
        accounted = True
        numbers = tuple(range(len(launches)))
    else:
        number = _number(0 if launch == ALL else launch, len(launches))
        name, spans = f"the kernel of launch {number}", [span_of(info, launches[number])]
        numbers = (number,)
    if from_ns or to_ns is not None:
        begin, end = max(from_ns or 0.0, 0.0), sim_ns if to_ns is None else min(to_ns, sim_ns)
        if not begin < end:
            raise UsageError(
                f"the time range {begin:g} to {end:g} ns is empty; the run lasts from 0 to {sim_ns:.3f} ns"
            )
        whole = ", ".join(f"{a:.3f} to {b:.3f}" for a, b in spans[:3]) + (", ..." if len(spans) > 3 else "")
        asked = name
        spans = [(max(a, begin), min(b, end)) for a, b in spans if min(b, end) > max(a, begin)]
        name, number = f"{name} from {begin:.3f} to {end:.3f} ns", None
        accounted = False
        if not spans:
            raise UsageError(
                f"nothing in {name}: time of {asked} in the run is {whole} ns; "
                "choose a time within it, or --launch run"
            )
    return Window(name, tuple(spans), number, numbers, accounted)


def _number(launch: int | str, count: int) -> int:
    try:
        number = int(launch)
    except ValueError:
        raise UsageError(f"launch '{launch}' is not known; give a number from 0, all, setup or run") from None
    if not 0 <= number < count:
        raise UsageError(f"the run has no launch {number}; it has {count}, counted from 0")
    return number


def _makespan(flows: Sequence[Mapping[str, Any]], sim_ns: float) -> tuple[float, float]:
    """From the start of the first transfer to the end of the last; the whole run if there are no flows."""
    begin = min((float(flow["start_ns"]) for flow in flows), default=0.0)
    end = max((float(flow["end_ns"]) for flow in flows), default=sim_ns)
    return begin, sim_ns if abs(sim_ns - end) < _SAME_NS else end


def _outside(spans: Sequence[tuple[float, float]], sim_ns: float) -> list[tuple[float, float]]:
    edges = [0.0, *(edge for span in spans for edge in span), sim_ns]
    return [(a, b) for a, b in zip(edges[::2], edges[1::2], strict=True) if b > a]
