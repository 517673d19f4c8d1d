"""From a topology to the files: measure, write the numbers, draw them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from kernbench.errors import UsageError
from kernbench.machine.machine import Machine
from kernbench.pgraph import PropertyGraph
from kernbench.report.figures import drawing
from kernbench.report.figures.transfers import (
    BANDWIDTH_COLUMNS,
    LATENCY_COLUMNS,
    OPS,
    bandwidth_rows,
    latency_rows,
    machine_for,
    scenarios,
)
from kernbench.written_files import write_csv

Progress = Callable[[float, int, float | None], None]


def make(
    graph: PropertyGraph,
    out: str,
    latency_bytes: int,
    bandwidth_bytes: int,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """See :func:`kernbench.api.pictures`."""
    for nbytes in (latency_bytes, bandwidth_bytes):
        if nbytes < 1:
            raise UsageError(f"a transfer of {nbytes} bytes, expected at least 1")
    drawing.require()
    small = machine_for(graph)
    found, missing = scenarios(small)
    done = _Counted(2 * len(OPS) * len(found), progress)
    latency = latency_rows(small, found, latency_bytes, done)
    bandwidth = bandwidth_rows(small, found, bandwidth_bytes, done)
    name = str(graph.properties["name"])
    folder = Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    names = (f"dma_{what}.{ending}" for what in ("latency", "bandwidth") for ending in ("csv", "png"))
    files = [folder / file for file in names]
    write_csv(files[0], LATENCY_COLUMNS, latency)
    drawing.save(drawing.latency_figure(latency, name, latency_bytes), str(files[1]))
    write_csv(files[2], BANDWIDTH_COLUMNS, bandwidth)
    drawing.save(drawing.bandwidth_figure(bandwidth, name, bandwidth_bytes), str(files[3]))
    return {
        "files": [str(file) for file in files],
        "latency": latency,
        "bandwidth": bandwidth,
        "left_out": [{"scenario": item.scenario, "why": item.why} for item in missing],
    }


class _Counted:
    """Tells ``progress`` how many of ``runs`` runs are over."""

    def __init__(self, runs: int, progress: Progress | None) -> None:
        self.runs, self.progress = runs, progress
        self.over, self.sim_ns, self.events = 0, 0.0, 0

    def __call__(self, machine: Machine) -> None:
        self.over += 1
        self.sim_ns += machine.clock.now
        self.events += machine.fabric.flit_crossings
        if self.progress is not None:
            self.progress(self.sim_ns, self.events, self.over / self.runs)
