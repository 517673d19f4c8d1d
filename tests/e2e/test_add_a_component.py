"""docs/how-to/add-a-component.md: its patches apply to a copy of the sources and do what the page says."""

from __future__ import annotations

import doctest
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "how-to" / "add-a-component.md").read_text(encoding="utf-8")
_BLOCK = re.compile(r"^```(?P<language>\S+)(?: title=\"(?P<file>[^\"]+)\")?\n(?P<body>.*?)^```$", re.M | re.S)


def changed(checkout: Path) -> str:
    """Make a copy of the code, changed as the page says; the commands that the page then runs."""
    for folder in ("kernbench", "graph", "configs", "queries", "evaluations"):
        shutil.copytree(ROOT / folder, checkout / folder, ignore=shutil.ignore_patterns("__pycache__"))
    commands = ""
    for block in _BLOCK.finditer(PAGE):
        if block["file"]:
            (checkout / block["file"]).write_text(block["body"], encoding="utf-8")
        elif block["language"] == "diff":
            apply = ["git", "apply", "-"]
            # Outside any repository, or git would take the paths for those of that one.
            env = {**os.environ, "GIT_CEILING_DIRECTORIES": str(checkout.parent)}
            subprocess.run(apply, cwd=checkout, input=block["body"], text=True, check=True, env=env)
        elif block["language"] == "shell-session":
            commands += block["body"]
    return commands


def test_the_changes_of_the_page_fit_the_code(tmp_path: Path) -> None:
    changed(tmp_path / "checkout")
    topology = (tmp_path / "checkout" / "kernbench" / "hardware" / "topology" / "pe_spec.py").read_text(
        encoding="utf-8"
    )
    assert "pe_mpu: PeMpu" in topology


@pytest.mark.slow
def test_a_component_is_added_as_the_page_says(tmp_path: Path) -> None:
    checkout = tmp_path / "checkout"
    commands = changed(checkout)
    ran = 0
    for part in re.split(r"^\$ ", commands, flags=re.MULTILINE)[1:]:
        command, _, expected = part.partition("\n")
        printed = _kernbench(shlex.split(command)[1:], checkout, tmp_path)
        same = doctest.OutputChecker().check_output(expected, printed, doctest.ELLIPSIS)
        assert same, f"{command}\nexpected:\n{expected}\ngot:\n{printed}"
        ran += 1
    assert ran == 5
    test = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_pe_mpu.py"]
    subprocess.run(test, cwd=checkout, env=environment(checkout, tmp_path), check=True)


def environment(checkout: Path, folder: Path) -> dict[str, str]:
    path = os.pathsep.join(map(str, (checkout, checkout / "graph")))
    return {**os.environ, "PYTHONPATH": path, "KERNBENCH_STORE": str(folder / "store")}


def _kernbench(arguments: list[str], checkout: Path, folder: Path) -> str:
    """The output of the command, run on the copy."""
    done = subprocess.run(
        [sys.executable, "-m", "kernbench", *arguments],
        cwd=folder,
        env=environment(checkout, folder),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"{arguments}\n{done.stdout}{done.stderr}"
    return done.stdout
