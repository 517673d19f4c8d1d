"""The critical path as the table ``Step`` of the graph, worked out when something first asks for it."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from kernbench.analysis.critical_path import critical_path, trace_index
from kernbench.analysis.history import PARTIAL
from kernbench.pgraph import RunRecord

if TYPE_CHECKING:
    import pyarrow as pa


def path_tables(run: RunRecord) -> dict[str, pa.Table]:
    """The table ``Step`` of a run: its whole critical path, oldest step first. Times in ns.

    It has no rows where the run has no transaction to walk back from.
    """
    import pyarrow as pa

    info, tables = run.info, run.tables
    if not tables["Transaction"].num_rows:
        return {}
    path = critical_path(trace_index(tables, info), float(info["sim_ns"]), partial=info["status"] == PARTIAL)
    used = set(tables["Use"]["resource"].to_pylist())
    under_way = _LaunchAt(tables["Launch"].to_pylist())
    steps = path.steps
    return {
        "Step": pa.table({
            "number": pa.array(np.arange(len(steps))),
            "cause": pa.array([step.cause for step in steps], pa.string()),
            "ns": pa.array([step.ns for step in steps], pa.float64()),
            "t_from": pa.array([step.t_start for step in steps], pa.float64()),
            "t_to": pa.array([step.t_end for step in steps], pa.float64()),
            "resource": pa.array([step.location for step in steps], pa.string()),
            "activity": pa.array([step.activity for step in steps], pa.string()),
            "source": pa.array([step.line for step in steps], pa.string()),
            "launch": pa.array([under_way(step.t_start) for step in steps], pa.int64()),
            "seq": pa.array([step.hop for step in steps], pa.int32()),
            "place": pa.array(["" if s.location not in used else s.location for s in steps], pa.string()),
            "txn": pa.array([step.transaction for step in steps], pa.int64()),
            "op": pa.array([step.op for step in steps], pa.int64()),
            "before": pa.array(np.arange(len(steps)) - 1),
        })
    }  # fmt: skip


class _LaunchAt:
    """The launch that began last, of those under way at a time; -1 when there is none."""

    def __init__(self, launches: Sequence[Mapping[str, Any]]) -> None:
        self._launches = sorted(launches, key=lambda launch: (launch["t_start"], launch["number"]))
        self._starts = [launch["t_start"] for launch in self._launches]

    def __call__(self, time: float) -> int:
        for at in range(bisect_right(self._starts, time) - 1, -1, -1):
            if time < self._launches[at]["t_done"]:
                return int(self._launches[at]["number"])
        return -1
