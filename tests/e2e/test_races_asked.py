"""Races on the command line: in the report, as a question of the kept run, as an error of ``--check``."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import kernbench as kb

Cli = Callable[..., Any]
BENCH = """\
import numpy as np
from kernbench.benches import bench
from kernbench.runtime import DPPolicy

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
    assert done.status == 0
    assert "verified      NO" in done.out
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
    assert "; kept as run " in done.err
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
