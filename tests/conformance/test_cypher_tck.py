"""The openCypher TCK's reading scenarios on every engine: none of the embedded ones answers wrongly."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def check(engine: str, *options: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tools.cypher_tck", "--check", "--engine", engine, *options],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": f"{ROOT}:{ROOT / 'graph'}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines()[-1] == "0 wrong"


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["arcadedb", "ladybug"])
def test_the_tck_finds_nothing_wrong_and_the_page_is_true(engine: str) -> None:
    check(engine)


@pytest.mark.slow
@pytest.mark.neo4j
def test_the_page_is_true_of_neo4j(neo4j_url: str) -> None:
    check("neo4j", "--neo4j", neo4j_url)


def test_the_page_says_so() -> None:
    page = (ROOT / "docs" / "reference" / "cypher-engines.md").read_text(encoding="utf-8")
    totals = [line for line in page.splitlines() if line.startswith("| **all**")]
    arcade, ladybug, neo4j = ([int(cell) for cell in total.split("|")[2:-1]] for total in totals)
    assert sum(arcade) == sum(ladybug) == sum(neo4j)
    for passed, _, wrong, invalid in (arcade, ladybug):
        assert passed > 900
        assert (wrong, invalid) == (0, 0)
    assert arcade[0] > 2400
    assert neo4j[0] > 2400
    listed = [line for line in page.splitlines() if line.startswith("- ")]
    assert len(listed) == sum(neo4j[2:])
