"""Where the time of each PE goes in a launch: DMA, compute, and waiting for either."""

from __future__ import annotations

from array import array

import numpy as np

from kernbench.program.launches import Launch, PeTimes, Target
from kernbench.topology import names


class LaunchTimes:
    """Sums up what was ``worked`` for launches (:class:`~kernbench.sim.ledger.Ledger`), PE by PE."""

    def __init__(self, worked: dict[int, dict[str, array[float]]]) -> None:
        self._worked = worked

    def kernel_ended(self, launch: Launch, target: Target, begin: float, end: float) -> PeTimes:
        """The times of PE ``target``, whose kernel of ``launch`` ran from ``begin`` to ``end``."""
        dma = self._taken(launch, target, "pe_dma")
        compute = self._taken(launch, target, "pe_gemm") + self._taken(launch, target, "pe_math")
        for part in ("pe_cpu", "pe_scheduler", "pe_ipcq"):
            self._taken(launch, target, part)
        return PeTimes(
            exec_ns=end - begin,
            dma_ns=covered_ns(dma, begin, end),
            compute_ns=covered_ns(compute, begin, end),
            wait_ns=end - begin - covered_ns(dma + compute, begin, end),
        )

    def _taken(self, launch: Launch, target: Target, part: str) -> array[float]:
        return self._worked.get(launch.id, {}).pop(names.pe_part(*target, part), array("d"))


def covered_ns(times: array[float], begin: float, end: float) -> float:
    """The length within ``[begin, end]`` of the union of intervals that begin and end, in turn, ns."""
    if not times:
        return 0.0
    starts, stops = np.frombuffer(times).reshape(-1, 2).T
    order = np.lexsort((stops, starts))
    start, stop = starts[order], np.minimum(stops[order], end)
    reached = np.maximum.accumulate(np.concatenate(([begin], stop)))[:-1]
    gained = np.where(stop > reached, stop - np.maximum(start, reached), 0.0)
    return float(np.cumsum(gained)[-1])  # added up one after the other, unlike np.sum
