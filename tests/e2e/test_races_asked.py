"""Races: in the report, as a question of the kept run, as an error wherever values are verified."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import kernbench as kb
from kernbench.errors import VerificationError

Cli = Callable[..., Any]
BENCH = """\
import numpy as np
from kernbench.workloads.benches import bench
from kernbench.host import DPPolicy

def shared(x, tl):
    me = tl.program_id(0)
    tl.store(x + 0, tl.zeros((4,), "f32"))
    tl.load(x + ALONE, shape=(4,), dtype="f32")

@bench(name="racy", description="Two PEs store the same bytes.")
def run(torch):
    x = torch.from_numpy(np.ones((2, 4), np.float32), dp=DPPolicy("row_wise", "row_wise"), name="x")
    torch.launch("shared", shared, x).wait()
    torch.check("rows", x, np.array([[0] * 4, [1] * 4], np.float32))
"""
TWO = ("--topology", "minimal", "--topo", "cube.pes.count=2")


@pytest.fixture
def racy(workdir: Path) -> tuple[str, ...]:
    (workdir / "racy.py").write_text(BENCH.replace("ALONE", "0"), encoding="utf-8")
    return "run", "--bench", "racy.py", *TWO


def test_a_race_is_reported_and_asked_later(cli: Cli, racy: tuple[str, ...]) -> None:
    done = cli(*racy, "--verify-data")
    assert done.status == 1
    assert done.err.startswith("kernbench: error: race on tensor 'x' row 0")
    assert "verified      NO: accesses race" in done.out
    assert "values are wrong" not in done.out + done.err
    assert "race on tensor 'x' row 0 (sip0.cube0.pe0): sip0.cube0.pe" in done.out
    rows = json.loads(cli("query", "races", "--format", "json").out)["rows"]
    kept = kb.open_run("last")
    assert len(rows) == len(kept.info["races"]) == 2
    for row, race in zip(rows, kept.info["races"], strict=True):
        _number, kind, touched, nbytes, *ends = row
        assert (kind, touched, nbytes) == (race["kind"], race["where"], race["bytes"])
        for side, of in (("first", ends[:4]), ("second", ends[4:])):
            assert of == [race[side][key] for key in ("source", "pe", "op", "t_ns")]
        assert ends[1] != ends[5]
        assert {ends[0], ends[4]} <= {"racy.py:7", "racy.py:8"}
        assert kept.ops["source"][kept.ops["number"] == ends[2]] == ends[0]
    found = json.loads(
        cli("query", "--cypher", "MATCH (:Run {id: $run})-[:FOUND]->(x:Race) RETURN count(x) AS n",
            "--format", "json").out
    )  # fmt: skip
    assert found["rows"] == [[2]]


def test_check_makes_it_an_error_and_the_run_is_kept(cli: Cli, racy: tuple[str, ...]) -> None:
    done = cli(*racy, "--check")
    assert done.status == 1
    assert done.err.startswith("kernbench: error: race on tensor 'x' row 0")
    assert "; saved as run " in done.err
    assert json.loads(cli("runs", "list", "--format", "json").out)["runs"][0]["status"] == "failed"
    assert len(json.loads(cli("query", "races", "--format", "json").out)["rows"]) == 2


def test_without_a_race_the_question_has_no_rows(cli: Cli, workdir: Path, racy: tuple[str, ...]) -> None:
    (workdir / "racy.py").write_text(
        BENCH.replace("tl.store(x + 0, ", "tl.store(x.local, ").replace("x + ALONE", "x.local"),
        encoding="utf-8",
    )
    done = cli(*racy, "--check")
    assert done.status == 0, done.err
    assert json.loads(cli("query", "races", "--format", "json").out)["rows"] == []


CHOICE = """\
import numpy as np
import kernbench as kb
import kernbench.tl as tl
from kernbench.workloads.benches import bench
from kernbench.host import DPPolicy

@kb.autotune(configs=[{"MODE": m} for m in (0, 1)], key=[])
def double(x, out, MODE: tl.constexpr):
    if MODE == 0:
        tl.cycles(5000)
    else:  # faster, and a race: every PE writes to PE 0's rows, too
        tl.store(out + 0, tl.load(x.local) * 2.0)
    tl.store(out.local, tl.load(x.local) * 2.0)

@bench(name="choice", description="Doubles.")
def run(torch):
    dp = DPPolicy("row_wise", "row_wise")
    x = np.ones((2, 4), np.float32)
    out = torch.zeros(2, 4, dtype="f32", dp=dp, name="out")
    torch.launch("double", double, torch.from_numpy(x, dp=dp, name="x"), out)
    torch.check("out", out, OFF + 2 * x)
"""
SAYS = {"race": "race on tensor 'out' row", "no": "tensor 'out' (f32) differs first at index (0, 0): got 2"}


def choice(workdir: Path, off: int = 0) -> str:
    (workdir / "choice.py").write_text(CHOICE.replace("OFF", str(off)), encoding="utf-8")
    return str(workdir / "choice.py")


@pytest.mark.parametrize(("verdict", "mode", "off"), [("race", 1, 0), ("no", 0, 1)])
def test_one_meaning_in_python_and_in_what_is_kept(workdir: Path, verdict: str, mode: int, off: int) -> None:
    topo = {"cube.pes.count": 2}
    with pytest.raises(kb.RunVerificationError) as raised:
        kb.run(choice(workdir, off), "minimal", True, topo=topo, params={"double.MODE": mode})
    kept = kb.open_run("last")
    assert str(raised.value) == f"{kept.problem}; saved as run {kept.id}"
    assert kept.problem.startswith(SAYS[verdict])
    assert (kept.verdict, kept.verified, kept.info["status"]) == (verdict, False, "failed")
    assert kept.problem in repr(kept), "what pytest shows of 'assert run.verified'"
    assert (raised.value.launch, kept.nothing_checked) == (0, False)
    with pytest.raises(AssertionError, match=r"<Run .*, verified: (no|race), .*tensor 'out'"):
        assert kept.verified, kept


@pytest.mark.slow
def test_a_racy_point_is_never_the_best(cli: Cli, workdir: Path) -> None:
    how = (choice(workdir), *TWO, "--verify-data")
    tuned = cli("tune", *how, "--format", "json")
    points = json.loads(tuned.out)["points"]
    assert [(p["best"], bool(p["error"])) for p in points] == [(True, False), (False, True)]
    assert points[1]["error"].startswith(SAYS["race"])
    for fresh in (["--fresh"], []):  # the second time from what is kept
        swept = cli("sweep", *how, "double.MODE=0,1", *fresh)
        assert swept.status == 1
        assert "fastest: " in swept.out
        assert swept.out.rstrip().endswith("at double.MODE=0")
        assert SAYS["race"] in swept.err
    listed = cli("runs", "list").out.splitlines()
    assert [" race " in line for line in listed[1:]] == [" failed " in line for line in listed[1:]]
    assert any(" race " in line for line in listed)
    asked = cli("what-if", json.loads(tuned.out)["points"][1]["run_id"], "--no-rerun")
    assert f", not verified: {SAYS['race']}" in asked.out


def test_a_kernel_that_races_runs_and_fails_its_check(workdir: Path) -> None:
    import numpy as np

    from kernbench.host import DPPolicy

    def racy(x: Any, out: Any, tl: Any) -> None:
        tl.store(out + 0, tl.load(x.local) * 2.0)
        tl.store(out.local, tl.load(x.local) * 2.0)

    machine = kb.load_topology("minimal", {"cube.pes.count": 2})
    x = np.ones((2, 4), np.float32)
    done = kb.run_kernel(racy, x, out=np.zeros_like(x), dp=DPPolicy("row_wise", "row_wise"), topology=machine)
    assert (done.run.verdict, done.run.info["status"]) == ("race", "failed")
    assert ", race" in repr(done)
    np.testing.assert_array_equal(done.output, 2 * x)
    with pytest.raises(VerificationError, match="race on tensor 'out'"):
        done.check(lambda x: 2 * x)


def races_of_host(before: bool, wait: bool) -> list[dict[str, Any]]:
    """The host writes a tensor before a launch or after, waiting for it or not."""

    def double(x: Any, tl: Any) -> None:
        tl.store(x.local, tl.load(x.local) * 2)

    def bench(torch: Any) -> None:
        x, y = torch.full((64,), 1.0, dtype="f32", name="x"), torch.full((64,), 1.0, dtype="f32", name="y")
        torch.launch("first", double, y)  # is under way all the time
        if before:
            x.fill(3.0)
        handle = torch.launch("double", double, x)
        if wait:
            handle.wait()
        if not before:
            x.fill(0.0)

    races: list[dict[str, Any]] = kb.run(bench, "minimal", store="memory:").info["races"]
    return races


def test_the_host_races_with_launches_that_it_has_not_waited_for() -> None:
    found = races_of_host(before=False, wait=False)
    assert {race["kind"] for race in found} <= {"write-read", "read-write", "write-write"}
    for race in found:
        host = next(race[end] for end in ("first", "second") if race[end]["pe"] == "the host")
        assert host["source"].startswith("test_races_asked.py:")
        assert "tensor 'x'" in race["where"]
        assert "the host writes at test_races_asked.py:" in race["message"]
    assert found
    assert races_of_host(before=False, wait=True) == []
    assert races_of_host(before=True, wait=False) == []


@pytest.mark.slow
def test_the_host_races_with_an_asynchronous_collective(cli: Cli, workdir: Path) -> None:
    (workdir / "host.py").write_text(
        """\
import numpy as np
from kernbench.workloads.benches import bench

@bench(name="host", description="A tensor is overwritten while all_reduce works on it.")
def run(torch):
    dist = torch.distributed
    dist.init_process_group("ahbm")
    def worker(rank):
        x = torch.full((4096,), rank + 1, dtype="f32", name=f"x{rank}")
        work = dist.all_reduce(x, async_op=True)
        x.fill(0)
        work.wait()
    torch.multiprocessing.spawn(worker, nprocs=2)
""",
        encoding="utf-8",
    )
    done = cli("run", "host.py", "--check")
    assert done.status == 1
    assert "the host writes at host.py:11" in done.err
    rows = json.loads(cli("query", "races", "--format", "json").out)["rows"]
    assert {("host.py:11", "the host")} <= {(row[4], row[5]) for row in rows} | {(r[8], r[9]) for r in rows}
