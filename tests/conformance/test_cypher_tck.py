"""The openCypher TCK's reading scenarios on the engine of free Cypher: none ends wrongly."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.slow
def test_the_tck_finds_nothing_wrong_and_the_page_is_true() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tools.cypher_tck", "--check"],
        cwd=ROOT,
        env={"PYTHONPATH": f"{ROOT}:{ROOT / 'graph'}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines()[-1] == "0 wrong"


def test_the_page_says_so() -> None:
    page = (ROOT / "docs" / "reference" / "cypher-engines.md").read_text(encoding="utf-8")
    (total,) = [line for line in page.splitlines() if line.startswith("| **all**")]
    passed, _, wrong, invalid = (int(cell) for cell in total.split("|")[2:-1])
    assert passed > 2000
    assert (wrong, invalid) == (0, 0)
