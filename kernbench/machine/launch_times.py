# cython: boundscheck=True, wraparound=True, cdivision=False
"""Where the time of each PE goes in a launch: DMA, compute, and waiting for either."""

from __future__ import annotations

from typing import Any

import numpy as np

from kernbench.program.launches import Launch, PeTimes, Target
from kernbench.sim.columns import Words
from kernbench.topology.places import Places

Intervals = np.ndarray[Any, np.dtype[np.float64]]
"""A row of when they begin and one of when they end."""

_AT_ONCE = 1 << 16
"""Intervals that are listed at a time: of millions there is room for no copies."""


class LaunchTimes:
    """Sums up the ``busy_intervals`` of launches (:class:`~kernbench.sim.ledger.Ledger`), PE by PE."""

    def __init__(self, busy_intervals: dict[int, dict[str, Words]], places: Places) -> None:
        self._busy, self._places = busy_intervals, places

    def kernel_ended(self, launch: Launch, target: Target, begin: float, end: float) -> PeTimes:
        """The times of PE ``target``, whose kernel of ``launch`` ran from ``begin`` to ``end``."""
        dma = self._taken(launch, target, "pe_dma")
        engines = [self._taken(launch, target, part) for part in ("pe_gemm", "pe_math")]
        compute = _both(*engines)
        for part in ("pe_cpu", "pe_scheduler", "pe_ipcq"):
            self._taken(launch, target, part)
        return PeTimes(
            exec_ns=end - begin,
            dma_ns=covered_ns(dma, begin, end),
            compute_ns=covered_ns(compute, begin, end),
            wait_ns=end - begin - covered_ns(_both(dma, compute), begin, end),
        )

    def _taken(self, launch: Launch, target: Target, part: str) -> Intervals:
        rows = self._busy.get(launch.id, {}).pop(self._places.part(part, *target), None)
        found: Intervals = np.zeros((2, 0)) if rows is None else rows.rows(np.float64).reshape(-1, 2).T
        return found


def _both(first: Intervals, second: Intervals) -> Intervals:
    """The intervals of two; no copy of millions where one has none."""
    if not (first.size and second.size):
        return first if first.size else second
    return np.concatenate((first, second), axis=1)


def covered_ns(times: Intervals, begin: float, end: float) -> float:
    """The length within ``[begin, end]`` of the union of intervals, ns."""
    starts, stops = times
    order = None if (starts[1:] > starts[:-1]).all() else np.lexsort((stops, starts))
    covered, reached = 0.0, begin
    for first in range(0, len(starts), _AT_ONCE):
        some: Any = slice(first, first + _AT_ONCE)
        some = some if order is None else order[some]
        for start, until in zip(starts[some].tolist(), stops[some].tolist(), strict=True):
            stop = until if until < end else end
            if stop > reached:
                covered += stop - (start if start > reached else reached)
                reached = stop
    return covered
