"""Sums over the critical path that lose nothing to rounding."""

from __future__ import annotations

from math import fsum

from kernbench.api.deriving.asked import Asked, Rows
from kernbench.api.deriving.chain import critical_path


def summed(asked: Asked, launch: int, by: str) -> Rows:
    """``by ns total_ns steps longest_ns`` per value of ``by``, which is ``cause`` or ``place``.

    Each ``ns`` is the exact sum over its steps, rounded once; ``total_ns`` is that over all steps.
    """
    path = critical_path(asked, launch)
    groups: dict[str, list[float]] = {}
    longest: dict[str, float] = {}
    for step in path.steps:
        group = str(getattr(step, by))
        groups.setdefault(group, []).extend((step.t_end, -step.t_start))
        longest[group] = max(longest.get(group, 0.0), step.ns)
    return [
        {
            by: group,
            "ns": fsum(ends),
            "total_ns": path.t_end - path.t_start,
            "steps": len(ends) // 2,
            "longest_ns": longest[group],
        }
        for group, ends in groups.items()
    ]
