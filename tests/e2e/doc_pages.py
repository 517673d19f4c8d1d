"""Runs the blocks of a documentation page, top to bottom, in one folder.

``console``: lines after ``$ `` are commands, run by bash (``kernbench`` itself within this process, which is
quicker, where the line needs no shell); what follows up to the next one is what they print,
``...`` standing for anything, nothing for no matter what. Output that begins with ``kernbench: error:``
means that the command fails. A block under ``<!-- needs: neo4j -->`` runs when ``KERNBENCH_STORE`` names a
server.
``python``: run in the namespace of the page. ``output``: what the ``python`` block before it prints, in the
same form. Blocks with ``title="file"`` are written to that file instead. All other blocks are left alone.
"""

from __future__ import annotations

import doctest
import io
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

from kernbench.cli.main import main

_BLOCK = re.compile(r"^```(?P<info>[^\n]*)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)
_TITLE = re.compile(r'title="(?P<file>[^"]+)"')


def run_page(page: Path, folder: Path) -> int:
    """Run ``page`` in ``folder``, which is the working directory; return how many blocks were run."""
    namespace: dict[str, Any] = {"__name__": "page"}
    count = 0
    printed = None
    text = page.read_text(encoding="utf-8")
    for match in _BLOCK.finditer(text):
        line = text.count("\n", 0, match.start()) + 1
        language, _, rest = match["info"].partition(" ")
        title = _TITLE.search(rest)
        if title:
            (folder / title["file"]).parent.mkdir(parents=True, exist_ok=True)
            (folder / title["file"]).write_text(match["body"], encoding="utf-8")
            continue
        needs_server = text.endswith("<!-- needs: neo4j -->\n", 0, match.start())
        if needs_server and "://" not in os.environ.get("KERNBENCH_STORE", ""):
            continue
        if language == "python":
            # Line numbers in a traceback are then those of the page.
            with _importable(folder), redirect_stdout(io.StringIO()) as written:
                exec(compile("\n" * line + match["body"], str(page), "exec"), namespace)
            printed = written.getvalue()
        elif language == "output":
            assert printed is not None, f"{page.name}:{line}: output of no python block"
            _compare(match["body"], printed, f"{page.name}:{line}")
            printed = None
        elif language == "console":
            for command, expected in _commands(match["body"]):
                _run(command, expected, folder, f"{page.name}:{line}")
        else:
            continue
        count += 1
    return count


@contextmanager
def _importable(folder: Path) -> Iterator[None]:
    """Let the page import the files that it wrote, as Python does in the working directory."""
    sys.path.insert(0, str(folder))
    try:
        yield
    finally:
        sys.path.remove(str(folder))
        for name in [
            n for n, m in sys.modules.items() if (getattr(m, "__file__", None) or "").startswith(str(folder))
        ]:
            del sys.modules[name]


def _commands(body: str) -> Iterator[tuple[str, str]]:
    for part in re.split(r"^\$ ", body, flags=re.MULTILINE)[1:]:
        command, _, expected = part.partition("\n")
        yield command, expected


def _run(command: str, expected: str, folder: Path, where: str) -> None:
    words = shlex.split(command)
    if words[0] == "kernbench" and not {">", "|"} & set(words):
        printed = io.StringIO()
        with redirect_stdout(printed), redirect_stderr(printed):
            status = main(words[1:])
        output = printed.getvalue()
    else:
        status, output = _in_shell(command, folder)
    fails = expected.startswith("kernbench: error:")
    assert (status != 0) == fails, f"{where}: {command}\n{output}"
    if expected.strip():
        _compare(expected, output, f"{where}: {command}")


def _compare(expected: str, output: str, where: str) -> None:
    same = doctest.OutputChecker().check_output(
        expected, output, doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    )
    assert same, f"{where}\nexpected:\n{expected}\ngot:\n{output}"


def _in_shell(command: str, folder: Path) -> tuple[int, str]:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        env={**os.environ, "PATH": path},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout
