"""The command that installs an extra fits how KernBench was installed."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import kernbench as kb
from kernbench.support.pgraph import install


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ({"url": "{here}", "dir_info": {"editable": True}}, ["-e", ".[dask]"]),
        ({"url": "{here}", "dir_info": {}}, [".[dask]"]),
        ({"url": "{here}/dist/kernbench-1-py3-none-any.whl", "archive_info": {}},
         ["dist/kernbench-1-py3-none-any.whl[dask]"]),
        ({"url": "{here}/gone", "dir_info": {"editable": True}}, ["kernbench[dask]"]),
        ({"url": "https://example.org/kernbench.whl", "archive_info": {}}, ["kernbench[dask]"]),
        (None, ["kernbench[dask]"]),
    ],
)  # fmt: skip
def test_an_extra_is_installed_from_where_the_package_came(
    said: dict[str, Any] | None, expected: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "dist").mkdir()
    (tmp_path / "dist" / "kernbench-1-py3-none-any.whl").touch()
    text = said and json.dumps({**said, "url": said["url"].format(here=tmp_path.as_uri())})
    monkeypatch.setattr(
        "importlib.metadata.distribution", lambda _: SimpleNamespace(read_text=lambda _: text)
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("VIRTUAL_ENV", sys.prefix)
    assert shlex.split(install("dask")) == ["pip", "install", *expected]


def test_the_pip_is_that_of_an_environment_that_is_not_active(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("VIRTUAL_ENV", raising=False)
    monkeypatch.setattr(sys, "base_prefix", "/elsewhere")
    monkeypatch.chdir(Path(sys.executable).parent)
    assert install("dask").startswith(f"{Path(sys.executable).name} -m pip install ")


def test_an_evaluation_writes_its_tables_without_matplotlib(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    found = kb.evaluate(
        "milestone-1h-gemm", tmp_path / "out", params={"shapes": "32x128x32"}, topology="minimal",
        store=str(tmp_path / "store"),
    )  # fmt: skip
    assert found.tables
    assert not found.failed
    assert {Path(file).suffix for file in found.files} == {".csv", ".json", ".html"}
    assert [note for note in found.notes if "matplotlib" in note and install("figures") in note]
    assert sum("matplotlib" in note for note in found.notes) == 1
