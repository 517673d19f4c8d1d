"""kill -9 of a sweep at 12 moments, and of a worker at 6: at most the points under way are lost.

On Dask at three of them.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil
import pytest

import kernbench as kb
from kernbench.api import active_runs as going
from kernbench.api.active_runs import ActiveRuns
from tests.processes import Process

POINTS = 16
PARAMS: dict[str, Any] = {"m": "8..128+8", "k": 64}
COMMAND = [sys.executable, "-m", "kernbench", "sweep", "--bench", "gemm-single-pe", "--topology", "minimal",
           "m=8..128+8", "k=64", "--jobs", "2"]  # fmt: skip
EXECUTORS = {"processes": (), "dask": ("--executor", "dask")}
MOMENTS = 12
ON_DASK = [("dask", moment) for moment in range(0, MOMENTS, 4)]  # a cluster takes seconds to begin


def rows(sweep: kb.Sweep) -> list[tuple[Any, ...]]:
    """The rows without what differs from run to run."""
    return [(p.point, p.params, p.topo, p.latency_ns, p.sim_ns, p.verified, p.error) for p in sweep.points]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Rows of a sweep that is left in peace, and how long one takes on each executor."""
    folder = tmp_path_factory.mktemp("whole")
    takes = {}
    for name, options in EXECUTORS.items():
        begun = time.monotonic()
        subprocess.run(
            [*COMMAND, *options, "--store", str(folder / name)], check=True, stdout=subprocess.DEVNULL
        )
        takes[name] = time.monotonic() - begun
    return {
        "rows": rows(kb.sweep("gemm-single-pe", "minimal", params=PARAMS, store="memory:")),
        "takes": takes,
    }


def workers_of(sweep: int) -> list[psutil.Process]:
    """Processes of a sweep that run points, or will; none where it has ended."""
    with suppress(psutil.NoSuchProcess):
        below = psutil.Process(sweep).children(recursive=True)
        return [process for process in below if "resource_tracker" not in " ".join(process.cmdline())]
    return []


def under_way(folder: Path) -> ActiveRuns:
    with kb.open_store(folder) as store:
        return going.under_way(store)


def completed(store: Path, whole: dict[str, Any]) -> None:
    """All kept runs are whole, and the next call adds exactly the rest."""
    before = kb.runs(store) if store.exists() else []
    for run in before:
        assert run.latency_ns > 0
        assert len(run.ops["kind"]) > 0
    found = kb.sweep("gemm-single-pe", "minimal", params=PARAMS, store=store)
    assert rows(found) == whole["rows"]
    assert sum(point.kept_before for point in found.points) == len(before)
    assert len(kb.runs(store)) == POINTS
    if len(before) < POINTS:  # the next run that is kept clears away what was half written, or who looks
        assert under_way(store).works == ()
        assert not list(store.glob("*/.tmp-*"))


@pytest.mark.slow
@pytest.mark.parametrize(("executor", "moment"), [*(("processes", n) for n in range(MOMENTS)), *ON_DASK])
def test_the_sweep_is_killed(tmp_path: Path, whole: dict[str, Any], executor: str, moment: int) -> None:
    store = tmp_path / "store"
    command = [*COMMAND, *EXECUTORS[executor], "--store", str(store)]
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    environment = {**os.environ, "TMPDIR": str(scratch)}
    with Process(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment) as sweep:
        time.sleep(whole["takes"][executor] * (moment + 0.5) / MOMENTS)
        left = workers_of(sweep.pid)
        sweep.kill()
    _, alive = psutil.wait_procs(left, timeout=20)
    assert not alive  # no worker goes on for a sweep that is dead
    if executor == "processes":
        assert not list(scratch.glob("*/*.machine"))
    completed(store, whole)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("executor", "moment"), [*(("processes", n) for n in range(1, MOMENTS, 2)), *ON_DASK]
)
def test_a_worker_is_killed(tmp_path: Path, whole: dict[str, Any], executor: str, moment: int) -> None:
    store = tmp_path / "store"
    command = [*COMMAND, *EXECUTORS[executor], "--store", str(store)]
    with Process(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as sweep:
        time.sleep(whole["takes"][executor] * (moment + 0.5) / MOMENTS)
        victims = workers_of(sweep.pid)
        if victims:
            with suppress(psutil.NoSuchProcess):
                victims[moment // 2 % len(victims)].kill()
        _, said = sweep.communicate(timeout=120)
    assert sweep.returncode == 0, said
    assert len(kb.runs(store)) == POINTS  # the point under way was tried again
    completed(store, whole)
