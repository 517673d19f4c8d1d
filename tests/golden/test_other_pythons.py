"""Archives are the same, to the last bit, on another Python, compiled by the C compiler that pip brings."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.e2e.test_no_c_compiler import BROUGHT, DEFAULT_JOB, no_compiler
from tests.golden.archives import GOLDEN, differences
from tests.quick_builds import quick_copy

__all__ = ["no_compiler"]  # a fixture
pytestmark = pytest.mark.slow
ROOT = Path(__file__).resolve().parents[2]
HERE = f"3.{sys.version_info.minor}"
VERSIONS = [one for one in ("3.14", "3.13", "3.12", "3.11") if one != HERE]
CASES = (
    "ccl-allreduce on default",
    "flash-attention on minimal",
    "matmul-composite on default",
    "matmul-composite on small-one-to-one",
    "pattern hot-spot on small",
    "pattern uniform-random on small",
    "pe2pe on small-one-to-one",
    "qkv-gemm-multi-pe on small-pa",
)


def interpreter(version: str) -> str | None:
    """A Python of this version that runs: the one on the path, or one that pyenv keeps."""
    found = [shutil.which(f"python{version}")]
    if (pyenv := shutil.which("pyenv")) is not None:
        root = subprocess.run([pyenv, "root"], capture_output=True, text=True, check=False).stdout.strip()
        found += map(str, sorted(Path(root, "versions").glob(f"{version}.*/bin/python")))
    works = (c for c in found if c and not subprocess.run([c, "-c", ""], capture_output=True).returncode)
    return next(works, None)


def test_archives_are_what_they_are_here(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """On the newest other Python that this machine has, if any. It needs the package index."""
    others = ((one, python) for one in VERSIONS if (python := interpreter(one)))
    version, found = next(others, (HERE, sys.executable))
    if BROUGHT and sys.platform == "linux":
        request.getfixturevalue("no_compiler")
    environment = tmp_path / "environment"
    subprocess.run([found, "-m", "venv", str(environment)], check=True)
    python = str(environment / "bin" / "python")
    pip = [python, "-m", "pip", "--disable-pip-version-check", "install", "--quiet"]
    # What of the packages is used is compiled to bytecode when it is: a fraction of them.
    subprocess.run([*pip, "--no-compile", str(quick_copy(tmp_path / "checkout"))], check=True)
    where = "import kernbench.support.compiled as c; print(c.state, c.__file__)"
    said = subprocess.run([python, "-c", where], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert said.stdout.startswith(f"used {environment}")
    ran = subprocess.run(
        [python, "-m", "kernbench", *DEFAULT_JOB], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert json.loads(ran.stdout)["verified"] is True
    out = tmp_path / "archives.json"
    script = str(ROOT / "tests" / "golden" / "archives.py")
    subprocess.run([python, script, "--out", str(out), "--only", *CASES], check=True)
    was = json.loads(GOLDEN.read_text(encoding="utf-8"))["cases"]
    now = json.loads(out.read_text(encoding="utf-8"))
    assert now["origin"]["versions"]["python"].startswith(version)
    assert set(now["cases"]) == set(CASES)
    differing = {name: list(differences(was[name], now["cases"][name])) for name in CASES}
    assert differing == {name: [] for name in CASES}
