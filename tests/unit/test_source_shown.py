"""The source of a bench: on the page and in the terminal UI as the run keeps it, in a terminal as a link."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import kernbench as kb
from kernbench.analysis.windows.chosen_window import ChosenWindow
from kernbench.api.contents import source
from kernbench.api.stores import borrowed
from kernbench.cli import source_links
from kernbench.draw.targets import Target, targets_of
from kernbench.errors import UsageError
from kernbench.page.answers import Answers
from kernbench.tui.models.browser import Browser
from kernbench.tui.models.run_page import run_page, source_page
from tests.page_tables import values

BENCH = """from kernbench import DPPolicy
from kernbench.workloads.benches import bench

@bench(name="own", description="x")
def run(torch):
    def kernel(x, tl):
        a = tl.load(x, shape=(8, 8))
        tl.store(x, a + a)
    x = torch.zeros((8, 8), dtype="f16", dp=DPPolicy(num_cubes=1, num_pes=1))
    torch.launch("kernel", kernel, x)
"""


@pytest.fixture
def run(workdir: Path) -> kb.Run:
    Path("own.py").write_text(BENCH, encoding="utf-8")
    return kb.run("own.py", "minimal", store="store")


def test_the_page_shows_the_text_that_was_run_not_the_file_that_lies_there(run: kb.Run) -> None:
    Path("own.py").write_text("# secret\n", encoding="utf-8")
    with borrowed("store") as store:
        answers = Answers(store)
        assert answers.answer("overview", {"run": run.id})["source"] == "own.py"
        shown = answers.answer("source", {"run": run.id, "line": "/etc/passwd:1"})
    rows = values(shown["grids"][0]["table"])
    assert [row[3] for row in rows] == BENCH.splitlines()
    assert shown["title"] == "own.py"
    by_line = {name: ns for name, ns in run.critical_path().by_line().items() if name}
    assert {f"own.py:{nr}": ns for nr, ns, *_ in rows if ns is not None} == pytest.approx(by_line)
    assert by_line


def test_a_run_without_a_source_says_so() -> None:
    run = kb.traffic("pattern:all-local", "minimal", store="memory:", params={"bytes": 64})
    assert source.file_of(run) == ""
    with pytest.raises(UsageError, match="keeps no source"):
        source.of_run(run, ChosenWindow())


def test_the_terminal_ui_opens_a_line(run: kb.Run) -> None:
    browser = Browser(kb.open_store("store"))
    opened = browser.run(run.id)
    page = run_page(opened, ChosenWindow())
    time = next(one for one in page.sections if one.name == "Time").load()
    rows = [time.record(at) for at in range(len(time))]
    lines = [one for row in rows if row["by"] == "line" for one in targets_of(row)]
    assert Target("line", "own.py:7") in lines
    assert page.source == "own.py"
    shown = source_page(opened, "own.py:7", ChosenWindow())
    table = shown.sections[0].load()
    assert table.record(shown.sections[0].cursor)["text"] == BENCH.splitlines()[6]


@pytest.mark.parametrize("changed", [False, True])
def test_a_terminal_gets_links_to_the_unchanged_file(
    run: kb.Run, cli: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, changed: bool
) -> None:
    monkeypatch.setattr(source_links, "_FILES", {})
    monkeypatch.setenv("TERM", "xterm")
    assert "\x1b]8" not in cli("why", "--by", "line", "--store", "store").out
    if changed:
        Path("own.py").write_text(BENCH + "\n# changed\n", encoding="utf-8")
    monkeypatch.setattr(type(sys.stdout), "isatty", lambda _: True, raising=False)
    said = cli("why", "--by", "line", "--store", "store").out
    link = f"\x1b]8;;{Path('own.py').resolve().as_uri()}#L7\x1b\\own.py:7\x1b]8;;\x1b\\"
    assert (link in said) is not changed
    assert "own.py:7" in said


def test_a_pipe_in_place_of_the_file_is_not_opened(run: kb.Run, monkeypatch: pytest.MonkeyPatch) -> None:
    import os

    Path("own.py").unlink()
    os.mkfifo("own.py")
    monkeypatch.setattr(source_links, "_FILES", {})
    monkeypatch.setattr(type(sys.stdout), "isatty", lambda _: True, raising=False)
    source_links.link_lines(run)
    assert source_links.linked("own.py:7") == "own.py:7"
    Path("own.py").unlink()  # Hypothesis reads the files of loaded modules, and would wait for this one
