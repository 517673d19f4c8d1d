"""``kernbench sweep --executor dask``: rows of a cluster, workers that die, and all that may go wrong."""

from __future__ import annotations

import json
import logging
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest

import kernbench as kb
from kernbench.api.sweeps import dask_cluster
from kernbench.api.sweeps.remote import SourceFile, pack, unpack
from kernbench.errors import KernBenchError, MissingExtraError, UsageError
from tests.processes import Process

Cli = Callable[..., Any]
SLEEPER = """\
import os, pathlib, signal, time
import numpy as np
from kernbench.workloads.benches import bench
from kernbench.workloads.benches.params import Param

def copy(x, out, n, tl):
    tl.cycles(n)
    tl.store(out, tl.load(x))

@bench(name="sleeper", description="Copies; may sleep, print, or kill its process.", params=(
    Param("n", int, 1, "cycles"), Param("kill", int, 0, "n at which its process is killed"),
    Param("times", int, 1, "times"), Param("s", float, 0.0, "seconds")))
def run(torch):
    p = torch.params
    print("this is no row")
    time.sleep(p.s)
    if p.n == p.kill:
        for attempt in range(p.times):
            marker = pathlib.Path(f"killed-{attempt}")
            if not marker.exists():
                marker.touch()
                os.kill(os.getpid(), signal.SIGKILL)
                signal.pause()
    x = torch.from_numpy(np.ones((2, 4), np.float32))
    torch.launch("copy", copy, x, torch.empty(2, 4, dtype="f32"), p.n)
"""
ROW = ("point", "topology", "params", "topo", "latency_ns", "sim_ns", "verified", "error")
COMMAND = [
    str(Path(sys.executable).parent / "kernbench"),
    "sweep",
    "--bench",
    "sleeper.py",
    "--topology",
    "minimal",
]


def rows(sweep: kb.Sweep) -> list[dict[str, Any]]:
    """The rows without what differs from run to run."""
    return [{name: point.as_dict()[name] for name in ROW} for point in sweep.points]


def contents(store: str) -> list[str]:
    """Hashes of the archives of a store's runs, of all but when and where they were run."""
    manifests = Path(store, "runs").glob("*/manifest.json")
    return sorted(json.loads(path.read_text(encoding="utf-8"))["content"] for path in manifests)


def group_lives(group: int) -> bool:
    """Whether any process of that group is there."""
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.fixture
def sleeper(workdir: Path) -> Path:
    file = workdir / "sleeper.py"
    file.write_text(SLEEPER, encoding="utf-8")
    return file


@contextmanager
def cluster(folder: Path, workers: int = 1) -> Iterator[str]:
    """A scheduler and its workers as processes that know nothing of this one; gives the address."""
    folder.mkdir()
    where = folder / "scheduler.json"
    file = ("--scheduler-file", str(where))
    scheduler = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", "0"]
    worker = [sys.executable, "-m", "distributed.cli.dask_worker", "--nthreads", "2"]
    commands = [scheduler, *([worker] * workers)]
    with (folder / "log").open("w") as log:
        begun: list[Process] = []
        try:
            begun.extend(
                Process([*command, *file, "--no-dashboard"], cwd=folder, stdout=log, stderr=log)
                for command in commands
            )
            while not where.exists() or not (text := where.read_text()):
                time.sleep(0.05)
            yield str(json.loads(text)["address"])
        finally:
            for process in reversed(begun):
                process.terminate()
            for process in begun:
                process.wait(timeout=30)


@pytest.mark.slow
def test_rows_and_archives_are_those_of_one_process(workdir: Path) -> None:
    how: dict[str, Any] = {
        "topology": "minimal", "verify": True, "params": {"m": "16..64*2"},
        "topo": {"cube.hbm.channel_gbs": "16,-1,32"},
    }  # fmt: skip
    one = kb.sweep("gemm-single-pe", store="one", **how)
    two = kb.sweep("gemm-single-pe", store="two", jobs=2, **how)
    dask = kb.sweep("gemm-single-pe", store="dask", jobs=2, executor="dask", **how)
    assert rows(one) == rows(two) == rows(dask)
    assert [bool(point.error) for point in dask.points] == [False, True, False] * 3
    assert len(contents("one")) == 6
    assert contents("one") == contents("two") == contents("dask")
    again = kb.sweep("gemm-single-pe", store="dask", **how)
    assert [point.kept_before for point in again.points] == [True, False, True] * 3
    into_memory = kb.open_store("memory:")
    found = kb.sweep("gemm-single-pe", store=into_memory, jobs=1, executor="dask", **how)
    assert rows(found) == rows(one)
    assert len(kb.runs(into_memory)) == 6


@pytest.mark.slow
def test_a_worker_that_is_killed_is_replaced_and_one_that_always_dies_is_a_row(
    cli: Cli, sleeper: Path
) -> None:
    command = (
        "sweep",
        "--bench",
        "sleeper.py",
        "--topology",
        "minimal",
        "n=1..4",
        "--format",
        "json",
    )
    ended = cli(*command, "kill=2", "--executor", "dask", "--jobs", "2")
    assert ended.status == 0, ended.err
    found = json.loads(ended.out)  # what the bench prints is not on stdout
    assert [point["error"] for point in found["points"]] == [""] * 4
    assert Path("killed-0").exists()
    assert len(kb.runs()) == 4

    ended = cli(*command, "kill=3", "times=99", "--executor", "dask", "--jobs", "2")
    assert ended.status == 1
    errors = [point["error"] for point in json.loads(ended.out)["points"]]
    assert errors[2] == "its Dask workers died of it, several times; is there memory enough?"
    assert errors[:2] + errors[3:] == [""] * 3
    assert "1 of 4 points failed" in ended.err
    assert "Traceback" not in ended.err


@pytest.mark.slow
def test_a_cluster_elsewhere_gets_what_it_needs(cli: Cli, sleeper: Path, workdir: Path) -> None:
    Path("machine.yaml").write_text("schema_version: 1\nname: mine\nsystem: {sips: 1}\n"
                                    "sip: {cube_mesh: {w: 1, h: 1}}\n", encoding="utf-8")  # fmt: skip
    command = ("sweep", "--bench", "sleeper.py", "--topology", "machine.yaml", "n=1..6")
    with cluster(workdir / "elsewhere", workers=2) as address:
        ended = cli(*command, "--scheduler", address, "--format", "json")
        assert ended.status == 0, ended.err
        found = json.loads(ended.out)
        assert [point["topology"] for point in found["points"]] == ["mine"] * 6
        local = kb.sweep("sleeper.py", "machine.yaml", params={"n": "1..6"}, store="local")
        assert [point["latency_ns"] for point in found["points"]] == [p.latency_ns for p in local.points]
        assert contents(".kernbench") == contents("local")
        # Benches are found again by the name that they were given here.
        assert {run.properties["again"]["bench"] for run in kb.runs()} == {"sleeper.py"}
        assert cli("compare", "last~1", "last").status == 0


@pytest.mark.slow
def test_a_scheduler_that_is_lost_ends_the_sweep_and_the_next_call_completes_it(
    sleeper: Path, workdir: Path
) -> None:
    with cluster(workdir / "elsewhere") as address:
        sweep = Process(
            [*COMMAND, "n=1..12", "s=0.5", "--scheduler", address],
            stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        until = time.monotonic() + 60
        while len(list(workdir.glob(".kernbench/runs/2*"))) < 2:
            assert time.monotonic() < until
            time.sleep(0.1)
    _, said = sweep.communicate(timeout=60)
    assert sweep.returncode == 1
    assert said == (
        f"kernbench: error: the Dask scheduler at {address} was lost; the same command completes the sweep\n"
    )
    before = len(kb.runs())
    found = kb.sweep("sleeper.py", "minimal", params={"n": "1..12", "s": 0.5})
    assert not found.failed
    assert sum(point.kept_before for point in found.points) == before >= 2


@pytest.mark.slow
@pytest.mark.parametrize("when", ["workers are started", "points are run"])
def test_ctrl_c_ends_the_cluster_too_and_says_one_line(sleeper: Path, workdir: Path, when: str) -> None:
    with Process(
        [*COMMAND, "n=1..60", "s=1", "--executor", "dask", "--jobs", "2"],
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
    ) as sweep:  # fmt: skip
        until = time.monotonic() + 60
        while not (
            psutil.Process(sweep.pid).children()
            if when == "workers are started"
            else list(workdir.glob(".kernbench/runs/2*"))
        ):
            assert time.monotonic() < until
            time.sleep(0.05)
        os.killpg(sweep.pid, signal.SIGINT)
        _, said = sweep.communicate(timeout=60)
    assert sweep.returncode == 130
    assert "interrupted after" in said.splitlines()[-1]
    assert "Traceback" not in said
    until = time.monotonic() + 10
    while group_lives(sweep.pid):
        assert time.monotonic() < until
        time.sleep(0.1)


def not_now(**_: object) -> None:
    raise RuntimeError("not now")


def test_what_is_wrong_with_a_cluster_is_one_line(
    cli: Cli, sleeper: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = ("sweep", "--bench", "sleeper.py", "--topology", "minimal")
    monkeypatch.setattr(dask_cluster, "_CONNECT_S", 0.3)
    for arguments, status, message in (
        (("--scheduler", "nowhere"), 2, "'nowhere' is not the address of a Dask scheduler"),
        (("--scheduler", "tcp://127.0.0.1:1"), 1, "no Dask scheduler answers at tcp://127.0.0.1:1"),
        (("--executor", "local", "--scheduler", "tcp://a:1"), 2, "a scheduler is for executor 'dask'"),
        (("--executor", "spark"), 2, "'spark' is not one of 'local', 'dask'"),
    ):
        ended = cli(*command, *arguments)
        assert (ended.status, ended.out) == (status, "")
        assert message in ended.err
        assert "Traceback" not in ended.err
    with pytest.raises(UsageError, match="executor 'spark' does not exist; use local or dask"):
        kb.sweep("gemm-single-pe", "minimal", executor="spark")
    with pytest.raises(UsageError, match="a function is swept with jobs=1"):
        kb.sweep(lambda torch: None, "minimal", executor="dask")
    levels = logging.getLogger("distributed").level
    monkeypatch.setattr("distributed.LocalCluster", not_now)
    with pytest.raises(KernBenchError, match="the local Dask cluster does not start: not now; take fewer"):
        kb.sweep("gemm-single-pe", "minimal", executor="dask")
    assert logging.getLogger("distributed").level == levels
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(MissingExtraError, match=r"pip install .*\[dask\]'"):
        kb.sweep("gemm-single-pe", "minimal", executor="dask")


@pytest.mark.slow
def test_a_cluster_without_workers_or_with_another_kernbench_is_refused(
    workdir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with cluster(workdir / "elsewhere", workers=0) as address:
        monkeypatch.setattr(dask_cluster, "_FIRST_ANSWER_S", 0.5)
        with pytest.raises(KernBenchError, match="has no worker that answers; start some with 'dask worker"):
            kb.sweep("gemm-single-pe", "minimal", scheduler=address)
    monkeypatch.setattr(dask_cluster, "_FIRST_ANSWER_S", 60.0)
    with cluster(workdir / "other") as address:
        monkeypatch.setattr(dask_cluster, "__version__", "0.0.1")
        with pytest.raises(
            KernBenchError, match=r"have kernbench .*, this is 0\.0\.1; install the same version"
        ):
            kb.sweep("gemm-single-pe", "minimal", scheduler=address)


def test_a_file_that_is_not_there_is_copied_and_one_that_is_there_is_used(workdir: Path) -> None:
    assert SourceFile.of("gemm-single-pe") is None
    assert SourceFile.of(lambda torch: None) is None
    file = workdir / "mine.py"
    file.write_text("a = 1\n", encoding="utf-8")
    sent = SourceFile.of("mine.py:two")
    assert sent is not None
    assert sent.at_hand(workdir / "w") == "mine.py:two"
    file.write_text("a = 2\n", encoding="utf-8")
    for _ in range(2):
        place, _, name = sent.at_hand(workdir / "w").rpartition(":")
        assert name == "two"
        assert Path(place).name == "mine.py"
        assert Path(place).read_text(encoding="utf-8") == "a = 1\n"


def test_a_run_comes_back_whole(workdir: Path) -> None:
    run = kb.run("gemm-single-pe", "minimal", store="there", params={"m": 8, "k": 16, "n": 16})
    unpack(pack(Path("there")), Path("here"))
    assert contents("here") == contents("there") != []
    assert kb.open_run(run.id, "here").latency_ns == run.latency_ns
