"""The critical path of a run or launch.

The path is found by walking back from the end. Every step begins when the one before it ends, so their times
add up to the run's. Where something waited for a compute slot or a DMA engine, the path continues with what
held it, so that a full pipeline shows as the work that fills it. Waits of single flits on links, at routers
and in memory are steps of cause ``queue``.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from kernbench.analysis.path.backward_walk import Walk
from kernbench.analysis.path.path_steps import CAUSES, CriticalPath, Passed, Step
from kernbench.analysis.path.walk_track import Track
from kernbench.analysis.trace_index import TraceIndex
from kernbench.analysis.trace_tables import TracedMessage, TracedOp
from kernbench.analysis.windows.chosen_window import SETUP
from kernbench.analysis.windows.estimate_bounds import Repeated, repeated
from kernbench.analysis.windows.time_window import Window
from kernbench.errors import UsageError

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["CAUSES", "CriticalPath", "Passed", "Step", "TraceIndex", "critical_path", "trace_index"]


def trace_index(tables: Mapping[str, pa.Table], info: Mapping[str, Any]) -> TraceIndex:
    """The index of a run's trace. ``UsageError`` when the run was not traced."""
    if "Transaction" not in tables or not tables["Transaction"].num_rows:
        raise UsageError(f"the run of '{info['bench']}' has no trace to explain it; run it with trace=True")
    # The record's own list has more to say, but a record that another program made may have the table alone.
    launches = info.get("launches") or tables["Launch"].sort_by("number").to_pylist()
    return TraceIndex(tables, launches, repeated(info))


def critical_path(
    index: TraceIndex,
    sim_ns: float,
    launch: int | None = None,
    *,
    partial: bool = False,
    spans: Sequence[tuple[float, float]] | None = None,
    simulated: bool = False,
) -> CriticalPath:
    """The contiguous steps of work and waiting that make up a run's time, or a launch's.

    ``launch`` is a number from 0; its time counts from its common start on. One ``index`` serves all launches
    of a run. Of a ``partial`` run, which was stopped, the time after the last thing that ended has cause
    ``unfinished``. Given ``spans``, only steps that overlap one of these intervals are included.
    Of a run's path ``simulated`` leaves the time of periods that were not simulated as the trace has it.
    ``UsageError`` when there is no such launch, ``ValueError`` when nothing was sent.
    """
    if not index:
        raise ValueError("no transactions")
    last: TracedMessage | TracedOp | None
    if launch is None:
        start, end = 0.0, sim_ns
        last = index.last_unfinished(sim_ns) if partial else index.last_answered(sim_ns)
    else:
        if not 0 <= launch < len(index.launches):
            raise UsageError(f"the run has no launch {launch}; it has {len(index.launches)}, counted from 0")
        chosen = index.launches[launch]
        launch = int(chosen.get("follows", launch))
        start, end = float(chosen["t_start"]), float(chosen["t_done"])
        partial = bool(chosen.get("unfinished"))
        last = index.last_unfinished(end, launch) if partial else index.last_answer(launch)
    track = Track(index, stop=start, now=end, spans=None if index.repeats else spans)
    Walk(track).back_from(last, unfinished=partial)
    steps = tuple(reversed(track.steps))
    if launch is None and not simulated:
        steps = with_repeats(steps, index.repeats)
    return CriticalPath(start, end, steps, track.paths)


def path_within(index: TraceIndex, sim_ns: float, window: Window, *, partial: bool = False) -> CriticalPath:
    """The path of a window: its part of the launches' own where it is of launches, else of the run's."""
    if window.launch is not None:
        return critical_path(index, sim_ns, window.launch)
    if window.launches:
        paths = {n: critical_path(index, sim_ns, n) for n in window.launches}
        return path_of_launches(paths, window, index.repeats)
    if index.repeats and window.accounted and window.name == SETUP:
        return path_of_setup(
            critical_path(index, sim_ns, partial=partial, simulated=True), window, index.repeats
        )
    return window.clip(critical_path(index, sim_ns, partial=partial, spans=window.spans))


def with_repeats(
    steps: Sequence[Step], repeats: Iterable[Repeated], spans: Sequence[tuple[float, float]] | None = None
) -> tuple[Step, ...]:
    """``steps`` of a path, oldest first, with those of the periods that were not simulated.

    These have the causes of the last period that was.
    ``spans`` is when their time is on the path, by default all of it; what the path has there goes.
    """
    found = tuple(steps)
    for number, one in enumerate(repeats):
        begin, end = (one.begin, one.end) if spans is None else spans[number]
        last = [step for step in found if one.begin - one.period_ns < step.t_end <= one.begin]
        if last and begin < end:
            last[0] = replace(last[0], t_start=max(last[0].t_start, one.begin - one.period_ns))
            before = [step for step in found if step.t_end <= begin]
            after = [replace(s, t_start=max(s.t_start, end)) for s in found if s.t_end > end]
            found = (*before, *_more(last, one, begin, end), *after)
    return found


def _more(last: Sequence[Step], one: Repeated, begin: float, end: float) -> list[Step]:
    """Steps from ``begin`` to ``end``, in proportion to those of the ``last`` period."""
    ns: dict[tuple[str, str, str], float] = {}
    for step in last:
        key = step.cause, step.location, step.line
        ns[key] = ns.get(key, 0.0) + step.ns
    scale, at, found = (end - begin) / sum(ns.values()), begin, []
    for (cause, location, line), each in ns.items():
        activity = f"{one.times} more of {one.name}"
        found.append(Step(at, at + scale * each, cause, location, activity, line=line))
        at += scale * each
    found[-1] = replace(found[-1], t_end=end)
    return found


def path_of_setup(path: CriticalPath, window: Window, repeats: Sequence[Repeated]) -> CriticalPath:
    """The path of the time outside of launches, from the simulated one of the run."""
    found = window.clip(path)
    return replace(found, steps=with_repeats(found.steps, repeats, _spans(window, repeats)))


def _spans(window: Window, repeats: Sequence[Repeated]) -> list[tuple[float, float]]:
    """When the periods that were not simulated are in the window: one interval for each repeat."""
    found = [window.cut(one.begin, one.end).spans for one in repeats]
    return [(spans[0][0], spans[-1][1]) if spans else (0.0, 0.0) for spans in found]


def path_of_launches(
    paths: Mapping[int, CriticalPath], window: Window, repeats: Sequence[Repeated] = ()
) -> CriticalPath:
    """The path of a window of several launches, or of a part of them, from ``paths``, each by its number.

    What the run's own path does meanwhile need not be what a launch waits for: the host uploads the next
    one's data. Where launches overlap, the one that ends last counts, from its start on.
    """
    steps: tuple[Step, ...] = ()
    taken: dict[int, tuple[Passed, ...]] = {}
    covered = math.inf
    for number in sorted(window.launches, key=lambda number: (-paths[number].t_end, paths[number].t_start)):
        path = paths[number]
        end = min(path.t_end, covered)
        if path.t_start < end:
            steps = (*Window("", ((path.t_start, end),)).clip(path).steps, *steps)
            taken |= path.paths
            covered = path.t_start
    steps = with_repeats(steps, repeats, _spans(window, repeats))
    return window.clip(CriticalPath(covered, math.inf, steps, taken))
