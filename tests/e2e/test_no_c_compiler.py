"""Without cc, gcc or clang on the PATH: what is there runs the default job, and what is said is true.

``tests/golden/test_other_pythons.py`` installs it there, with the compiler that pip brings.
"""

from __future__ import annotations

import json
import os
import platform
import runpy
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.quick_builds import quick_copy

ROOT = Path(__file__).resolve().parents[2]
BUILD: dict[str, Any] = runpy.run_path(str(ROOT / "hatch_build.py"))
COMPILERS = ("c++", "c89", "c99", "cc", "clang", "cpp", "g++", "gcc", "icx", "tcc", "zig")
BROUGHT = platform.machine() in ("x86_64", "aarch64")

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="a C compiler is brought on Linux alone")


def _is_compiler(name: str) -> bool:
    """``gcc``, ``gcc-12``, ``x86_64-linux-gnu-gcc-12``."""
    return bool({*COMPILERS} & {*name.split("-")})


@pytest.fixture
def no_compiler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A PATH of one folder, with links to everything on the PATH but C compilers."""
    folder = tmp_path / "bin"
    folder.mkdir()
    places = [Path(place) for place in os.environ["PATH"].split(os.pathsep) if place]
    commands = {path.name: path for place in reversed(places) for path in place.glob("*")}
    for name, path in commands.items():
        if not _is_compiler(name):
            (folder / name).symlink_to(path)
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.delenv("CC", raising=False)
    assert not any(shutil.which(name) for name in ("cc", "gcc", "clang"))
    return folder


def _run(*argv: str, folder: Path, **environment: str) -> str:
    env = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "KERNBENCH"))} | environment
    done = subprocess.run(argv, cwd=folder, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{argv}\n{done.stdout}{done.stderr}"
    return done.stdout


DEFAULT_JOB = ("run", "--bench", "qkv-gemm", "--verify-data", "--format", "json")


def test_the_build_asks_for_a_compiler_only_where_there_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    hook = BUILD["CustomBuildHook"]
    monkeypatch.setenv("CC", sys.executable)  # a command that is there
    assert hook.dependencies(None) == []
    monkeypatch.setenv("CC", "no-such-compiler -O2")
    assert hook.dependencies(None) == ([BUILD["ZIG"]] if BROUGHT else [])


@pytest.mark.slow
@pytest.mark.usefixtures("no_compiler")
def test_without_any_compiler_one_line_says_so(tmp_path: Path) -> None:
    copy = quick_copy(tmp_path / "checkout")
    done = subprocess.run(
        [sys.executable, "hatch_build.py"], cwd=copy, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert done.stderr == (
        "nothing is compiled: there is no C compiler; install one, or the package 'ziglang'; "
        "KernBench runs in plain Python as well\n"
    )
    assert not list(copy.rglob("*.so"))


@pytest.mark.slow
@pytest.mark.usefixtures("no_compiler")
def test_the_default_job_runs_where_nothing_is_compiled(tmp_path: Path) -> None:
    copy = quick_copy(tmp_path / "checkout")
    place = {"PYTHONPATH": os.pathsep.join([str(copy), str(copy / "graph")])}
    run = json.loads(_run(sys.executable, "-m", "kernbench", *DEFAULT_JOB, folder=tmp_path, **place))
    assert run["verified"] is True
    engine = "from kernbench.support.compiled import state; print(state)"
    said = _run(sys.executable, "-c", engine, folder=tmp_path, **place)
    assert said.startswith("not there: it could not be compiled when KernBench was installed")
    compiled = json.loads(_run(sys.executable, "-m", "kernbench", *DEFAULT_JOB, folder=tmp_path))
    assert compiled["latency_ns"] == run["latency_ns"]


def test_what_is_compiled_no_longer_goes(tmp_path: Path) -> None:
    """Python would prefer it to its source, however new that is."""
    put = BUILD["put"]
    put.__globals__["ROOT"] = tmp_path
    (tmp_path / "pkg" / "sub").mkdir(parents=True)
    (tmp_path / "made").mkdir()
    mine = ("a.cpython-312.so", "b.cpython-312.so", "sources.txt")
    for name in mine:
        (tmp_path / "made" / name).write_text("the same sources")
    for name in (
        "sub/gone.cpython-312.so",
        "gone.cp313-win_amd64.pyd",
        "a.cpython-313.so",
        "a.py",
        "gone.py",
    ):
        (tmp_path / "pkg" / name).write_text("")
    (tmp_path / "pkg" / "sources.txt").write_text("the same sources")
    put({Path("pkg", name): tmp_path / "made" / name for name in mine})
    there = {path.name for path in (tmp_path / "pkg").rglob("*") if path.is_file()}
    assert there == {*mine, "a.cpython-313.so", "a.py", "gone.py"}


def test_what_another_python_has_compiled_of_other_sources_goes(tmp_path: Path) -> None:
    """One stamp says of all what they were compiled from."""
    put = BUILD["put"]
    put.__globals__["ROOT"] = tmp_path
    (tmp_path / "pkg").mkdir()
    (tmp_path / "made").mkdir()
    for name, stamp in (("clock.cpython-312.so", "first"), ("clock.cpython-313.so", "first"),
                        ("clock.cpython-312.so", "second")):  # fmt: skip
        (tmp_path / "made" / name).write_text(stamp)
        (tmp_path / "made" / "sources.txt").write_text(stamp)
        put({Path("pkg", file): tmp_path / "made" / file for file in (name, "sources.txt")})
        there = {path.name: path.read_text() for path in (tmp_path / "pkg").iterdir()}
        assert there.pop("sources.txt") == stamp
        assert set(there.values()) == {stamp}
    assert list(there) == ["clock.cpython-312.so"]
