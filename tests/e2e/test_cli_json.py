"""The page of commands names the keys of the JSON that each prints: all that come, at every depth."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import kernbench as kb
from kernbench.cli.main import main

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "cli.md"
LIKE = {"runs list": "run", "traffic": "run", "show": "run"}
"""Rows of the page that say "as above" or "as run"."""
NAMES = {"by_cause", "by_line", "by_location", "params", "topo", "topology_changes", "settings", "config",
         "evidence", "pe_times", "area_mm2", "components", "links", "breakdown", "counts",
         "sources"}  # fmt: skip
"""Keys whose own keys are names of the user's, of the machine's or of a table's."""


def page() -> dict[str, set[str]]:
    """By command the words of its row that may be keys."""
    found: dict[str, set[str]] = {}
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        if line.startswith("| `"):
            _, commands, keys, *_ = line.split("|")
            said = set(re.findall(r"[a-z][a-z0-9_]*", " ".join(re.findall(r"`([^`]*)`", keys))))
            for command in re.findall(r"`([^`]+)`", commands):
                found[command] = said
    return found


def keys(value: Any) -> Iterator[str]:
    """All keys, at every depth, but for those below :data:`NAMES`."""
    if isinstance(value, dict):
        for key, inside in value.items():
            yield key
            if key not in NAMES:
                yield from keys(inside)
    elif isinstance(value, list):
        for one in value:
            yield from keys(one)


RUN = ["run", "gemm-single-pe", "--topology", "minimal"]
COMMANDS = {
    "run": RUN,
    "show": ["show"],
    "runs list": ["runs", "list"],
    "compare": ["compare", "last~1", "last"],
    "why": ["why"],
    "advise": ["advise"],
    "timeline": ["timeline"],
    "energy": ["energy"],
    "what-if": ["what-if", "--locations", "1", "--measure", "1"],
    "probe": ["probe", "--topology", "minimal", "--hops"],
    "tune": ["tune", "tuned.py", "--topology", "minimal"],
    "sweep": ["sweep", "gemm-single-pe", "--topology", "minimal", "m=16,32", "--energy", "--jobs", "1"],
    "traffic": ["traffic", "pattern:all-local", "--topology", "minimal"],
    "query": ["query", "busiest-links"],
    "list": ["list"],
    "topology check": ["topology", "check", "minimal"],
    "topology show": ["topology", "show", "minimal"],
    "topology diff": ["topology", "diff", "minimal", "default"],
    "topology diagram": ["topology", "diagram", "minimal", "--out", "pictures"],
    "export": ["export", "perfetto"],
    "report": ["report", "--out", "report.html"],
    "runs tag": ["runs", "tag", "last", "mine"],
    "runs prune": ["runs", "prune", "--keep", "100"],
    "validate": ["validate", "gemm"],
    "doctor": ["doctor"],
    "topology kinds": ["topology", "kinds"],
}

RUNNING = ("run", "tune", "sweep", "traffic")
"""Those that keep runs, in a store of their own: others ask for the last one."""

TUNED = """\
import kernbench as kb
import kernbench.tl as tl
from kernbench.workloads.benches import bench


@kb.autotune(configs=[{"ROWS": 1}, {"ROWS": 4}])
def scale(x, o, ROWS):
    tl.store(o, tl.load(x))


@bench(name="scale-it", description="Copies a little.")
def run(torch):
    x = torch.zeros((4, 64))
    torch.launch("scale", scale, x, torch.empty(4, 64))
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a store of two runs of a bench, and a bench to tune."""
    made = tmp_path_factory.mktemp("json")
    (made / "tuned.py").write_text(TUNED, encoding="utf-8")
    for _ in range(2):
        kb.run("gemm-single-pe", "minimal", store=str(made / "store"))
    return made


@pytest.mark.daily(but=("report", "advise", "validate"))
@pytest.mark.parametrize("name", COMMANDS)
def test_every_key_that_a_command_prints_is_on_the_page(
    name: str, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(folder)
    monkeypatch.setenv("KERNBENCH_STORE", "other" if name in RUNNING else "store")
    assert main([*COMMANDS[name], "--format", "json"]) == 0, capsys.readouterr().err
    known = page()
    allowed = known[name] | (known[LIKE[name]] if name in LIKE else set())
    assert sorted(set(keys(json.loads(capsys.readouterr().out))) - allowed) == []
