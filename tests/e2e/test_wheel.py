"""A wheel, built from clean sources and installed in an empty environment, does the main job."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

from kernbench.support.compiled.digest import MODULES, SHARED
from tests.quick_builds import quick_copy

pytestmark = pytest.mark.slow
ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of $KERNBENCH_SOURCE, or else of this checkout."""
    source = quick_copy(tmp_path_factory.mktemp("source"), Path(os.environ.get("KERNBENCH_SOURCE", ROOT)))
    target = tmp_path_factory.mktemp("wheel")
    subprocess.run(
        [sys.executable, "-m", "build", "--wheel", "--outdir", str(target), str(source)],
        check=True, capture_output=True, text=True,
    )  # fmt: skip
    (built,) = target.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of commands of an environment that holds the wheel and what it depends on."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, with_pip=True)
    pip = [str(folder / "bin" / "python"), "-m", "pip", "--disable-pip-version-check"]
    subprocess.run([*pip, "install", "--quiet", str(wheel)], check=True)
    return folder / "bin"


def test_the_wheel_holds_data_and_types_and_nothing_else(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    tops = {name.split("/")[0] for name in names}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"kernbench", "kernbench_graph"}
    for kind, folder in (("queries", "*/*.yaml"), ("configs", "**/*.yaml"), ("evaluations", "*.py")):
        for path in sorted((ROOT / kind).glob(folder)):
            assert f"kernbench/_data/{kind}/{path.relative_to(ROOT / kind).as_posix()}" in names
    assert {"kernbench/py.typed", "kernbench_graph/py.typed", "kernbench/__init__.pyi"} <= set(names)
    assert not [name for name in names if name.endswith((".pyx", ".pxd", ".pxi", ".c"))]
    made = {name.partition(".")[0].replace("/", ".") for name in names if name.endswith((".so", ".pyd"))}
    if shutil.which("cc"):
        assert made == {SHARED, *MODULES}
        assert not wheel.name.endswith("-none-any.whl")
    else:
        assert not made


def test_the_main_job_and_a_query_run_from_the_wheel(installed: Path, tmp_path: Path) -> None:
    def kernbench(*argv: str) -> str:
        environment = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "KERNBENCH"))}
        done = subprocess.run(
            [str(installed / "kernbench"), *argv],
            cwd=tmp_path, env=environment, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout

    run = json.loads(kernbench("run", "--bench", "qkv-gemm", "--verify-data", "--format", "json"))
    assert run["verified"] is True
    answer = json.loads(kernbench("query", "busiest-links", run["run_id"], "--format", "json"))
    assert answer["rows"]
    assert json.loads(kernbench("doctor", "--format", "json"))["ok"] is True
    place = "import kernbench, kernbench_graph; print(kernbench.__file__, kernbench_graph.__file__)"
    done = subprocess.run(
        [str(installed / "python"), "-c", place], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert str(ROOT) not in done.stdout
