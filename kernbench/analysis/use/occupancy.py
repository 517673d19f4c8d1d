"""Occupancy: for how much of a window something of a resource's own was there.

A part is occupied while at least one of its operations is under way, or at least one transaction is there,
from the service of its first flit to the departure of its last. Overlaps count once. Something may be there
only to wait for another part, so a resource can be occupied all the time and hardly utilised: a read that
waits for its memory occupies the DMA engine that sent it.

Every timeline, table and question takes its occupancy from here.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from kernbench.analysis.trace_tables import Ints, Texts
from kernbench.analysis.windows.time_window import Floats, Intervals, Window
from kernbench.analysis.windows.unsimulated_use import Beyond
from kernbench.hardware.kinds import COMPONENT_KINDS, LINK_KINDS

Use = Mapping[str, NDArray[Any]]


def with_occupancy(use: Use, tables: Mapping[str, pa.Table], window: Window) -> dict[str, NDArray[Any]]:
    """The columns ``use`` of a window with those of :meth:`Occupation.of`."""
    return Occupation(tables).of(use, window)


def occupied_ns(tables: Mapping[str, pa.Table], window: Window) -> dict[str, float]:
    """ns of ``window`` for which each resource was occupied, of those that operations or hops name."""
    return Occupation(tables).ns(window)


class Occupation:
    """When the resources of a run were occupied, for any number of windows."""

    def __init__(self, tables: Mapping[str, pa.Table]) -> None:
        hop, op = tables["Hop"], tables["Op"]
        hops, ops = Texts(hop["resource"]), Texts(op["component"])
        self._beyond = Beyond(tables, {"resource": tables["Use"]["resource"].to_numpy()})
        self.names = list(dict.fromkeys((*hops.all(), *ops.all())))
        number = {name: at for at, name in enumerate(self.names)}
        where = np.concatenate(
            [np.array([number[name] for name in texts.all()], np.int64)[texts.codes] for texts in (hops, ops)]
        )
        start, end = (
            np.concatenate([hop[of_hop].to_numpy(), op[of_op].to_numpy()])
            for of_hop, of_op in (("t_start", "t_start"), ("t_out", "t_end"))
        )
        self.times = unite(where, start, end)
        """Index of the name, start and end of each time for which something was there."""
        self._intervals = Intervals(*self.times[1:])

    def ns(self, window: Window) -> dict[str, float]:
        """ns of ``window`` for which each resource was occupied, of those that operations or hops name."""
        near = self._intervals.near(window)
        where, start, end = self.times
        within = _within(window, len(self.names), where[near], start[near], end[near])
        return dict(zip(self.names, within.tolist(), strict=True))

    def of(self, use: Use, window: Window) -> dict[str, NDArray[Any]]:
        """The columns ``use`` of a window with ``occupied_ns`` and ``occupancy``, its share of the window.

        Resources that record no times of their own, which are the wires within a PE, its CPU and the
        pseudo-channels of a slice, serve without a gap whatever they serve: they are occupied for as long as
        they are busy.
        """
        known = self._with_accounted(window) if window.accounted and self._beyond else self.ns(window)
        columns = zip(use["resource"].tolist(), use["kind"].tolist(), use["busy_ns"].tolist(), strict=True)
        ns = np.array(
            [known.get(name, 0.0) if has_times(kind) else busy for name, kind, busy in columns], np.float64
        )
        return {**use, "occupied_ns": ns, "occupancy": ns / window.ns if window.ns > 0 else ns * 0.0}

    def _with_accounted(self, window: Window) -> dict[str, float]:
        """As :meth:`ns`, with what the run accounts for: packages as the one that they do the same as."""

        def there(window: Window) -> dict[str, float]:
            ns = self.ns(window)
            return ns | {
                one: max(ns.get(one, 0.0), ns.get(as_, 0.0)) for one, as_ in self._beyond.like.items()
            }

        found = there(window)
        for base, times in self._beyond.bases:
            for name, ns in there(window.cut(*base)).items() if times else ():
                found[name] = min(found[name] + times * ns, window.ns)
        return found


@cache
def has_times(kind: str) -> bool:
    """Whether the trace has the times of what is at a component or link of this kind."""
    found = COMPONENT_KINDS.get(kind)
    link = LINK_KINDS.get(kind)
    part = found is not None and (found.counted_elsewhere or found.untimed)
    return not part and not (link is not None and link.within_pe)


def covered_ns(start: Floats, end: Floats, window: Window) -> float:
    """ns of the window that intervals at one place cover."""
    start, end = united(start, end)
    return float(np.sum(window.covered(end) - window.covered(start)))


def united(start: Floats, end: Floats) -> tuple[Floats, Floats]:
    """As :func:`unite`, of intervals at one place."""
    return unite(np.zeros(len(start), np.int64), start, end)[1:]


def _within(window: Window, count: int, where: Ints, start: Floats, end: Floats) -> Floats:
    """ns of the window that intervals cover at each of ``count`` places."""
    within = window.covered(end) - window.covered(start)
    return np.asarray(np.bincount(where, within, minlength=count), np.float64)


def unite(where: Ints, start: Floats, end: Floats) -> tuple[Ints, Floats, Floats]:
    """The intervals for which something is under way at a place: place, start and end, ordered by both."""
    if not len(where):
        return where, start, end
    order = np.lexsort((start, where))
    where, start, end = where[order], start[order], end[order]
    apart = (float(end.max()) + 1.0) * where  # moves each place's times beyond those of the one before
    latest = np.maximum.accumulate(end + apart)
    first = np.flatnonzero(np.concatenate([[True], (start + apart)[1:] > latest[:-1]]))
    return where[first], start[first], np.maximum.reduceat(end, first)
