"""Where the time of each PE goes in a launch: DMA, compute, and waiting for either."""

from __future__ import annotations

from typing import Any

import numpy as np

from kernbench.program.launches import Launch, PeTimes, Target
from kernbench.sim.columns import Words
from kernbench.topology import names

Intervals = np.ndarray[Any, np.dtype[np.float64]]
"""A row of when they begin and one of when they end."""


class LaunchTimes:
    """Sums up what was ``worked`` for launches (:class:`~kernbench.sim.ledger.Ledger`), PE by PE."""

    def __init__(self, worked: dict[int, dict[str, Words]]) -> None:
        self._worked = worked

    def kernel_ended(self, launch: Launch, target: Target, begin: float, end: float) -> PeTimes:
        """The times of PE ``target``, whose kernel of ``launch`` ran from ``begin`` to ``end``."""
        dma = self._taken(launch, target, "pe_dma")
        engines = [self._taken(launch, target, part) for part in ("pe_gemm", "pe_math")]
        compute = np.concatenate(engines, axis=1)
        for part in ("pe_cpu", "pe_scheduler", "pe_ipcq"):
            self._taken(launch, target, part)
        return PeTimes(
            exec_ns=end - begin,
            dma_ns=covered_ns(dma, begin, end),
            compute_ns=covered_ns(compute, begin, end),
            wait_ns=end - begin - covered_ns(np.concatenate((dma, compute), axis=1), begin, end),
        )

    def _taken(self, launch: Launch, target: Target, part: str) -> Intervals:
        rows = self._worked.get(launch.id, {}).pop(names.pe_part(*target, part), None)
        return np.array([() if rows is None else np.frombuffer(rows.column(end, "d")) for end in (0, 1)])


def covered_ns(times: Intervals, begin: float, end: float) -> float:
    """The length within ``[begin, end]`` of the union of intervals, ns."""
    starts, stops = times
    order = np.lexsort((stops, starts))
    start, stop = starts[order], np.minimum(stops[order], end)
    reached = np.maximum.accumulate(np.concatenate(([begin], stop)))[:-1]
    gained = np.where(stop > reached, stop - np.maximum(start, reached), 0.0)
    return float(np.cumsum(np.append(0.0, gained))[-1])  # one after the other, unlike np.sum
