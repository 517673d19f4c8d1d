"""What is under way, as other processes see it."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import kernbench as kb
from kernbench.api.active_runs import ActiveRuns, UnderWay, under_way
from kernbench.api.stores import borrowed
from tests.processes import Process

KILLED = """
import sys, time
from pathlib import Path
from kernbench.api import active_runs
active_runs.FIRST_S = 0.0
with active_runs.UnderWay(Path("store"), "run endless") as way:
    way.tell(lambda _: "preparing")
    print("told", flush=True)
    time.sleep(600)
"""


def names(store: Path | str) -> list[str]:
    with borrowed(str(store)) as opened:
        return [work.name for work in under_way(opened).works]


@pytest.mark.usefixtures("workdir")
def test_a_moment_tells_nobody_and_what_takes_longer_tells_until_its_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with UnderWay(Path("store"), "run a") as way:
        way.tell(lambda _: "preparing")
        assert not Path("store").exists()
    monkeypatch.setattr("kernbench.api.active_runs.FIRST_S", 0.0)
    with UnderWay(Path("store"), "run b") as way:
        way.tell(lambda _: "preparing")
        way.tell(lambda _: "again, at once")
        with borrowed("store") as opened:
            (work,) = under_way(opened).works
            assert (work.name, work.text) == ("run b", "preparing")
            assert under_way(opened).newest == ""
    assert names("store") == []
    with borrowed("memory:") as opened:
        assert under_way(opened) == ActiveRuns()


@pytest.mark.usefixtures("workdir")
@pytest.mark.parametrize("asked", [names, kb.runs])
def test_nothing_is_shown_of_a_process_that_was_killed(asked: Callable[[str], list[object]]) -> None:
    with Process([sys.executable, "-c", KILLED], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "told\n"
        assert names("store") == ["run endless"]
        process.send_signal(signal.SIGKILL)
    assert asked("store") == []
    assert not list(Path("store/under-way").iterdir())


@pytest.mark.usefixtures("workdir")
def test_a_sweep_and_its_runs_tell(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kernbench.api.active_runs.FIRST_S", 0.0)
    monkeypatch.setattr("kernbench.api.active_runs._EVERY_S", 0.0)
    seen: list[str] = []

    def look(_: object) -> None:
        with borrowed(None) as opened:
            seen.extend(f"{work.name}: {work.text}" for work in under_way(opened).works)

    kb.sweep("gemm-single-pe", "minimal", params={"m": "16,32"}, progress=look)
    assert "sweep gemm-single-pe: 1 of 2 points" in [text.partition(",")[0] for text in seen]
    assert any(text.startswith("run gemm-single-pe: simulated ") for text in seen)
