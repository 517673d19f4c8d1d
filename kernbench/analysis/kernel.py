"""Derived parameter of ``queries/kernel``: where the value of an operation comes from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kernbench.analysis.derived import AskedRun, Rows


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
