"""A bench that is to be verified and gives nothing to compare: every command says so and fails."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import kernbench as kb

Cli = Callable[..., Any]

BENCH = """
import numpy as np
import kernbench as kb
from kernbench.workloads.benches import bench

@kb.autotune(configs=[{"BLOCK": 8}, {"BLOCK": 4}])
def double(x, tl, BLOCK=8):
    tl.store(x, tl.load(x) * 2.0)

@bench(name="unchecked", description="Doubles.")
def run(torch):
    torch.launch("double", double, torch.from_numpy(np.ones((8, 8), np.float32)))
"""
SAYS = "bench 'unchecked' checks nothing, so nothing was verified"


@pytest.fixture
def unchecked(workdir: Path) -> str:
    (workdir / "unchecked.py").write_text(BENCH, encoding="utf-8")
    return str(workdir / "unchecked.py")


@pytest.mark.daily(but=("sweep",))
@pytest.mark.parametrize(
    "command",
    [
        ["run", "--verify-data"],
        ["sweep", "double.BLOCK=4,8", "--verify-data"],
        ["tune", "--verify-data"],
    ],
    ids=lambda command: command[0],
)
def test_what_verifies_nothing_fails(cli: Cli, workdir: Path, unchecked: str, command: list[str]) -> None:
    name, *options = command
    how = ("--bench", unchecked, "--topology", "minimal", "--store", str(workdir / "store"))
    failed = cli(name, *how, *options)
    assert failed.status == 1
    assert SAYS in failed.err + failed.out


def test_the_run_is_kept_and_says_that_nothing_was_checked(cli: Cli, workdir: Path, unchecked: str) -> None:
    store = str(workdir / "store")
    how = ("run", "--bench", unchecked, "--topology", "minimal", "--store", store)
    assert cli(*how).status == 0
    assert not kb.open_run("last", store).nothing_checked
    shown = cli(*how, "--verify-data", "--format", "json")
    assert shown.status == 1
    assert (json.loads(shown.out)["verified"], json.loads(shown.out)["nothing_checked"]) == (None, True)
    run = kb.open_run("last", store)
    assert run.nothing_checked
    assert run.verified is None


@pytest.mark.slow
def test_operations_that_were_compared_are_no_results(cli: Cli, workdir: Path) -> None:
    """A sweep that verifies does not take a run whose operations were right for one whose results were."""
    plain = "\n".join(line for line in BENCH.splitlines() if "autotune" not in line)
    (workdir / "plain.py").write_text(plain, encoding="utf-8")
    how = ("--bench", str(workdir / "plain.py"), "--topology", "minimal", "--store", str(workdir / "store"))
    assert cli("run", *how, "--verify-ops").status == 0
    assert cli("sweep", *how, "--verify-data").status == 1
