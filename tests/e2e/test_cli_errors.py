"""A failure ends in one line on stderr, an exit status, and no half record."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kernbench.api.sweeps.evaluating import evaluations
from tests.processes import Process

Cli = Callable[..., Any]
KERNBENCH = str(Path(sys.executable).parent / "kernbench")
RUN = ("run", "--bench", "gemm-single-pe", "--topology", "minimal")

FAILING = """
from kernbench.workloads.benches import bench

def broken(x, tl):
    tl.cycles(10)
    raise ValueError("no such luck")

@bench(name="failing", description="Its kernel raises.")
def run(torch):
    torch.launch("broken", broken, torch.zeros(4, 64))
"""

WRONG = """
import numpy as np
from kernbench.workloads.benches import bench

def twice(x, out, tl):
    tl.store(out, tl.load(x) * 2.0)

@bench(name="wrong", description="Expects three times.")
def run(torch):
    x = np.ones((4, 64), dtype=np.float32)
    out = torch.zeros(4, 64, dtype="f32")
    torch.launch("twice", twice, torch.from_numpy(x), out)
    torch.check("out", out, x * 3)
"""

ENDLESS = """
from pathlib import Path
from kernbench.workloads.benches import bench

def endless(x, tl):
    Path("begun").touch()
    while True:
        tl.load(x)

@bench(name="endless", description="Never ends.")
def run(torch):
    torch.launch("endless", endless, torch.zeros(4, 64))
"""


def check_error(ended: Any, status: int, *fragments: str) -> str:
    assert ended.status == status, ended.err
    line: str = ended.err
    assert line.startswith("kernbench: error: ")
    assert line.count("\n") == 1
    assert "Traceback" not in line
    for fragment in fragments:
        assert fragment in line
    return line


def kept(cli: Cli) -> list[dict[str, Any]]:
    runs: list[dict[str, Any]] = json.loads(cli("runs", "list", "--format", "json").out)["runs"]
    return runs


@pytest.mark.parametrize(
    ("argv", "fragments"),
    [
        (("rum",), ["'rum'", "did you mean 'run'"]),
        (("--frob",), ["--frob"]),
        (("run",), ["name a bench", "kernbench run --help"]),
        (("run", "--bench"), ["--bench"]),
        (("run", "--bench", "gemm-singel-pe"), ["gemm-singel-pe", "gemm-single-pe"]),
        ((*RUN, "a", "m"), ["'m'", "name=value"]),
        ((*RUN, "m=1", "m=2"), ["'m'", "twice"]),
        ((*RUN, "mm=1"), ["'mm'", "m"]),
        ((*RUN, "m=wide"), ["'m'", "wide"]),
        ((*RUN, "--device", "sip:7"), ["sip:7"]),
        ((*RUN, "--device", "all of them"), ["all of them"]),
        ((*RUN, "--format", "xml"), ["xml", "json"]),
        (("run", "--bench", "gemm-single-pe", "--topology", "nowhere.yaml"), ["nowhere.yaml", "minimal"]),
        (("run", "--bench", "nowhere.py"), ["nowhere.py"]),
        ((*RUN, "--store", "ftp://somewhere"), ["ftp", "memory:"]),
        (("query",), ["NAME", "--list", "--cypher"]),
        (("query", "busiest-links", "--list"), ["--list"]),
        (("query", "--list", "last"), ["a run"]),
        (("query", "no-such-question"), ["no-such-question", "--list", "bottleneck"]),
        (("query", "busiest-links", "lines=3"), ["lines", "limit"]),
        (("query", "busiest-links", "limit=many"), ["limit", "many"]),
        (("query", "busiest-links", "run=last"), ["write 'kernbench query busiest-links last'"]),
        (("query", "busiest-links"), ["no runs"]),
        (("query", "--cypher", "MATCH (r:Run) DETACH DELETE r"), ["DETACH"]),
        (("show", "--run", "last"), ["--run was removed; write 'kernbench show last'"]),
        (("show",), ["the store holds no runs"]),
        (("completion", "tcsh"), ["tcsh", "bash"]),
        (("query", "runs", "--queries", "nowhere"), ["nowhere"]),
        (("show", "last"), ["no runs"]),
        (("runs", "rm", "20200101"), ["20200101"]),
        (("runs", "import", "--from", "nowhere"), ["'nowhere' holds no runs"]),
        (("runs", "export", "--to", "there"), ["'.kernbench' holds no runs"]),
        (("topology", "diagram", "minimal", "--out", "all.svg"), ["--out all.svg needs one --view"]),
        (
            ("topology", "diagram", "minimal", "--view", "pe", "--out", "pe.png"),
            ["pe.png", "use .svg"],
        ),
        (("topology", "check"), ["FILE"]),
        (("topology", "check", "nowhere.yaml"), ["nowhere.yaml"]),
        (("topology", "show", "minimal", "--from", "host"), ["--to"]),
        (("topology", "show", "minimal", "--traffic", "COMMAND"), ["--from"]),
        (("topology", "show", "minimal", "--from", "host", "--to", "sip9.cube0.pe0"), ["sip9.cube0.pe0"]),
        (("topology", "show", "minimal", "--from", "host", "--to", "sip0.cube0"), ["sip0.cube0", "cube"]),
    ],
)
def test_wrong_usage(argv: tuple[str, ...], fragments: list[str], cli: Cli, workdir: Path) -> None:
    ended = cli(*argv)
    check_error(ended, 2, *fragments)
    assert ended.out == ""
    assert not list(workdir.glob(".kernbench/*run*/*"))


@pytest.mark.parametrize("argv", [RUN, ("traffic", "pattern:all-local", "--topology", "minimal")])
def test_a_run_that_could_not_be_kept_is_not_begun(
    argv: tuple[str, ...], cli: Cli, workdir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def begun(*_: object, **__: object) -> None:
        raise AssertionError("it was begun")

    monkeypatch.setattr("kernbench.host.run_bench", begun)
    monkeypatch.setattr("kernbench.workloads.probes.traffic_runner.run_traffic", begun)
    (workdir / "file").touch()
    check_error(cli(*argv, "--store", "file/store"), 1, "'file/store' cannot be made", "is a file")
    monkeypatch.setattr("os.access", lambda path, mode: False)  # who runs the tests may write anywhere
    check_error(cli(*argv, "--store", "folder"), 1, "'folder' cannot be written", str(workdir))


def test_diagrams_go_into_folders_with_any_name_but_not_into_files(cli: Cli, workdir: Path) -> None:
    assert cli("topology", "diagram", "minimal", "--out", "drawn.v2").status == 0
    assert len(list((workdir / "drawn.v2").glob("*_view.svg"))) == 4
    (workdir / "file").touch()
    check_error(cli("topology", "diagram", "minimal", "--out", "file"), 2, "--out file is a file", "folder")


def test_a_mistake_in_a_topology_is_a_failed_check_with_its_line(cli: Cli, workdir: Path) -> None:
    (workdir / "mine.yaml").write_text("schema_version: 1\nname: mine\nsystem:\n  sips: none\n")
    for argv in (
        ("topology", "check", "mine.yaml"),
        ("run", "--bench", "qkv-gemm", "--topology", "mine.yaml"),
    ):
        check_error(cli(*argv), 1, "mine.yaml:4", "sips")


def test_a_kernel_that_raises_fails_the_run_and_nothing_is_kept(cli: Cli, workdir: Path) -> None:
    (workdir / "failing.py").write_text(FAILING)
    ended = cli("run", "--bench", "failing.py", "--topology", "minimal")
    check_error(ended, 1, "broken", "sip0.cube0.pe0", "no such luck", "failing.py:6", "not saved")
    assert ended.out == ""
    assert kept(cli) == []


def test_a_run_with_wrong_numbers_is_kept_as_failed(cli: Cli, workdir: Path) -> None:
    (workdir / "wrong.py").write_text(WRONG)
    argv = ("run", "--bench", "wrong.py", "--topology", "minimal", "--format", "json")
    ended = cli(*argv, "--verify-data")
    run = json.loads(ended.out)
    assert (run["verified"], run["status"]) == (False, "failed")
    check_error(ended, 1, "'out'", "(0, 0)", "saved as run " + run["run_id"])
    assert [r["run_id"] for r in kept(cli)] == [run["run_id"]]
    unasked = cli(*argv)
    assert unasked.status == 0
    assert json.loads(unasked.out)["verified"] is None


def test_several_runs_are_removed_together_or_not_at_all(cli: Cli) -> None:
    cli(*RUN)
    check_error(cli("runs", "rm", "last", "last~1"), 2, "last~1")
    assert len(kept(cli)) == 1


def test_an_unexpected_exception_is_named_and_debug_shows_where(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail() -> None:
        raise ZeroDivisionError("dividing\nby zero")

    monkeypatch.setattr("kernbench.api.running.benches", fail)
    check_error(cli("list"), 1, "unexpected ZeroDivisionError: dividing by zero", "--debug")
    for argv in (("--debug", "list"), ("list", "--debug")):
        ended = cli(*argv)
        assert ended.status == 1
        assert "Traceback" in ended.err
        assert ended.err.splitlines()[-1].startswith("kernbench: error: unexpected ZeroDivisionError")


def test_interrupting_keeps_nothing(workdir: Path, cli: Cli) -> None:
    (workdir / "endless.py").write_text(ENDLESS)
    running = Process(
        [KERNBENCH, "run", "--bench", "endless.py", "--topology", "minimal"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        give_up = time.monotonic() + 60
        while not (workdir / "begun").exists():
            assert running.poll() is None
            assert time.monotonic() < give_up
            time.sleep(0.02)
        running.send_signal(signal.SIGINT)
        out, err = running.communicate(timeout=30)
    finally:
        running.kill()
        running.communicate()
    assert (running.returncode, out, err.count("\n")) == (130, "", 1)
    assert re.match(r"kernbench: error: interrupted at [\d.]+ ns; ", err)
    # The signal may find Python in the kernel's own lines as well as in the simulator.
    assert re.search(
        r"pe_cpu runs kernel 'endless' on sip0\.cube0\.pe0: "
        r"(in tl\.load|interrupted in tl\.load|interrupted) at endless\.py:[678];",
        err,
    )
    assert err.endswith("; nothing was saved\n")
    assert kept(cli) == []
    assert not list(workdir.rglob("*.parquet"))


def test_a_reader_that_goes_away_is_no_error(workdir: Path) -> None:
    command = f"'{KERNBENCH}' topology show default --from host --to sip1.cube15.pe7.pe_cpu | head -n 1"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("host.cpu to ")
    assert done.stderr == ""

    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run([KERNBENCH, "list"], stdout=writing, stderr=subprocess.PIPE, text=True, check=False)
    os.close(writing)
    assert (done.returncode, done.stderr) == (141, "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_a_full_disk_is_an_error(workdir: Path) -> None:
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [KERNBENCH, "list"], stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert done.returncode == 1
    assert done.stderr.startswith("kernbench: error: ")
    assert done.stderr.count("\n") == 1


def test_an_evaluation_that_is_asked_for_as_a_bench_names_its_command(cli: Cli) -> None:
    for one in evaluations():
        if one["name"] == "pe2pe":  # which is a bench too
            continue
        for command in ("run", "sweep"):
            done = cli(command, "--bench", one["name"])
            assert done.status in (1, 2)
            assert f"'{one['name']}' is an evaluation" in done.err
            assert f"run 'kernbench evaluate {one['name']}'" in done.err
    assert "run 'kernbench run qkv-gemm'" in cli("evaluate", "qkv-gemm").err
    assert "did you mean 'milestone-1h-gemm'" in cli("evaluate", "milestone-1h-gem").err
