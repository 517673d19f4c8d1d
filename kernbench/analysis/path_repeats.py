"""Periods that a run accounts for, as steps of a critical path: they have the causes of the last one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from kernbench.analysis.accounted import Repeated
from kernbench.analysis.path_steps import Step

Span = tuple[float, float]


def with_repeats(
    steps: Sequence[Step], repeats: Iterable[Repeated], spans: Sequence[Span] | None = None
) -> tuple[Step, ...]:
    """``steps`` of a path, oldest first, with those of the periods that were not simulated.

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
