"""What all tests share."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import settings

pytest_plugins = ["pytester"]

settings.register_profile("kernbench", deadline=None)
settings.load_profile("kernbench")


@dataclass(frozen=True)
class Ended:
    """A command line that has ended."""

    status: int
    out: str
    err: str


@pytest.fixture
def workdir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working directory, and no store named by the environment."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("KERNBENCH_STORE", raising=False)
    return tmp_path


@pytest.fixture
def cli(workdir: Path, capfd: pytest.CaptureFixture[str]) -> Callable[..., Ended]:
    """``cli("runs", "list")``: the command line within this process, in :func:`workdir`."""
    from kernbench.cli.main import main

    def run(*argv: str) -> Ended:
        capfd.readouterr()
        status = main(argv)
        sys.stdout.flush()
        return Ended(status, *capfd.readouterr())

    return run


@pytest.fixture
def process(workdir: Path) -> Callable[..., Ended]:
    """``process("runs", "list")``: the installed ``kernbench`` in its own process, in :func:`workdir`."""

    def run(*argv: str, **environment: str) -> Ended:
        done = subprocess.run(
            [str(Path(sys.executable).parent / "kernbench"), *argv],
            capture_output=True,
            text=True,
            check=False,
            cwd=workdir,
            env={**os.environ, **environment},
        )
        return Ended(done.returncode, done.stdout, done.stderr)

    return run
