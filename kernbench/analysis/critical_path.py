"""The chain of work and waiting that makes a run's time, found by walking back from its end.

Every step begins when the one before it ends, so their times add up to the run's. Whoever waited for a
compute slot or a DMA engine hands over to who held it, so that a full pipeline shows as the work that
fills it; waits of single flits on links, at routers and in memory are steps of cause ``queue``.
"""

from __future__ import annotations

from kernbench.analysis.steps import CAUSES, CriticalPath, Passed, Step
from kernbench.analysis.trace_index import TraceIndex
from kernbench.analysis.track import Track
from kernbench.analysis.walk import Walk

__all__ = ["CAUSES", "CriticalPath", "Passed", "Step", "TraceIndex", "critical_path"]


def critical_path(index: TraceIndex, sim_ns: float, launch: int | None = None) -> CriticalPath:
    """The chain that makes a run's time, or that of launch number ``launch`` from its common start on.

    One ``index`` serves all launches of a run. ``IndexError`` when there is no such launch, ``ValueError``
    when the run has no transactions.
    """
    if not index:
        raise ValueError("no transactions")
    if launch is None:
        start, end, last = 0.0, sim_ns, index.last_answered(sim_ns)
    else:
        chosen = index.launches[launch]
        start, end, last = float(chosen["t_start"]), float(chosen["t_done"]), index.last_answer(launch)
    track = Track(index, stop=start, now=end)
    Walk(track).back_from(last)
    return CriticalPath(start, end, tuple(reversed(track.steps)), track.ways)
