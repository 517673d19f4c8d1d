"""Derived parameters of ``queries/kernel``: launches, and where the value of an operation comes from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kernbench.analysis.contention import spans
from kernbench.analysis.derived import AskedRun, Rows
from kernbench.errors import UsageError

_ALL = ("all", "run")


def tensor_spans(asked: AskedRun, params: Mapping[str, Any]) -> Rows:
    """``begin until window_ns`` per stretch of the window, of a run that was kept with its tensors.

    Raises:
        UsageError: The run was kept by a version that did not record tensors.
    """
    if not asked.tables["Tensor"].num_rows and "tensors" not in asked.record.info:
        raise UsageError(
            f"run '{asked.run}' was kept without its tensors, as older versions of KernBench kept runs; "
            "run its bench again to see their traffic"
        )
    return spans(asked, params)


def chosen(asked: AskedRun, params: Mapping[str, Any]) -> Rows:
    """``number`` per launch that ``launch`` means: one, or all of them.

    Raises:
        UsageError: The run has no such launch.
    """
    numbers, launch = asked.tables["Launch"]["number"].to_pylist(), str(params["launch"])
    if launch not in _ALL:
        numbers = [number for number in numbers if str(number) == launch]
        if not numbers:
            count = asked.tables["Launch"].num_rows
            raise UsageError(f"the run has no launch '{launch}'; it has {count}, counted from 0; or give all")
    return [{"number": number} for number in numbers]


def value_lineage(asked: AskedRun, params: Mapping[str, Any]) -> Rows:
    """``step id hazard through kind name source label t_end`` per operation behind ``op``, nearest first."""
    ops, depends = asked.tables["Op"], asked.tables["DependsOn"]
    row_of = {number: row for row, number in enumerate(ops["number"].to_pylist())}
    asked_for = int(params["op"])
    behind: dict[int, list[tuple[int, str]]] = {}
    edges = zip(*(depends[name].to_pylist() for name in ("op", "on", "hazard")), strict=True)
    for op, on, hazard in edges:
        if hazard in ("handle", "raw"):
            behind.setdefault(op, []).append((on, hazard))
    found: Rows = []
    seen, here, step = {asked_for}, [asked_for], 0
    columns = {name: ops[name].to_pylist() for name in ("kind", "name", "source", "label", "t_end")}
    while here and (not params["steps"] or step < params["steps"]):
        step += 1
        reached: dict[int, tuple[int, str]] = {}
        for through in here:
            for on, hazard in sorted(behind.get(through, ())):
                if on not in seen and on not in reached:
                    reached[on] = (through, hazard)
        seen |= reached.keys()
        here = sorted(reached)
        for on in here:
            through, hazard = reached[on]
            row = {name: column[row_of[on]] for name, column in columns.items()}
            found.append({"step": step, "id": on, "hazard": hazard, "through": through, **row})
    return found[: params["limit"]]
