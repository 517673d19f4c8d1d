"""``kernbench tune``: the table, JSON, exit status, and what is left when it is interrupted."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kernbench.api import tuning

Cli = Callable[..., Any]
BENCH = """\
import numpy as np
import kernbench as kb
from kernbench.workloads.benches import bench

@kb.autotune(configs=[{"N": n} for n in (3, 2, 5, 4)], key=["x"])
def add(x, out, N, tl):
    if N == LATE:
        raise ValueError("not today")
    tl.cycles(N)
    tl.store(out, tl.load(x))

@bench(name="adds", description="Adds nothing.")
def run(torch):
    x = torch.from_numpy(np.ones((2, 4), np.float32))
    torch.launch("add", add, x, torch.empty(2, 4, dtype="f32"))
"""


@pytest.fixture
def bench(workdir: Path) -> tuple[str, ...]:
    (workdir / "adds.py").write_text(BENCH.replace("LATE", "2"), encoding="utf-8")
    return "tune", "--bench", "adds.py", "--topology", "minimal"


def test_json_has_points_and_settings_that_run(cli: Cli, bench: tuple[str, ...]) -> None:
    found = json.loads(cli(*bench, "--tag", "here", "--format", "json").out)
    assert [(p["config"], p["best"], bool(p["error"])) for p in found["points"]] == [
        ({"N": 3}, True, False),
        ({"N": 2}, False, True),
        ({"N": 5}, False, False),
        ({"N": 4}, False, False),
    ]
    assert found["settings"] == {"add.N": 3}
    assert {p["key"]["x"] for p in found["points"]} == {"f32[2, 4]"}
    kept = json.loads(cli("runs", "list", "--format", "json").out)["runs"]
    assert [run["run_id"] for run in kept] == [p["run_id"] for p in found["points"] if p["run_id"]]
    assert [run["tags"] for run in kept] == [["here"]] * 3
    for setting in ("add.N=4", "add[x=f32[2, 4]].N=4"):
        run = json.loads(cli("run", *bench[1:], setting, "--format", "json").out)
        assert run["params"] == {"add.N": 4}
        assert run["latency_ns"] == found["points"][3]["latency_ns"]


def test_csv_and_table_have_the_fastest_first(cli: Cli, bench: tuple[str, ...]) -> None:
    rows = list(csv.reader(cli(*bench, "--format", "csv").out.splitlines()))
    assert rows[0] == ["kernel", "key", "config", "latency_ns", "launch_ns", "best", "run_id", "error"]
    assert [row[2] for row in rows[1:]] == ["N=3", "N=4", "N=5", "N=2"]
    table = cli(*bench).out.splitlines()
    assert table[1].split()[-2:-1] == ["*"]
    assert "not today" in table[4]
    assert table[-2] == "to run with the best: add.N=3"
    assert f"the run with the best: {table[1].split()[-1]} (" in table[-1]


def test_no_configuration_works(cli: Cli, workdir: Path, bench: tuple[str, ...]) -> None:
    (workdir / "adds.py").write_text(BENCH.replace("== LATE", "> 0"), encoding="utf-8")
    done = cli(*bench)
    assert done.status == 1
    assert done.out.count("not today") == 4
    assert "no configuration of kernel 'add' works" in done.err


def test_an_interrupted_tuning_shows_what_it_has(
    cli: Cli, bench: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    made = tuning.run_program
    left = [3]

    def interrupted(*args: Any, **kwargs: Any) -> Any:
        left[0] -= 1
        if left[0] < 0:
            raise KeyboardInterrupt
        return made(*args, **kwargs)

    monkeypatch.setattr(tuning, "run_program", interrupted)
    done = cli(*bench)
    assert done.status == 130
    assert [line.split()[3] for line in done.out.splitlines()[1:3]] == ["N=3", "N=5"]
    assert "not today" in done.out
    assert len(json.loads(cli("runs", "list", "--format", "json").out)["runs"]) == 2


def test_tuning_says_which_run_is_the_best(cli: Any, workdir: Path) -> None:
    (workdir / "blocks.py").write_text(
        """
import numpy as np
import kernbench as kb
from kernbench.workloads.benches import bench


@kb.autotune(configs=[{"BLOCK": 16}, {"BLOCK": 64}, {"BLOCK": 32}])
def scale(x, BLOCK, tl):
    for n in range(64 // BLOCK):
        tl.store(x + 2 * n * BLOCK, tl.load(x + 2 * n * BLOCK, shape=(BLOCK,)))


@bench(name="blocks", description="Copies in blocks.")
def run(torch):
    torch.launch("scale", scale, torch.from_numpy(np.ones(64, np.float16)))
""",
        encoding="utf-8",
    )
    line = ("tune", "--bench", "blocks.py", "--topology", "minimal")
    found = json.loads(cli(*line, "--format", "json").out)
    (best,) = [point for point in found["points"] if point["best"]]
    assert (best["config"], found["best_run"]) == ({"BLOCK": 64}, best["run_id"])
    shown = cli(*line).out
    (named,) = re.findall(r"^the run with the best: (\S+) \('last' is", shown, re.MULTILINE)
    assert re.search(rf"^scale\s+BLOCK=64 .*\*\s+{named}$", shown, re.MULTILINE)
