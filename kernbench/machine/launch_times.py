"""Where the time of each PE goes in a launch: DMA, compute, and waiting for either."""

from __future__ import annotations

from collections.abc import Sequence

from kernbench.program.launches import Launch, PeTimes, Target
from kernbench.program.operations import Op
from kernbench.sim.instrument import Instrument
from kernbench.topology import names

Interval = tuple[float, float]
_NEITHER = frozenset({"FETCH", "STORE"})
"""Stages of tiles between TCM and registers: they are neither DMA nor compute."""


class LaunchTimes(Instrument):
    """Follows the operations of launches; :meth:`kernel_ended` sums them up for one PE."""

    def __init__(self) -> None:
        self.worked: dict[tuple[int, str], list[Interval]] = {}
        """When a component was at work for a launch; the compiled core writes here."""

    def op_done(self, op: Op) -> None:
        """See :meth:`Instrument.op_done`."""
        if op.launch >= 0 and op.t_end > op.t_start and op.stage not in _NEITHER:
            self.worked.setdefault((op.launch, op.component), []).append((op.t_start, op.t_end))

    def kernel_ended(self, launch: Launch, target: Target, begin: float, end: float) -> PeTimes:
        """The times of PE ``target``, whose kernel of ``launch`` ran from ``begin`` to ``end``."""
        dma = self._taken(launch, target, "pe_dma")
        compute = self._taken(launch, target, "pe_gemm") + self._taken(launch, target, "pe_math")
        for part in ("pe_cpu", "pe_scheduler", "pe_ipcq"):
            self._taken(launch, target, part)
        return PeTimes(
            exec_ns=end - begin,
            dma_ns=covered(dma, begin, end),
            compute_ns=covered(compute, begin, end),
            wait_ns=end - begin - covered(dma + compute, begin, end),
        )

    def _taken(self, launch: Launch, target: Target, part: str) -> list[Interval]:
        return self.worked.pop((launch.id, names.pe_part(*target, part)), [])


def covered(intervals: Sequence[Interval], begin: float, end: float) -> float:
    """The length of the union of ``intervals`` within ``[begin, end]``, ns."""
    total, reached = 0.0, begin
    for start, stop in sorted(intervals):
        stop = min(stop, end)
        if stop > reached:
            total += stop - max(start, reached)
            reached = stop
    return total
