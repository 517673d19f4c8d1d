"""``--exact`` means the same for ``run``, ``sweep``, ``tune`` and ``evaluate``: nothing is estimated."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import kernbench as kb

Cli = Callable[..., Any]
BENCH = """\
import numpy as np
import kernbench as kb
from kernbench.workloads.benches import bench

@kb.autotune(configs=[{"N": n} for n in (3, 2)], key=["x"])
def add(x, out, N, tl):
    tl.cycles(N)
    tl.store(out, tl.load(x))

@bench(name="layers", description="Eight layers.")
def run(torch):
    x = torch.from_numpy(np.ones((2, 4), np.float32))
    out = torch.empty(2, 4, dtype="f32")
    for _ in torch.repeat(8):
        torch.launch("add", add, x, out)
"""
EVALUATION = """\
from kernbench.api.evaluations import evaluation

@evaluation(name="all-layers", description="One point.")
def run(evaluator):
    found = evaluator.points("layers.py", [{}], verify=False)
    evaluator.table("layers", [{"launches": len(one.launches), "run_id": one.id} for one in found])
"""
COMMANDS = {
    "run": ("run", "layers.py"),
    "sweep": ("sweep", "layers.py"),
    "tune": ("tune", "layers.py"),
    "evaluate": ("evaluate", "layers_evaluation.py", "--out", "o"),
}


@pytest.fixture(autouse=True)
def _files(workdir: Path) -> None:
    (workdir / "layers.py").write_text(BENCH, encoding="utf-8")
    (workdir / "layers_evaluation.py").write_text(EVALUATION, encoding="utf-8")


def launches() -> list[int]:
    """Launches that each kept run has simulated."""
    return [len(run.launches) for run in kb.runs()]


@pytest.mark.daily("run", "tune")
@pytest.mark.parametrize("command", COMMANDS)
def test_exact_simulates_all(command: str, cli: Cli) -> None:
    runs = 2 if command == "tune" else 1
    for more in ((), ("--exact",)):
        assert cli(*COMMANDS[command], "--topology", "minimal", *more).err == ""
    assert launches() == [3] * runs + [8] * runs
    assert ["repeats" in run.info for run in kb.runs()] == [True] * runs + [False] * runs
