"""Where the time of each PE goes in a launch: DMA, compute, and waiting for either."""

from __future__ import annotations

from typing import Any

import numpy as np

from kernbench.engine.core.columns import Words
from kernbench.engine.program.launches import Launch, PeTimes, Target
from kernbench.hardware.topology.places import Places

Intervals = np.ndarray[Any, np.dtype[np.float64]]
"""A row for each: when it begins, when it ends."""
_NONE: Intervals = np.zeros((0, 2))

_FEW = 64
"""Intervals up to which a loop takes less than numpy's steps do."""

_AT_ONCE = 1 << 16
"""Intervals that are listed at a time: of millions there is room for no copies."""


class LaunchTimes:
    """Sums up the ``busy_intervals`` of launches (:class:`~kernbench.engine.core.ledger.Ledger`), PE by
    PE."""

    def __init__(self, busy_intervals: dict[int, dict[str, Words]], places: Places) -> None:
        self._busy, self._places = busy_intervals, places

    def kernel_ended(self, launch: Launch, target: Target, begin: float, end: float) -> PeTimes:
        """The times of PE ``target``, whose kernel of ``launch`` ran from ``begin`` to ``end``."""
        busy = self._busy.get(launch.id, {})
        part = self._places.part
        dma, gemm, math = [
            _intervals(busy.pop(part(name, *target), None)) for name in ("pe_dma", "pe_gemm", "pe_math")
        ]
        for name in ("pe_cpu", "pe_scheduler", "pe_ipcq"):
            busy.pop(part(name, *target), None)
        compute = _both(gemm, math)
        dma_ns, compute_ns = covered_ns(dma, begin, end), covered_ns(compute, begin, end)
        busy_ns = dma_ns + compute_ns  # of one of them
        if dma.size and compute.size:
            busy_ns = covered_ns(np.concatenate((dma, compute)), begin, end)
        return PeTimes(end - begin, dma_ns, compute_ns, wait_ns=end - begin - busy_ns)


def _intervals(rows: Words | None) -> Intervals:
    return _NONE if rows is None else rows.rows(np.float64).reshape(-1, 2)


def _both(first: Intervals, second: Intervals) -> Intervals:
    """The intervals of two; no copy of millions where one has none."""
    if not (first.size and second.size):
        return first if first.size else second
    return np.concatenate((first, second))


def covered_ns(times: Intervals, begin: float, end: float) -> float:
    """The length within ``[begin, end]`` of the union of intervals, ns."""
    covered, reached = 0.0, begin
    if len(times) <= _FEW:
        for start, until in sorted(times.tolist()):
            stop = until if until < end else end
            if stop > reached:
                covered += stop - (start if start > reached else reached)
                reached = stop
        return covered
    starts, stops = times.T
    in_order = (starts[1:] > starts[:-1]).all()
    order = None if in_order else np.lexsort((stops, starts))
    for first in range(0, len(times), _AT_ONCE):
        some: Any = slice(first, first + _AT_ONCE)
        start, until = times[some if order is None else order[some]].T
        stop = np.minimum(until, end)
        before = np.maximum.accumulate(np.concatenate(([reached], stop)))
        more = stop > before[:-1]
        added = stop[more] - np.maximum(start[more], before[:-1][more])
        covered = float(np.add.accumulate(np.concatenate(([covered], added)))[-1])  # one by one
        reached = float(before[-1])
    return covered
