"""``kernbench tui`` itself: wrong usage, a missing extra, pictures without a terminal."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Cli = Callable[..., Any]


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        ((), "the terminal UI needs a terminal; draw a screen with --svg FILE instead"),
        (("--run", "last"), "--run was removed; write 'kernbench"),
        (("--keys", "t"), "--keys is for --svg"),
        (
            ("--svg", "x.svg", "--size", "wide"),
            "'wide' is not a size; write columns and rows, 1 to 999 each, as 100x30",
        ),
        (("--svg", "x.svg", "--size", "0x5"), "'0x5' is not a size"),
    ],
)
def test_wrong_usage_says_what_to_do(cli: Cli, argv: tuple[str, ...], said: str) -> None:
    ended = cli("tui", *argv)
    assert (ended.status, ended.out) == (2, "")
    assert said in ended.err


def test_an_unknown_run_is_an_error_before_anything_is_drawn(cli: Cli, store: Path, workdir: Path) -> None:
    ended = cli("tui", "nosuch", "--svg", "x.svg", "--store", str(store))
    assert ended.status == 2
    assert "nosuch" in ended.err
    assert not (workdir / "x.svg").exists()


@pytest.mark.slow
def test_a_screen_becomes_a_picture(cli: Cli, store: Path, workdir: Path) -> None:
    ended = cli("tui", "last", "--keys", "2", "--size", "80x24", "--svg", "time.svg", "--store", str(store))
    assert (ended.status, ended.err) == (0, "")
    drawn = (workdir / "time.svg").read_text(encoding="utf-8")
    assert drawn.startswith("<svg")
    assert "cause" in drawn


@pytest.mark.daily("1x1")
@pytest.mark.parametrize("size", ["20x5", "1x1", "300x9"])
def test_screens_of_any_size_are_drawn(cli: Cli, store: Path, workdir: Path, size: str) -> None:
    ended = cli("tui", "last", "--keys", "t tab", "--size", size, "--svg", "s.svg", "--store", str(store))
    assert ended.status == 0, ended.err
    assert (workdir / "s.svg").read_text(encoding="utf-8").startswith("<svg")


@pytest.mark.skipif(os.name != "posix", reason="needs a pseudo-terminal")
def test_sigterm_leaves_the_terminal_as_it_was(tmp_path: Path) -> None:
    import pty

    child, terminal = pty.fork()
    if child == 0:
        command = [sys.executable, "-m", "kernbench", "tui", "--store", str(tmp_path / "store")]
        os.execve(sys.executable, command, {**os.environ, "TERM": "xterm-256color"})
    said = b""
    with contextlib.suppress(OSError):  # the terminal goes with the process
        while True:
            said += os.read(terminal, 4096)
            if b"runs" in said and b"\x1b[?1049h" in said and b"\x1b[?1049l" not in said:
                os.kill(child, signal.SIGTERM)
    _, status = os.waitpid(child, 0)
    os.close(terminal)
    assert os.waitstatus_to_exitcode(status) == 128 + signal.SIGTERM
    assert said.rindex(b"\x1b[?1049l") > said.rindex(b"\x1b[?1049h")
