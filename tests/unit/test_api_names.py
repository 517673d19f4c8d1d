"""Names for completion are read from files: all that there are, and without what is slow to import."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

import kernbench
from kernbench.api import names, running
from kernbench.api.sweeps.evaluating import evaluations
from kernbench.support import pgraph
from kernbench.support.registered_names import registered

SLOW = ("numpy", "pyarrow", "pydantic", "networkx", "ladybug", "kernbench.workloads.benches.registry")
LINES = [
    "run --bench g",
    "run gemm-single-pe m",
    "run --topology d",
    "evaluate d",
    "traffic pattern",
    "query busiest",
    "query busiest-links l",
    "why l",
    "show b",
]


def test_names_are_those_that_importing_gives() -> None:
    benches = {bench["name"]: tuple(p["name"] for p in bench["params"]) for bench in running.benches()}
    assert names.bench_names() == benches
    assert names.evaluation_names() == [evaluation["name"] for evaluation in evaluations()]
    assert names.pattern_names() == [pattern["name"] for pattern in kernbench.traffic_patterns()]
    questions = {q["name"]: [p["name"] for p in q["params"]] for q in kernbench.questions()}
    found = {name: names.question_parameter_names(file) for name, file in names.question_files().items()}
    assert found == questions


def test_questions_of_ones_own_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "writes.yaml").write_text("params: {limit: {}, seen: {}}", "utf-8")
    (tmp_path / "mine" / "broken.yaml").write_text("params: [", encoding="utf-8")
    monkeypatch.setenv("KERNBENCH_QUERIES", str(tmp_path))
    known = names.question_files()
    assert {"mine/writes", "mine/broken", "bottleneck/busiest-links"} <= known.keys()
    assert names.question_parameter_names(known["mine/writes"]) == ["limit", "seen"]
    assert names.question_parameter_names(known["mine/broken"]) == []


def test_runs_are_named_as_the_store_lists_them(tmp_path: Path) -> None:
    kept = tmp_path / "store"
    for tags in (["first", "both"], ["both"]):
        kernbench.run("gemm-single-pe", topology="minimal", store=kept, tags=tags)
    listed = [(run.id, tuple(run.tags)) for run in kernbench.runs(kept)]
    assert names.run_names(kept) == listed
    assert [tags for _, tags in listed] == [("first", "both"), ("both",)]
    (kept / "runs" / listed[0][0] / "manifest.json").write_text("{", encoding="utf-8")
    assert names.run_names(kept) == listed[1:]
    assert names.run_names(tmp_path / "none") == []


def test_what_cannot_be_read_declares_nothing(tmp_path: Path) -> None:
    (tmp_path / "broken.py").write_text("@bench(", encoding="utf-8")
    (tmp_path / "_helper.py").write_text("SIZE = Param('size', int)", encoding="utf-8")
    own = "from here._helper import SIZE\n@bench(name='mine', params=[SIZE, Param('m', int)])\ndef run(t): 0"
    (tmp_path / "mine.py").write_text(own, encoding="utf-8")
    assert registered(tmp_path, "bench") == {"mine": ("size", "m")}


@pytest.mark.daily("query busiest-links l", "run --topology d", "traffic pattern")
@pytest.mark.parametrize("line", LINES)
def test_completing_imports_nothing_slow(line: str, tmp_path: Path) -> None:
    words = f"kernbench {line}"
    program = (
        "import sys; from kernbench.cli.main import main; main(); "
        f"print([name for name in {SLOW} if name in sys.modules])"
    )
    asked = {"_KERNBENCH_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": str(words.count(" "))}
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, **asked},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.splitlines()[-1] == "[]"


@pytest.mark.parametrize("module", [kernbench, pgraph])
def test_every_name_that_is_handed_out_is_there(module: ModuleType) -> None:
    assert all(hasattr(module, name) for name in module.__all__)
    assert set(module.__all__) <= set(dir(module))
    with pytest.raises(AttributeError, match="no_such_name"):
        module.no_such_name  # noqa: B018


def test_every_machine_that_can_be_named_is_completed() -> None:
    from kernbench.api.names import topology_names
    from kernbench.hardware.topology import find

    assert {"h100", "default", "two-kinds"} <= set(topology_names())
    assert [find(name).stem for name in topology_names()] == topology_names()
