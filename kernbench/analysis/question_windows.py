"""The window or launch that a question is asked about: as its text takes it, and checked against the run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kernbench.analysis.chosen_window import ALL, RUN, SETUP
from kernbench.analysis.time_window import select
from kernbench.errors import UsageError
from kernbench.pgraph import Question, RunRecord

MOST_INTERVALS = 1000
"""Intervals that a window may be cut into."""


def fitting(run: RunRecord, question: Question, params: Mapping[str, Any]) -> dict[str, Any]:
    """``params`` with the window, or the launch, as the graph calls it.

    Raises:
        UsageError: The run has no such launch, nothing is in that window, or the run was kept by a version
            that did not record what the question is about.
    """
    found = dict(params)
    of_tensors = ":Tensor" in question.cypher
    if of_tensors and "tensors" not in run.info and not run.tables["Tensor"].num_rows:
        raise UsageError(
            f"run '{run.info['id']}' was kept without its tensors, as older versions of KernBench kept runs; "
            "run its bench again to see their traffic"
        )
    if ":Step" in question.cypher and not run.tables["Transaction"].num_rows:
        raise UsageError(
            f"the run of '{run.info['bench']}' has no trace to explain it; run it with trace=True"
        )
    if {"launch", "from_ns", "to_ns"} <= params.keys():
        launch, until = str(params["launch"]), float(params["to_ns"])
        select(run.info, launch, params["from_ns"], None if until < 0 else until)
        found["launch"] = launch if launch in (ALL, SETUP, RUN) else str(int(launch))
        found["from_ns"] = max(float(params["from_ns"]), 0.0)
        if params.get("intervals", 0) > MOST_INTERVALS:
            raise UsageError(
                f"{params['intervals']} intervals are more than {MOST_INTERVALS}; choose a shorter window "
                "with from_ns and to_ns"
            )
    elif "launch" in params:
        found["launch"] = ALL if params["launch"] == RUN else params["launch"]
        numbers = [str(number) for number in run.tables["Launch"]["number"].to_pylist()]
        if found["launch"] not in (ALL, *numbers):
            launch, count = found["launch"], len(numbers)
            raise UsageError(f"the run has no launch '{launch}'; it has {count}, counted from 0; or give all")
    return found
