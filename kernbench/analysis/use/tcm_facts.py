"""What the TCMs of a run's PEs held, value by value, as the graph has it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np

from kernbench.analysis.use.time_counters import values_in_tcm
from kernbench.support.pgraph import RunRecord, TopologyRecord

if TYPE_CHECKING:
    import pyarrow as pa


def kept_tables(run: RunRecord, topology: TopologyRecord) -> dict[str, pa.Table]:
    """The table ``Kept`` of a run: one row for each value that an operation made. Times in ns."""
    import pyarrow as pa

    parts = topology.tables["Component"].select(["name", "attributes"]).to_pylist()
    attributes = {row["name"]: row["attributes"] for row in parts}
    values = [value for value in values_in_tcm(run.tables) if value.tcm in attributes]
    size = {
        tcm: int(json.loads(attributes[tcm] or "{}").get("size_bytes", 0)) for tcm in {v.tcm for v in values}
    }
    held = np.zeros(len(values), np.int64)
    for tcm in size:
        rows = [row for row, value in enumerate(values) if value.tcm == tcm]
        begin = np.array([values[row].since for row in rows])
        end = np.array([values[row].until for row in rows])
        nbytes = np.array([values[row].nbytes for row in rows])
        times = np.concatenate([begin, end])
        order = np.argsort(times, kind="stable")
        level = np.cumsum(np.concatenate([nbytes, -nbytes])[order])
        # What holds from a time on is what is there after all that happens then.
        held[rows] = level[np.searchsorted(times[order], begin, side="right") - 1]
    return {
        "Kept": pa.table({
            "op": pa.array([value.op for value in values], pa.int64()),
            "component": pa.array([value.tcm for value in values], pa.string()),
            "t_from": pa.array([value.since for value in values], pa.float64()),
            "t_to": pa.array([value.until for value in values], pa.float64()),
            "bytes": pa.array([value.nbytes for value in values], pa.int64()),
            "held": pa.array(held),
            "tcm_size": pa.array([size[value.tcm] for value in values], pa.int64()),
        }),
    }  # fmt: skip
