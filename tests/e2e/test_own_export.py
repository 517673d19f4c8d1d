"""A format of a user's package: found by its entry point, written by the command and in Python."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import kernbench as kb
from kernbench.api.exporting import formats
from kernbench.errors import UsageError

HOW_TO = Path(kb.__file__).parents[1] / "docs/how-to/export-a-run.md"


@pytest.fixture
def package(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the page says, installed: its function, and a second that fails."""
    page = HOW_TO.read_text(encoding="utf-8").split("## A format of your own")[1]
    code = re.findall(r"```python\n(.*?)```", page, re.S)[0]
    points = (
        re.findall(r"```toml\n.*?\n(.*?)```", page, re.S)[0]
        .replace('"', "")
        .replace("acme.exports", "acme_exports")
    )
    folder = tmp_path_factory.mktemp("site")
    (folder / "acme_exports.py").write_text(f"{code}\n\ndef fails(run, path, window):\n    return 1 / 0\n")
    info = folder / "acme-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: acme\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        f"[kernbench.exports]\n{points}broken = acme_exports:fails\ncsv = acme_exports:fails\n"
    )
    monkeypatch.syspath_prepend(str(folder))


def test_it_is_written_as_the_page_says(cli: Any, workdir: Path, package: None) -> None:
    assert cli("run", "gemm-single-pe", "--topology", "minimal").status == 0
    run = kb.open_run("last")
    assert cli("export", "ops").status == 0
    lines = (workdir / f"{run.id}.ops").read_text(encoding="utf-8").splitlines()
    assert lines == [f"{t:.3f} {c}" for t, c in zip(run.ops["t_end"], run.ops["component"], strict=True)]
    assert run.export("ops", "own.txt") == ["own.txt"]
    assert formats()["ops"].about == "of the package acme"
    assert run.export("csv", "tables")[-1] == "tables/run.json"  # a shipped name is not replaced

    ended = cli("export", "broken")
    assert (ended.status, ended.out) == (1, "")
    assert re.search(
        r"format 'broken' of the package acme raised ZeroDivisionError: .* \(acme_exports.py:\d+\)", ended.err
    )
    ended = cli("export", "ops", "--links")
    assert ended.status == 1
    assert "format 'ops' of the package acme raised TypeError" in ended.err
    with pytest.raises(UsageError, match="there is no format 'opps'; did you mean 'ops'"):
        run.export("opps")
    assert "csv, parquet, graphml, gexf, json, ops, broken" in cli("export", "last").err
