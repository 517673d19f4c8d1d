"""``kernbench timeline``, ``export`` and the pictures of a run, as typed."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import kernbench as kb
from tests.perfetto_traces import read


@pytest.fixture
def kept(cli: Any) -> str:
    """The id of a run in the default store."""
    ended = cli("run", "--bench", "gemm-single-pe", "--topology", "minimal", "--format", "json")
    assert ended.status == 0
    return str(json.loads(ended.out)["run_id"])


def test_a_trace_is_named_after_its_run_and_holds_its_launch(cli: Any, workdir: Path, kept: str) -> None:
    ended = cli("export", "perfetto", "--format", "json")
    payload = json.loads(ended.out)
    assert payload == {
        "run_id": kept, "to": "perfetto", "window": "the kernel of launch 0", "files": [f"{kept}.pftrace"],
    }  # fmt: skip
    assert any(one.path == ("launches",) for one in read(workdir / f"{kept}.pftrace").slices)


def test_tables_are_of_the_whole_run_unless_a_window_is_given(cli: Any, workdir: Path, kept: str) -> None:
    counts = []
    for window in ((), ("--launch", "0"), ("--from", "600", "--to", "650")):
        assert cli("export", "csv", kept, "--out", "out", *window).status == 0
        counts.append(len((workdir / "out" / "Op.csv").read_text(encoding="utf-8").splitlines()) - 1)
    assert counts[0] > counts[1] > counts[2] > 0
    assert counts[0] == len(kb.open_run(kept).ops["number"])


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (("export", "csv", "--links"), "'links' is not an option of 'csv'"),
        (("export", "perfetto", "--launch", "9"), "the run has no launch 9"),
        (("export",), "name a format"),
        (("export", "nothing", "csv"), "no run 'nothing'"),
        (("timeline", "--out", "x.svg"), "kernbench export timeline"),
        (("export", "last", "--to", "csv"), "kernbench export csv"),
        (("runs", "compare", "last~1", "last"), "did you mean 'kernbench compare'"),
        (("timeline", "--from", "5", "--to", "4"), "the time range 5 to 4 ns is empty"),
        (("figures", "--out", "f"), "did you mean 'kernbench evaluate dma'"),
        (("topology", "diagram", "minimal", "--frames", "3"), "--frames needs --run"),
    ],
)
def test_wrong_usage_is_one_line_and_leaves_nothing(
    cli: Any, workdir: Path, kept: str, argv: tuple[str, ...], words: str
) -> None:
    before = sorted(workdir.iterdir())
    ended = cli(*argv)
    assert (ended.status, ended.out) == (2, "")
    assert words in ended.err
    assert len(ended.err.splitlines()) == 1
    assert sorted(workdir.iterdir()) == before


def test_the_time_line_in_each_format_has_the_same_bars(cli: Any, kept: str) -> None:
    text = cli("timeline").out
    assert text.startswith("gemm-single-pe on minimal, the kernel of launch 0\n")
    line = json.loads(cli("timeline", "--format", "json").out)
    bars = [bar for group in line["groups"] for row in group["rows"] for bar in row["bars"]]
    rows = list(csv.DictReader(io.StringIO(cli("timeline", "--format", "csv").out)))
    assert [(row["name"], float(row["begin"])) for row in rows] == [(b["name"], b["begin"]) for b in bars]
    assert {row["label"] for group in line["groups"] for row in group["rows"]} >= {
        "kernel",
        "pe_gemm",
        "pe_dma",
    }


@pytest.mark.slow
def test_a_million_crossings_take_less_than_150_megabytes(tmp_path: Path) -> None:
    run = kb.run("va-offset-verify", store="memory:")
    hops = run.tables["Hop"]
    times = -(-1_000_000 // hops.num_rows)
    run.__dict__["tables"] = {**run.tables, "Hop": pa.concat_tables([hops] * times)}
    (file,) = run.to_perfetto(tmp_path / "x", "run", links=True)
    assert hops.num_rows * times >= 1_000_000
    assert Path(file).stat().st_size < 150e6
