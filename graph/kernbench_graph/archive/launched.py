"""How long launches took: from submission to completion, and how much of it was before any had started."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import Any

Spans = list[tuple[float, float]]
"""Intervals as (start, end) in ns; those that functions here give are disjoint and ascend."""


def times_of(launch: Mapping[str, Any]) -> dict[str, float]:
    """``latency_ns`` of one launch, from submission to completion, and ``launch_ns``, its part before start.

    A launch that does not say when it was submitted was so at its start.
    """
    since, start, end = (float(launch[name]) for name in (_submitted(launch), "t_start", "t_done"))
    return {"latency_ns": end - since, "launch_ns": start - since}


def run_times(info: Mapping[str, Any], numbers: Collection[int] | None = None) -> dict[str, float]:
    """The times of a run's launches, or of those with ``numbers``, together.

    Args:
        info: The run's properties: ``launches``, ``sim_ns``, and ``repeats`` where it accounts for more.
        numbers: Which launches; None for all.

    Returns:
        ``latency_ns``: the time in which at least one of them is between submission and completion.
        ``launch_ns``: the part of it in which none runs.

    >>> run_times({"launches": [{"t_submit": 0, "t_start": 1, "t_done": 5},
    ...                         {"t_submit": 2, "t_start": 5, "t_done": 6},
    ...                         {"t_submit": 7, "t_start": 8, "t_done": 9}]})
    {'latency_ns': 8.0, 'launch_ns': 2.0}
    """
    launches = [one for n, one in enumerate(info.get("launches") or ()) if numbers is None or n in numbers]
    whole, kernels = (
        [edge for span in under_way(info, launches, submitted=which) for edge in (span[1], -span[0])]
        for which in (True, False)
    )
    latency = math.fsum(whole)
    return {"latency_ns": latency, "launch_ns": max(0.0, math.fsum([*whole, *(-edge for edge in kernels)]))}


def under_way(
    info: Mapping[str, Any], launches: Sequence[Mapping[str, Any]], *, submitted: bool = False
) -> Spans:
    """The intervals in which one of ``launches`` ran, with those that the run accounts for.

    With ``submitted`` those from submission to completion. Times that have not come, -1 in the record, are
    the end of the run.
    """
    spans = _unite([span_of(info, one, submitted=submitted) for one in launches])
    return _unite([*spans, *_accounted(info, spans)])


def span_of(
    info: Mapping[str, Any], launch: Mapping[str, Any], *, submitted: bool = False
) -> tuple[float, float]:
    """From the start of a launch, or its submission, to its end."""
    begin, end = (float(launch[name]) for name in (_submitted(launch) if submitted else "t_start", "t_done"))
    sim_ns = float(info.get("sim_ns") or 0.0)
    return (sim_ns if begin < 0 else begin, sim_ns if end < 0 else end)


def _submitted(launch: Mapping[str, Any]) -> str:
    return "t_submit" if "t_submit" in launch else "t_start"


def _accounted(info: Mapping[str, Any], spans: Spans) -> Spans:
    """The time of launches in what was accounted for, as one interval for each repeat.

    It is as much of each period as ``spans`` have of the last one that was simulated.
    """
    found = []
    for one in (each for each in info.get("repeats") or () if each["kind"] == "repeat"):
        begin, end = float(one["from_ns"]), float(one["to_ns"])
        since = begin - float(one["period_ns"])
        within = sum(max(0.0, min(b, begin) - max(a, since)) for a, b in spans)
        if within > 0:
            found.append((begin, min(begin + one["times"] * within, end)))
    return found


def _unite(spans: Sequence[tuple[float, float]]) -> Spans:
    found: Spans = []
    for begin, end in sorted(spans):
        if found and begin <= found[-1][1]:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((begin, end))
    return found
