"""Where the value of an operation comes from, as the graph has it: an answer for each operation asked for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from kernbench.analysis.on_demand import Answers
from kernbench.analysis.run_view import RunView

if TYPE_CHECKING:
    import pyarrow as pa


def lineage(asked: RunView, params: Mapping[str, Any]) -> Answers:
    """All operations behind the value of ``op``, each by the fewest steps that lead there.

    No answer where the run has no such operation.
    """
    op = int(params["op"])
    if not asked.has("Op", op):
        return {}
    name = f"lineage of operation {op}"
    return {name: lambda: _tables(asked.tables["DependsOn"], name, op)}


def _tables(depends: pa.Table, name: str, op: int) -> dict[str, pa.Table]:
    import pyarrow as pa

    found = _behind(depends, op)
    columns = [list(column) for column in zip(*found, strict=True)] if found else [[], [], [], []]
    return {
        "Lineage": pa.Table.from_pylist([{"name": name, "op": op}]),
        "CameFrom": pa.table({
            "lineage": pa.array([name] * len(found), pa.string()),
            "op": pa.array(columns[0], pa.int64()),
            "depth": pa.array(columns[1], pa.int64()),
            "hazard": pa.array(columns[2], pa.string()),
            "through": pa.array(columns[3], pa.int64()),
        }),
    }  # fmt: skip


def _behind(depends: pa.Table, start: int) -> list[tuple[int, int, str, int]]:
    """Operation, steps, hazard and the operation one step nearer, nearest first."""
    behind: dict[int, list[tuple[int, str]]] = {}
    edges = zip(*(depends[name].to_pylist() for name in ("op", "on", "hazard")), strict=True)
    for op, on, hazard in edges:
        if hazard in ("handle", "raw"):
            behind.setdefault(op, []).append((on, hazard))
    found: list[tuple[int, int, str, int]] = []
    seen, here, depth = {start}, [start], 0
    while here:
        depth += 1
        reached: dict[int, tuple[str, int]] = {}
        for through in here:
            for on, hazard in sorted(behind.get(through, ())):
                if on not in seen and on not in reached:
                    reached[on] = hazard, through
        seen |= reached.keys()
        here = sorted(reached)
        found += [(on, depth, *reached[on]) for on in here]
    return found
