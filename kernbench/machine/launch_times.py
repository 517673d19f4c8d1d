"""Where the time of each PE goes in a launch: DMA, compute, and waiting for either."""

from __future__ import annotations

from collections.abc import Sequence

from kernbench.program.launches import Launch, PeTimes, Target
from kernbench.topology import names

Interval = tuple[float, float]


class LaunchTimes:
    """Sums up what was ``worked`` for launches (:class:`~kernbench.sim.ledger.Ledger`), PE by PE."""

    def __init__(self, worked: dict[tuple[int, str], list[Interval]]) -> None:
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

    def _taken(self, launch: Launch, target: Target, part: str) -> list[Interval]:
        return self._worked.pop((launch.id, names.pe_part(*target, part)), [])


def covered_ns(intervals: Sequence[Interval], begin: float, end: float) -> float:
    """The length of the union of ``intervals`` within ``[begin, end]``, ns."""
    total, reached = 0.0, begin
    for start, stop in sorted(intervals):
        stop = min(stop, end)
        if stop > reached:
            total += stop - max(start, reached)
            reached = stop
    return total
