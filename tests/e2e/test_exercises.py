"""docs/explanation/contributing.md, done for real: each addition takes the files of its row, and works.

All are made in one copy of the sources, and tried in one process. Components and kinds of memory have tests
of their own: test_add_a_component.py, test_own_memory_kind.py.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs/explanation/contributing.md").read_text(encoding="utf-8")
END = ""

EXERCISES: dict[str, dict[str, tuple[str, ...]]] = {
    "an operation of PE_MATH": {
        "kernbench/operations/of_one.py": (
            "OF_ONE = (\n", '_of_floats("cube_root", "Cube root.", np.cbrt),\n'
        ),
    },
    "another call of `tl`": {
        "kernbench/language/doubling.py": (END, '''
from kernbench.language.issue import tl_call


class Doubling:
    """twice."""

    _title = "Doubling"

    @tl_call
    def twice(self, x):
        """The double of a tensor."""
        return x + x
'''),
        "kernbench/language/tl.py": (
            "import CompositeCalls\n", "from kernbench.language.doubling import Doubling\n",
            "class Language(", "Doubling, ",
        ),
    },
    "an arbiter": {
        "kernbench/engine/arbiters/last_first.py": (END, '''
from kernbench.engine.core.port import Arbiter


class LastFirst(Arbiter):
    """The input with the highest number goes first."""

    def pick(self, lines, last):
        return len(lines) - 1
'''),
    },
    "a question": {
        "queries/exercises/kinds.yaml": (END, '''
name: exercises/kinds
title: How many transactions of each kind were there?
scope: run
returns:
  - {name: kind, type: string}
  - {name: sent, type: int}
cypher: |
  MATCH (:Run {id: $run})-[:SENT]->(t:Transaction)
  RETURN t.kind AS kind, count(t) AS sent ORDER BY kind
'''),
    },
    "a bench": {
        "kernbench/workloads/benches/ones.py": (END, '''
import numpy as np

from kernbench.workloads.benches.registry import bench


def roots(x, out, tl):
    tl.store(out, tl.twice(tl.cube_root(tl.load(x))))


@bench(name="ones", description="Twice the cube roots of 16 numbers.")
def run(torch):
    x = np.arange(16, dtype=np.float32).reshape(4, 4)
    out = torch.empty(4, 4, dtype="f32")
    torch.launch("roots", roots, torch.from_numpy(x), out)
    torch.check("out", out, lambda: 2 * np.cbrt(x))
'''),
    },
    "an evaluation": {
        "evaluations/both.py": (END, '''
from kernbench.api.evaluations import evaluation


@evaluation(name="both", description="The bench once.")
def run(e):
    (run,) = e.points("ones", [{}])
    e.table("both", [{"ns": run.latency_ns}])
'''),
    },
    "a traffic pattern": {
        "kernbench/workloads/probes/traffic_patterns.py": (END, '''

@_pattern("mirror", "d = N - 1 - s")
def mirror(n, _):
    return [(s, n - 1 - s) for s in range(n)]
'''),
    },
    "a tab of a run": {
        "kernbench/api/contents/__init__.py": (
            "SCREENS: tuple[Screen, ...] = (\n",
            'Screen("kinds", "Kinds", of_questions("", TableQuestion("", "Kinds", "exercises/kinds"))),\n',
        ),
    },
    "a command": {
        "kernbench/cli/commands/hello.py": (END, '''
import click

from kernbench.cli.group import Command


@click.command(cls=Command, examples=["kernbench hello"])
def command():
    """Say hello."""
    click.echo("hello")
'''),
        "kernbench/cli/app.py": ("    entries={\n", '"hello": Entry(f"{_HERE}.hello", "Say hello."),\n'),
    },
    "a format of `export`": {
        "kernbench/api/exporting.py": (
            "_SHIPPED = {\n    form.name: form\n    for form in (\n",
            'Format("count", "how many", lambda run, path, _: write_file(path, partial(_put, b"8"))),\n',
        ),
    },
}  # fmt: skip
"""By the first words of a row of the page: the files that it takes, each with the text that an addition comes
after, or END for the end of a file, which need not be there, and the addition."""

COMMANDS = {
    "run ones --topology fair.yaml --verify-data": r"verified +yes",
    "query exercises/kinds": r"kind +sent\ndma_read +1\n",
    "show --tab kinds": r"Kinds\nkind +sent\ndma_read +1\n",
    "evaluate both --topology minimal": r"both\n +ns\n",
    "traffic pattern:mirror bytes=256 --topology fair.yaml --check": r"0->1 .*\n.*1->0 ",
    "hello": "hello",
    "export count last --out count.txt": "count.txt",
}
"""Commands, and what they print."""
FAIR = """
schema_version: 1
name: fair
system: {sips: 1}
sip: {cube_mesh: {w: 1, h: 1}}
cube: {pes: {count: 2, corners: [NW]}}
links: {router_mesh: {arbiter: last_first}}
"""
PROGRAM = """
import json, sys
from click.testing import CliRunner
from kernbench.cli.app import app
done = [CliRunner().invoke(app, words.split()) for words in json.loads(sys.argv[1])]
print(json.dumps([[one.exit_code, one.output + repr(one.exception)] for one in done]))
"""


def test_rows_of_the_page_name_the_files() -> None:
    for what, files in EXERCISES.items():
        (row,) = re.findall(rf"^\| {re.escape(what)}(?:,[^|]*)? \|(.*)\|$", PAGE, re.M)
        named = [re.escape(one).replace("<name>", r"\w+").replace("<topic>", r"\w+") for one in
                 re.findall(r"`([^`]+/[^`]*)`", row)]  # fmt: skip
        for file in files:
            assert any(re.fullmatch(f"{one}.*" if one.endswith("/") else one, file) for one in named), (
                what,
                file,
            )


@pytest.mark.slow
def test_each_addition_works(tmp_path: Path) -> None:
    checkout = tmp_path / "checkout"
    for folder in ("kernbench", "graph", "configs", "queries", "evaluations"):
        shutil.copytree(ROOT / folder, checkout / folder, ignore=shutil.ignore_patterns("__pycache__"))
    for files in EXERCISES.values():
        for name, change in files.items():
            file = checkout / name
            file.parent.mkdir(exist_ok=True)
            text = file.read_text(encoding="utf-8") if file.exists() else ""
            for after, added in zip(change[::2], change[1::2], strict=True):
                at = text.index(after) + len(after) if after else len(text)
                text = text[:at] + added + text[at:]
            file.write_text(text, encoding="utf-8")
    (tmp_path / "fair.yaml").write_text(FAIR, encoding="utf-8")
    path = os.pathsep.join(map(str, (checkout, checkout / "graph")))
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, json.dumps(list(COMMANDS))],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": path, "KERNBENCH_STORE": "store"},
        capture_output=True,
        text=True,
        check=True,
    )
    for (words, expected), (status, printed) in zip(COMMANDS.items(), json.loads(done.stdout), strict=True):
        assert status == 0, (words, printed)
        assert re.search(expected, printed), (words, printed)
