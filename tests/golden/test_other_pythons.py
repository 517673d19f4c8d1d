"""Archives are the same, to the last bit, on the newest other Python that this machine has."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.golden.archives import GOLDEN, differences
from tests.quick_builds import quick_copy

pytestmark = pytest.mark.slow
ROOT = Path(__file__).resolve().parents[2]
VERSIONS = [f"3.{minor}" for minor in range(14, 10, -1) if minor != sys.version_info.minor]
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


def test_archives_are_what_they_are_here(tmp_path: Path) -> None:
    version, found = next(((one, python) for one in VERSIONS if (python := interpreter(one))), ("", None))
    if found is None:
        pytest.skip("no other Python here")
    environment = tmp_path / "environment"
    subprocess.run([found, "-m", "venv", str(environment)], check=True)
    python = str(environment / "bin" / "python")
    pip = [python, "-m", "pip", "--disable-pip-version-check", "install", "--quiet"]
    # What of the packages is used is compiled to bytecode when it is: a fraction of them.
    subprocess.run([*pip, "--no-compile", str(quick_copy(tmp_path / "checkout"))], check=True)
    out = tmp_path / "archives.json"
    script = str(ROOT / "tests" / "golden" / "archives.py")
    subprocess.run([python, script, "--out", str(out), "--only", *CASES], check=True)
    was = json.loads(GOLDEN.read_text(encoding="utf-8"))["cases"]
    now = json.loads(out.read_text(encoding="utf-8"))
    assert now["origin"]["versions"]["python"].startswith(version)
    assert set(now["cases"]) == set(CASES)
    differing = {name: list(differences(was[name], now["cases"][name])) for name in CASES}
    assert differing == {name: [] for name in CASES}
