"""What the command line writes: nothing that a terminal obeys, and nothing lost where streams are closed."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import kernbench as kb
from kernbench.cli import output
from kernbench.cli.main import main

RED, CSI, TITLE = "\x1b[31m", "\x9b31m", "\x1b]0;t\x07"
HOSTILE = f"a{RED}{CSI}{TITLE}\u202e\x7fb"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def written(capsys: pytest.CaptureFixture[str], *argv: str) -> str:
    main(argv)
    found = capsys.readouterr()
    assert all(c.isprintable() or c == "\n" for c in found.out + found.err)
    return found.out + found.err


def test_no_name_of_anybody_reaches_the_terminal_as_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    run = kb.run("gemm-single-pe", "minimal", tags=[HOSTILE], store=".kernbench")
    for argv in (
        ("runs", "list"),
        ("show", "last"),
        ("runs", "tag", "last"),
        ("why", "last"),
        ("query", "history/runs"),
        ("runs", "list", "--tag", f"x{HOSTILE}"),
        ("run", "--bench", HOSTILE),
        ("run", "--bench", "gemm-single-pe", f"{HOSTILE}=1"),
        ("run", "--bench", "gemm-single-pe", f"m={HOSTILE}"),
        ("query", HOSTILE),
        ("query", "last", "--cypher", f"RETURN '{HOSTILE}' AS x, $run AS run"),
        ("query", "last", "--cypher", f"RETURN 1 AS `{HOSTILE}`"),
        ("query", "last", "--cypher", f"MATCH (n:`{HOSTILE}`) RETURN n"),
        ("topology", "check", HOSTILE),
        (HOSTILE,),
        (f"--{HOSTILE}",),
    ):
        text = written(capsys, *argv)
        assert "31m" in text or argv[0] == "why", argv
    found = json.loads(written(capsys, "runs", "list", "--format", "json"))
    assert found["runs"][0]["tags"] == [HOSTILE] == kb.open_run(run.id).tags


def test_a_terminal_gets_csv_without_what_it_would_obey(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    output.print_csv([HOSTILE], [[HOSTILE]])
    assert capsys.readouterr().out == f"{HOSTILE}\n{HOSTILE}\n"
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    output.print_csv([HOSTILE], [[HOSTILE]])
    assert capsys.readouterr().out == f"{output.printable(HOSTILE)}\n" * 2


@pytest.mark.parametrize(
    "closed",
    [*(pytest.param(one, marks=pytest.mark.slow) for one in (">&-", "2>&-", ">&- 2>&-")), "<&- >&- 2>&-"],
)
def test_closed_streams_do_no_harm(closed: str, folder: Path) -> None:
    """Nor does a file of the store get the number of a stream, and what is printed to it."""
    command = f"{sys.executable} -m kernbench run --bench gemm-single-pe --topology minimal {closed}"
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert len(kb.runs(".kernbench")) == 1


def test_ctrl_c_while_starting_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """All imports of any length are made where it is expected."""
    for name in [name for name in sys.modules if name.startswith("kernbench.cli.") and "main" not in name]:
        monkeypatch.delitem(sys.modules, name)
    for slow in ("kernbench.cli.app", "kernbench.cli.commands.runs"):
        monkeypatch.setattr(sys, "meta_path", [Interrupts(slow), *sys.meta_path])
        assert main(["runs", "list"]) == 130
        assert capsys.readouterr().err == "kernbench: error: interrupted\n"
    code = "import sys, kernbench.cli.main; print('click' in sys.modules, 'kernbench.cli.app' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False False\n"


class Interrupts:
    """Raises, where Python looks for a module, what Ctrl-C raises."""

    def __init__(self, name: str) -> None:
        self.name = name

    def find_spec(self, name: str, *_: Any) -> None:
        if name == self.name:
            raise KeyboardInterrupt
