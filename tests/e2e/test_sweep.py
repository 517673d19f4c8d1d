"""``kernbench sweep``: rows, resuming, processes, and what is left after SIGKILL."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

import kernbench as kb
from kernbench.errors import UsageError
from kernbench.support.pgraph import QueryError

Cli = Callable[..., Any]
SMALL = ("sweep", "--bench", "gemm-single-pe", "--topology", "minimal", "k=16", "n=16")
KILLER = """\
import os, pathlib, signal
import numpy as np
from kernbench.workloads.benches import bench
from kernbench.workloads.benches.params import Param

def copy(x, out, n, tl):
    tl.cycles(n)
    tl.store(out, tl.load(x))

@bench(name="killer", description="Copies; once, at one point, a process is killed.", params=(
    Param("n", int, 1, "cycles"), Param("at", int, -1, "n at which to kill"),
    Param("who", str, "self", "whom")))
def run(torch):
    n, at = torch.params["n"], torch.params["at"]
    marker = pathlib.Path(f"killed-{at}")
    if n == at and not marker.exists():
        marker.touch()
        os.kill(os.getpid() if torch.params["who"] == "self" else os.getppid(), signal.SIGKILL)
        signal.pause()
    x = torch.from_numpy(np.ones((2, 4), np.float32))
    torch.launch("copy", copy, x, torch.empty(2, 4, dtype="f32"), n)
"""
DIES_AFTER_KEEPING = """\
from kernbench.api.sweeps import jobs as sweep_jobs

real = sweep_jobs.measure

def dying(job, progress=None):
    answer = real(job, progress)
    marker = pathlib.Path(f"died-{job.params['n']}")
    if not marker.exists():
        marker.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return answer

sweep_jobs.measure = dying
"""
ROW = ("point", "topology", "params", "topo", "latency_ns", "sim_ns", "verified", "error")


def rows(sweep: kb.Sweep) -> list[dict[str, Any]]:
    """The rows without what differs from run to run."""
    return [{name: point.as_dict()[name] for name in ROW} for point in sweep.points]


def test_rows_are_kept_runs_and_a_failed_point_is_one_too(cli: Cli, workdir: Path) -> None:
    ended = cli(*SMALL, "m=8..32*2", "--topo", "cube.hbm.channel_gbs=32,-1", "--format", "json",
                "--out", "rows.parquet")  # fmt: skip
    assert ended.status == 1
    assert "3 of 6 points failed; the first, point 2: override cube.hbm.channel_gbs: is -1" in ended.err
    found = json.loads(ended.out)
    assert found["swept"] == ["m", "cube.hbm.channel_gbs"]
    assert [(p["params"]["m"], p["topo"]["cube.hbm.channel_gbs"]) for p in found["points"]] == [
        (m, gbs) for m in (8, 16, 32) for gbs in (32, -1)
    ]
    for point in found["points"]:
        assert bool(point["error"]) == (point["topo"]["cube.hbm.channel_gbs"] == -1) == (not point["run_id"])
        if point["run_id"]:
            run = kb.open_run(point["run_id"])
            assert (run.latency_ns, run.params["m"]) == (point["latency_ns"], point["params"]["m"])
            assert run.tags == ["sweep-gemm-single-pe"]
    table = pq.read_table("rows.parquet")
    assert table["m"].to_pylist() == [8, 8, 16, 16, 32, 32]
    assert table["latency_ns"].to_pylist() == [p["latency_ns"] for p in found["points"]]
    assert [path.name for path in workdir.iterdir() if "parquet" in path.name] == ["rows.parquet"]

    longer = json.loads(cli(*SMALL, "m=8,64", "--tag", "more", "--format", "json").out)
    assert [p["kept_before"] for p in longer["points"]] == [True, False]
    assert longer["points"][0]["run_id"] == found["points"][0]["run_id"]
    assert kb.open_run(longer["points"][0]["run_id"]).tags == ["sweep-gemm-single-pe", "more"]

    shown = cli(*SMALL, "m=8,64").out
    assert "kept_before" in shown
    assert "█" in shown or "#" in shown
    assert "fastest: " in shown


def test_what_is_wrong_with_every_point_is_wrong_usage(cli: Cli) -> None:
    for arguments, message in (
        (("mm=1,2",), "no parameter 'mm'; did you mean 'm'?"),
        (("m=9..8",), "ends below its beginning"),
        (("--topo", "cube.hbm.chanel_gbs=1,2"), "unknown key, did you mean 'channel_gbs'?"),
        (("--out", "x.csv"), "must end in .parquet"),
    ):
        ended = cli(*SMALL, *arguments)
        assert ended.status == 2
        assert message in ended.err
        assert ended.out == ""
    assert "name a bench" in cli("sweep").err


def test_kept_runs_count_only_where_they_say_what_is_asked(workdir: Path) -> None:
    how: dict[str, Any] = {"topology": "minimal", "params": {"m": [8], "k": 16, "n": 16}}
    plain = kb.sweep("gemm-single-pe", **how)
    verified = kb.sweep("gemm-single-pe", verify=True, **how)
    assert [p.kept_before for p in verified.points] == [False]
    assert [p.verified for p in verified.points] == [True]
    for verify in (True, False):
        assert [p.kept_before for p in kb.sweep("gemm-single-pe", verify=verify, **how).points] == [True]
    assert rows(plain)[0]["latency_ns"] == rows(verified)[0]["latency_ns"]
    changed = kb.sweep("gemm-single-pe", topo={"cube.hbm.channel_gbs": "16"}, **how)
    assert [p.kept_before for p in changed.points] == [False]


def test_configurations_of_kernels_are_swept_and_found_again(workdir: Path) -> None:
    @kb.autotune(configs=[{"n": 3}, {"n": 5}])
    def wait(x: Any, out: Any, n: int, tl: Any) -> None:
        tl.cycles(n)
        tl.store(out, tl.load(x))

    def waits(torch: Any) -> None:
        torch.launch("wait", wait, torch.zeros(2, 4), torch.empty(2, 4))

    for kept_before in (False, True):
        found = kb.sweep(waits, "minimal", params={"wait.n": [5, "3"]})
        assert [p.kept_before for p in found.points] == [kept_before] * 2
        assert [p.params for p in found.points] == [{"wait.n": "5"}, {"wait.n": "3"}]
        first, second = (p.latency_ns or 0.0 for p in found.points)
        assert first > second
        # Without a setting it is the first configuration, whatever was measured before in this process.
        alone = kb.sweep(waits, "minimal")
        assert [(p.kept_before, p.latency_ns) for p in alone.points] == [(kept_before, second)]
    with pytest.raises(UsageError, match="swept with jobs=1"):
        kb.sweep(waits, "minimal", jobs=2)


@pytest.mark.slow
def test_a_worker_that_is_killed_is_replaced_and_rows_are_those_of_one_process(workdir: Path) -> None:
    (workdir / "killer.py").write_text(KILLER, encoding="utf-8")
    how: dict[str, Any] = {"topology": "minimal", "params": {"n": "1..4", "at": 2}}
    two = kb.sweep("killer.py", jobs=2, **how)
    assert (workdir / "killed-2").exists()
    assert [p.error for p in two.points] == [""] * 4
    assert len(kb.runs()) == 4
    one = kb.sweep("killer.py", store="memory:", **how)
    assert rows(one) == rows(two)


@pytest.mark.slow
def test_a_worker_that_dies_once_its_run_is_kept_does_not_keep_it_twice(process: Cli, workdir: Path) -> None:
    (workdir / "killer.py").write_text(KILLER + DIES_AFTER_KEEPING, encoding="utf-8")
    command = ("sweep", "--bench", "killer.py", "--topology", "minimal", "n=1..6", "--jobs", "2")
    ended = process(*command, "--format", "json")
    assert ended.status == 0, ended.err
    assert len(list(workdir.glob("died-*"))) >= 2
    assert {run.id for run in kb.runs()} == {point["run_id"] for point in json.loads(ended.out)["points"]}
    assert len(kb.runs()) == 6


@pytest.mark.slow
def test_a_sweep_that_is_killed_is_completed_by_the_next_call(process: Cli, cli: Cli, workdir: Path) -> None:
    (workdir / "killer.py").write_text(KILLER, encoding="utf-8")
    command = ("sweep", "--bench", "killer.py", "--topology", "minimal", "n=1..4", "at=3",
               "who=sweep")  # fmt: skip
    assert process(*command).status == -signal.SIGKILL
    assert len(kb.runs()) == 2
    found = json.loads(cli(*command, "--format", "json").out)
    assert [p["kept_before"] for p in found["points"]] == [True, True, False, False]
    assert len(kb.runs()) == 4


@pytest.mark.slow
def test_kills_of_the_sweep_lose_at_most_the_points_under_way(process: Cli, workdir: Path) -> None:
    (workdir / "killer.py").write_text(KILLER, encoding="utf-8")
    for at in range(1, 21, 4):
        command = ("sweep", "--bench", "killer.py", "--topology", "minimal", "n=1..20",
                   f"at={at}", "who=parent", "--jobs", "2")  # fmt: skip
        store = ("--store", f"store-{at}")
        assert process(*command, *store).status == -signal.SIGKILL
        before = len(kb.runs(f"store-{at}"))
        assert before >= at - 3
        found = kb.sweep(
            "killer.py", "minimal", params={"n": "1..20", "at": at, "who": "parent"}, store=f"store-{at}"
        )
        assert not found.failed
        assert sum(p.kept_before for p in found.points) == before
        assert len(kb.runs(f"store-{at}")) == 20


@pytest.mark.slow
def test_the_best_of_a_sweep_and_a_comparison_name_the_keys_that_differ(cli: Cli) -> None:
    cli(*SMALL, "m=8,16", "--topo", "cube.hbm.channel_gbs=8,32")
    asked = cli("query", "best-of-sweep", "bench=gemm-single-pe", "--format", "json")
    best = [row[0] for row in json.loads(asked.out)["rows"]]
    assert best[0] == "cube.hbm.channel_gbs=32.0, m=8"
    assert best[-1] == "cube.hbm.channel_gbs=8.0, m=16"
    cli("run", "gemm-single-pe", "--topology", "minimal", "m=128")  # no point of the sweep
    most = kb.ask("sweep-keys", params={"bench": "gemm-single-pe"}).dicts()
    every = kb.ask("sweep-keys", params={"bench": "gemm-single-pe", "tag": ""}).dicts()
    assert ("m", "8", "128") in [(row["key"], row["best"], row["worst"]) for row in every]
    assert [(row["key"], row["best"], row["worst"]) for row in most] == [
        ("cube.hbm.channel_gbs", "32.0", "8.0"),
        ("m", "8", "16"),
    ]
    given = {"bench": "gemm-single-pe", "key": "cube.hbm.channel_gbs"}
    front = kb.ask("pareto", params=given).dicts()
    assert [row["value"] for row in front] == [8.0, 32.0]
    assert front[0]["best_ns"] > front[1]["best_ns"]
    cheap = kb.ask("pareto", params={**given, "cheaper": "more"}).dicts()
    assert [row["value"] for row in cheap] == [32.0]  # as cheap as any, and faster than all
    with pytest.raises(QueryError, match=r"there is no key 'cube\.hbm\.chanel_gbs'"):
        kb.ask("pareto", params={**given, "key": "cube.hbm.chanel_gbs"})
    cli("runs", "rm", "last")
    compared = json.loads(cli("compare", "last~2", "last", "--format", "json").out)
    first, last = (run.id for run in (kb.runs()[1], kb.runs()[-1]))
    rows = kb.ask("configured-differently", params={"before": first, "after": last}).rows
    assert rows == [
        (
            row["what"],
            row["key"],
            *("" if row[end] is None else json.dumps(row[end]) for end in ("before", "after")),
        )
        for row in compared["configured"]
    ]
    assert rows
    cli("run", "--bench", "softmax", "--topology", "minimal")
    other = json.loads(cli("compare", "last~1", "last", "--any", "--format", "json").out)["configured"]
    assert {row["what"] for row in other} == {"bench", "parameter"}


@pytest.mark.parametrize(
    ("jobs", "end"),
    [
        ("2", "os.kill(os.getpid(), signal.SIGSEGV)"),
        pytest.param("1", "os.kill(os.getpid(), signal.SIGSEGV)", marks=pytest.mark.slow),
        pytest.param("1", "os._exit(0)", marks=pytest.mark.slow),
        pytest.param("2", "os._exit(0)", marks=pytest.mark.slow),
    ],
)
def test_a_point_that_ends_its_process_is_a_row(cli: Cli, workdir: Path, end: str, jobs: str) -> None:
    bench = KILLER.replace("if n == at and not marker.exists():", f"if n == at:\n        {end}")
    (workdir / "ends.py").write_text(bench, encoding="utf-8")
    how = ("sweep", "ends.py", "--topology", "minimal", "n=1,2,3", "at=2", "--jobs", jobs)
    ended = cli(*how, "--format", "json")
    assert ended.status == 1
    points = json.loads(ended.out)["points"]
    assert ["its process ended with status" in point["error"] for point in points] == [False, True, False]
    assert [bool(point["run_id"]) for point in points] == [True, False, True]
    assert ended.err.startswith(
        "kernbench: error: 1 of 3 points failed; the first, point 2: its process ended"
    )
