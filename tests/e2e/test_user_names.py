"""Files of a user may be called anything: only top-level names that begin with kernbench are ours."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = """\
import kernbench as kb

run = kb.run("gemm-single-pe", "minimal", verify=True)
assert run.query("busiest-links").rows
kb.traffic("pattern:neighbour", "minimal", bytes=64)
"""


def installed() -> list[Path]:
    """The top-level packages of the wheel."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    wheel = settings["tool"]["hatch"]["build"]["targets"]["wheel"]
    assert all(place.startswith("kernbench/") for place in wheel["force-include"].values())
    return [ROOT / package for package in wheel["packages"]]


def test_names_that_the_wheel_installs_are_ours() -> None:
    assert {package.name for package in installed()} == {"kernbench", "kernbench_graph"}


@pytest.mark.slow
def test_files_of_a_user_may_have_the_names_of_our_modules(tmp_path: Path) -> None:
    """A script's folder comes first on Python's path; one file there for each name within our packages."""
    within = {path.stem for package in installed() for path in package.rglob("*.py")}
    folders = {path.name for package in installed() for path in package.rglob("*") if path.is_dir()}
    top = {path.name for path in ROOT.iterdir() if path.is_dir()}
    names = {name for name in within | folders | top if name.isidentifier() and not name.startswith("__")}
    # Those of the standard library and of what we depend on are not ours to give.
    theirs = {module.partition(".")[0] for module in sys.modules if not module.startswith(tuple(top))}
    names -= {"kernbench", "kernbench_graph", *theirs, *sys.stdlib_module_names}
    assert {"graph", "topology", "core", "api", "queries", "tests", "tools"} <= names
    for name in sorted(names):
        (tmp_path / f"{name}.py").write_text("x = 1\n", encoding="utf-8")
    (tmp_path / "script.py").write_text(SCRIPT, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "script.py"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
