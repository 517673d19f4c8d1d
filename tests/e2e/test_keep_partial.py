"""``--keep-partial``: whatever stops a run, the part that had ended is kept, marked, and can be asked."""

from __future__ import annotations

import json
from collections.abc import Callable
from math import isclose
from pathlib import Path
from typing import Any

import pytest

import kernbench as kb
from kernbench.analysis.windows.chosen_window import ChosenWindow
from kernbench.api.asking import questions
from kernbench.api.open_runs import OpenRun
from kernbench.errors import KernBenchError, LaunchError, LimitError, UsageError
from kernbench.tui.models.run_page import run_page
from tests.small_machines import TWO_PES

Cli = Callable[..., Any]
BENCH = """\
import os, signal
import numpy as np
from kernbench.workloads.benches import bench

def sums(x, out, tl):
    total = tl.load(x) + 1.0
    tl.store(out, total)
    for _ in range(3):
        total = total + tl.load(x)
    {fault}
    tl.store(out, total)

@bench(name="stopped", description="Is stopped in the middle.")
def run(torch):
    x = torch.from_numpy(np.ones((4, 4), np.float32), name="x")
    torch.launch("sums", sums, x, torch.empty(4, 4, dtype="f32", name="out")).wait()
    torch.launch("sums", sums, x, torch.empty(4, 4, dtype="f32"))
"""
RUN = ("run", "--bench", "stopped.py", "--topology", "minimal", "--keep-partial")


def bench(folder: Path, fault: str) -> None:
    (folder / "stopped.py").write_text(BENCH.replace("{fault}", fault), encoding="utf-8")


def test_a_kernel_that_raises(cli: Cli, workdir: Path) -> None:
    bench(workdir, "1 / 0")
    done = cli(*RUN)
    assert done.status == 1
    assert "ZeroDivisionError" in done.err
    assert "; saved as run " in done.err
    assert "partial: it was stopped" in done.out
    kept = json.loads(cli("runs", "list", "--format", "json").out)["runs"]
    assert [run["status"] for run in kept] == ["partial"]
    lines = json.loads(cli("why", "--format", "json").out)["by_line"]
    assert lines["stopped.py:9"] > lines["stopped.py:7"] > 0
    # The launch was answered, with its failure.
    assert [launch.get("unfinished", False) for launch in kb.open_run("last").launches] == [False]


def test_a_partial_run_is_compared_only_when_asked(cli: Cli, workdir: Path) -> None:
    bench(workdir, "1 / 0")
    cli(*RUN)
    bench(workdir, "pass")
    cli(*RUN)
    for pair in (("last~1", "last"), ("last", "last~1")):
        done = cli("compare", *pair)
        assert done.status == 2
        assert "is partial: it was stopped at" in done.err
    done = cli("compare", "last", "last~1", "--any")
    assert done.status in (0, 1)
    assert "stopped on minimal (partial)" in done.out


def test_without_it_nothing_is_kept(cli: Cli, workdir: Path) -> None:
    bench(workdir, "1 / 0")
    done = cli(*RUN[:-1])
    assert "; the run is not saved" in done.err
    assert json.loads(cli("runs", "list", "--format", "json").out)["runs"] == []


def test_a_limit(cli: Cli, workdir: Path) -> None:
    bench(workdir, "pass")
    done = cli(*RUN, "--max-ns", "400", "--format", "json")
    assert done.status == 1
    shown = json.loads(done.out)
    assert (shown["status"], shown["verified"]) == ("partial", None)
    assert 400 <= shown["sim_ns"] < 450
    assert kb.open_run("last").id == shown["run_id"]
    assert shown["problem"] in done.err
    assert f"{shown['problem']}\n" in cli("show").out
    page = run_page(OpenRun(kb.open_run("last")), ChosenWindow())
    assert dict(page.facts)["problem"].startswith(shown["problem"][:40])
    *_, launch = shown["launches"]
    assert launch["unfinished"]
    assert launch["t_done"] == shown["sim_ns"]


def test_ctrl_c(cli: Cli, workdir: Path) -> None:
    bench(workdir, "os.kill(os.getpid(), signal.SIGINT)")
    done = cli(*RUN)
    assert done.status == 130
    assert "interrupted at" in done.err
    assert "kernel 'sums' on sip0.cube0.pe0" in done.err
    assert "saved as run" in done.err
    assert "nothing was saved" not in done.err
    assert kb.open_run("last").info["status"] == "partial"
    assert "nothing was saved" in cli(*RUN[:-1]).err


def test_a_bench_that_did_nothing_yet_keeps_nothing() -> None:
    def nothing(torch: Any) -> None:
        raise ValueError("no")

    with pytest.raises(KernBenchError, match="not saved") as caught:
        kb.run(nothing, "minimal", store="memory:", keep_partial=True)
    assert caught.value.kept_run is None


@pytest.mark.slow
def test_wherever_a_run_is_stopped_all_questions_can_be_asked(workdir: Path) -> None:
    bench(workdir, "tl.dot(tl.load(x), total)")
    machine = kb.load_topology("minimal", TWO_PES)
    with kb.open_store("memory:") as store:
        whole = kb.run("stopped.py", machine, store=store)
        asked, stops = set(), 0
        free = [
            one["name"]
            for one in questions()
            if one["scope"] == "run" and all(p["default"] is not None for p in one["params"])
        ]
        events = whole.info["events"]
        for stop in range(3, events * 9 // 10, max(1, events // 6)):
            with pytest.raises(LimitError) as caught:
                kb.run("stopped.py", machine, store=store, max_events=stop, keep_partial=True)
            part = caught.value.kept_run
            if part is None:
                continue
            for launch in ("run", *range(len(part.launches))):
                path = part.critical_path(launch)
                assert isclose(sum(step.ns for step in path.steps), path.ns, abs_tol=1e-6)
                assert "unexplained" not in path.by_cause()
                # The steps before the end are those of the whole run, or wait for what had not ended.
                assert (
                    path.by_cause().get("component", 0.0)
                    <= 1e-6 + whole.critical_path("run").by_cause()["component"]
                )
            assert max(part.used["utilisation"]) <= 1.0
            assert set(part.ops["number"]) <= set(whole.ops["number"])
            for question in free[stops % 3 :: 3]:  # each where two of the runs were stopped
                part.query(question)
                asked.add(question)
            stops += 1
        assert stops > 3
        assert asked == set(free)


def test_a_partial_run_is_not_run_anew_on_another_machine(workdir: Path) -> None:
    bench(workdir, "1 / 0")
    with kb.open_store("memory:") as store:
        with pytest.raises(LaunchError) as caught:
            kb.run("stopped.py", "minimal", store=store, keep_partial=True)
        with pytest.raises(UsageError, match="is partial"):
            kb.what_if(caught.value.kept_run.id, {"kind:router": "2"}, store)
