"""Rows of questions are added to a page of measurements, which says of which day they are."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.measured_rows import lacking, with_rows

PAGE = """\
# Measured

## Questions

On one machine.

| question | ms | rows |
|---|---|---|
| a/one | 12 | 3 |
| a/two | - | - |
| c/old-1 | 7 | 0 |

## Topologies

| topology | s |
|---|---|
| default | 1 |
"""


def test_only_what_has_no_figure_is_lacking_and_the_rest_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.getloadavg", lambda: (9.0, 9.0, 0.25))
    page = tmp_path / "measured.md"
    page.write_text(PAGE, encoding="utf-8")
    names = ["a/one", "a/two", "b/new", "c/old-1"]
    assert lacking(page, names) == ["a/two", "b/new"]
    rows = {name: f"| {name} | 5 | 0 |" for name in ("b/new", "a/two")}
    page.write_text(with_rows(page, rows, "2026-01-02 (2 cores)"), encoding="utf-8")
    assert lacking(page, names) == []
    assert page.read_text(encoding="utf-8") == PAGE.replace(
        "| a/two | - | - |\n", "| a/two | 5 | 0 |\n| b/new | 5 | 0 |\n"
    ).replace(
        "| c/old-1 | 7 | 0 |\n",
        "| c/old-1 | 7 | 0 |\n\nMeasured later, 2026-01-02 (2 cores), load average 0.2: a/two, b/new.\n",
    )
