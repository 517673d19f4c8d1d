"""What hands type without looking it up: short forms of commands, and other tools' names for them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kernbench.cli.main import main

BENCH = """\
import numpy as np

import kernbench.tl as tl
from kernbench.workloads.benches import bench


def copy(x, out):
    tl.store(out, tl.load(x))


@bench(name="my-copy", description="Copies a tensor.")
def run(torch):
    x = torch.from_numpy(np.ones((8, 128), np.float16), name="x")
    torch.launch("copy", copy, x, torch.zeros((8, 128), dtype="f16")).wait()
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(BENCH, encoding="utf-8")
    return tmp_path


def said(capsys: pytest.CaptureFixture[str], *words: str, status: int = 0) -> str:
    assert main(list(words)) == status
    shown = capsys.readouterr()
    return shown.err if status else shown.out


def test_benches_runs_formats_and_parameters_need_no_option(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    on = ("--topology", "minimal", "--format", "json")
    runs = [json.loads(said(capsys, "run", *words, *on)) for words in (["mine.py"], ["--bench", "mine.py"])]
    assert runs[0]["config_hash"] == runs[1]["config_hash"]
    compared = json.loads(said(capsys, "compare", "last~1", "last", "--format", "json"))
    assert [compared[name]["run_id"] for name in ("before", "after")] == [run["run_id"] for run in runs]

    short = said(capsys, "query", "busiest-links", "limit=1", "--format", "csv")
    assert short == said(capsys, "query", "busiest-links", "limit=1", "--format", "csv")
    assert len(short.splitlines()) == 2
    text = ("--cypher", "MATCH (t:Transaction) WHERE t.number < $n RETURN t.number AS t")
    assert len(said(capsys, "query", *text, "n=2", "--format", "csv").splitlines()) == 3

    said(capsys, "export", "json", runs[0]["run_id"].rpartition("-")[2], "--out", "a.json")
    said(capsys, "export", "last~1", "json", "--out", "b.json")
    assert (folder / "a.json").read_bytes() == (folder / "b.json").read_bytes()

    swept = said(capsys, "sweep", "gemm-single-pe", "m=16,32", *on)
    assert [one["params"]["m"] for one in json.loads(swept)["points"]] == [16, 32]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["run"], "name a bench"),
        (["run", "a", "--bench", "b"], "the bench is given twice"),
        (["sweep", "a", "--bench", "b"], "the bench is given twice"),
        (["export", "last"], "no format among 'last'; name a format, such as 'kernbench export perfetto'"),
        (["export", "json", "a", "b"], "several runs are given, a and b"),
        (["query", "busiest-links", "limit"], "no run 'limit'"),
        (["runs", "show"], "did you mean 'kernbench show'?"),
        (["diff"], "did you mean 'kernbench compare'?"),
        (["runs", "lst"], "did you mean 'list'?"),
    ],
)
def test_a_wrong_command_names_the_right_one(
    folder: Path, capsys: pytest.CaptureFixture[str], words: list[str], message: str
) -> None:
    assert message in said(capsys, *words, status=2)


@pytest.mark.parametrize(("words", "meant"), [("runs list --json", "json"), ("query --csv", "csv")])
def test_formats_as_other_tools_ask_for_them(
    capsys: pytest.CaptureFixture[str], words: str, meant: str
) -> None:
    assert f"'--format {meant}'" in said(capsys, *words.split(), status=2)
