"""Critical paths as tables of the graph, worked out when something first asks for them."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

import numpy as np

from kernbench.analysis.path.critical_path import (
    critical_path,
    path_of_launches,
    path_of_setup,
    trace_index,
)
from kernbench.analysis.path.model_time import LaunchAt
from kernbench.analysis.windows.chosen_window import ALL, RUN, SETUP
from kernbench.analysis.windows.time_window import PARTIAL, Window
from kernbench.analysis.windows.window_facts import windows_of
from kernbench.support.pgraph import RunRecord

if TYPE_CHECKING:
    import pyarrow as pa


def path_tables(run: RunRecord) -> dict[str, pa.Table]:
    """The tables ``Path``, ``Explained`` and ``Step``: critical paths of the run, of each launch, and of all.

    None where the run has no transaction to walk back from. Times in ns.
    """
    import pyarrow as pa

    info, tables = run.info, run.tables
    if not tables["Transaction"].num_rows:
        return {}
    index, partial = trace_index(tables, info), info["status"] == PARTIAL
    windows = windows_of(info)
    sim_ns = float(info["sim_ns"])
    count = len(info.get("launches") or [])
    launches = {number: critical_path(index, sim_ns, number) for number in range(count)}
    paths = {RUN: critical_path(index, sim_ns, partial=partial)}
    paths |= {str(number): path for number, path in launches.items()}
    if count > 1:
        paths[ALL] = path_of_launches(launches, windows[ALL], index.repeats)
    if index.repeats:
        simulated = critical_path(index, sim_ns, partial=partial, simulated=True)
        paths[SETUP] = path_of_setup(simulated, windows[SETUP], index.repeats)
    kinds = dict(zip(*(tables["Use"][name].to_pylist() for name in ("resource", "kind")), strict=True))
    calls = {launch.get("call") for launch in info.get("launches") or []}
    under_way = LaunchAt(tables["Launch"].to_pylist())
    steps = [(name, at, step) for name, path in paths.items() for at, step in enumerate(path.steps)]
    return {
        "Path": pa.table({"name": list(paths), "ns": [path.ns for path in paths.values()]}),
        "Explained": pa.table({
            "window": list(windows),
            "path": [_explaining(one, paths) for one in windows.values()],
        }),
        "Step": pa.table({
            "number": pa.array(np.arange(len(steps))),
            "path": pa.array([name for name, _, _ in steps], pa.string()),
            "position": pa.array([at + 1 for _, at, _ in steps], pa.int64()),
            "of_run": pa.array([name == RUN for name, _, _ in steps], pa.bool_()),
            "place_kind": pa.array([kinds.get(step.location, "") for _, _, step in steps], pa.string()),
            "cause": pa.array([step.cause for _, _, step in steps], pa.string()),
            "ns": pa.array([step.ns for _, _, step in steps], pa.float64()),
            "t_from": pa.array([step.t_start for _, _, step in steps], pa.float64()),
            "t_to": pa.array([step.t_end for _, _, step in steps], pa.float64()),
            "resource": pa.array([step.location for _, _, step in steps], pa.string()),
            "activity": pa.array([step.activity for _, _, step in steps], pa.string()),
            "source": pa.array([step.line for _, _, step in steps], pa.string()),
            "in_kernel": pa.array([bool(s.line) and s.line not in calls for _, _, s in steps], pa.bool_()),
            "launch": pa.array([under_way(step.t_start) for _, _, step in steps], pa.int64()),
            "seq": pa.array([step.hop for _, _, step in steps], pa.int32()),
            "place": pa.array([s.location if s.location in kinds else "" for _, _, s in steps], pa.string()),
            "txn": pa.array([step.transaction for _, _, step in steps], pa.int64()),
            "op": pa.array([step.op for _, _, step in steps], pa.int64()),
            "before": pa.array([n - 1 if at else -1 for n, (_, at, _) in enumerate(steps)], pa.int64()),
        }),
    }  # fmt: skip


def _explaining(window: Window, paths: Collection[str]) -> str:
    """The name of the path that says what the time of a window went into."""
    if window.name == SETUP and SETUP in paths:
        return SETUP
    return RUN if not window.launches else ALL if window.launch is None else str(window.launch)
