"""What is released: one version everywhere, and a job of the workflow for each step of the gate."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import yaml

from kernbench.version import __version__

ROOT = Path(__file__).resolve().parents[2]


def _yaml(path: str) -> Any:
    return yaml.safe_load((ROOT / path).read_text(encoding="utf-8"))


def test_citation_and_changelog_name_the_version() -> None:
    assert _yaml("CITATION.cff")["version"] == __version__
    first = re.search(
        "^## .*$", (ROOT / "docs/project/changelog.md").read_text(encoding="utf-8"), re.MULTILINE
    )
    assert first is not None
    assert __version__ in first[0]


def test_the_workflow_runs_each_step_of_the_gate() -> None:
    steps = _yaml(".github/workflows/tests.yml")["jobs"]["gate"]["strategy"]["matrix"]["step"]
    gate = (ROOT / ".ci/run").read_text(encoding="utf-8")
    assert f"set -- {' '.join(steps)}\n" in gate
    assert re.findall(r"^(\w+)\(\) \{\n  say", gate, re.MULTILINE) == steps
