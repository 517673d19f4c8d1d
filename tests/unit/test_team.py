"""Runs of a project: whose they are, what is seen of others, and what goes with age."""

from __future__ import annotations

import getpass
import shutil
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

import pytest
from click.testing import CliRunner

import kernbench as kb
from kernbench.api import kept_runs, team
from kernbench.api.open_runs import open_run
from kernbench.cli.app import app
from kernbench.errors import UsageError

ARCHIVES = Path(__file__).parents[1] / "archives"


def cli(*words: str) -> str:
    done = CliRunner().invoke(app, list(words))
    assert done.exit_code == 0, done.output
    return done.output


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with two runs of project a, by ann, and between them one of b, by bob."""
    url = tmp_path_factory.mktemp("kept") / "store"
    with pytest.MonkeyPatch.context() as patch:
        for user, project in (("ann", "a"), ("bob", "b"), ("ann", "a")):
            patch.setenv(team.USER, user)
            cli("run", "gemm-single-pe", "--topology", "minimal", "--project", project, "--store", str(url))
    return url


@pytest.fixture
def store(kept: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A copy of that store."""
    monkeypatch.delenv(team.PROJECT, raising=False)
    shutil.copytree(kept, tmp_path / "store")
    return str(tmp_path / "store")


def test_a_run_says_whose_it_is(store: str, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = kept_runs.listed(store=store)
    assert [(row["user"], row["project"]) for row in rows] == [("ann", "a"), ("bob", "b"), ("ann", "a")]
    asked = kb.open_run("last", store=store).cypher(
        "MATCH (r:Run {id: $run}) RETURN r.user AS user, r.project AS project"
    )
    assert asked.rows == [("ann", "a")]
    shown = cli("runs", "list", "--store", store)
    assert shown.splitlines()[0].split()[-2:] == ["user", "project"]
    assert team.project() == ""  # --project was the command's alone


def test_a_project_sees_its_own_runs(store: str, monkeypatch: pytest.MonkeyPatch) -> None:
    first, other, last = (row["run_id"] for row in kept_runs.listed(store=store))
    assert cli("runs", "list", "--project", "b", "--format", "csv", "--store", store).count(other) == 1
    monkeypatch.setenv(team.PROJECT, "b")
    assert [row["run_id"] for row in kept_runs.listed(store=store)] == [other]
    assert open_run("last", store).id == other
    assert open_run(first, store).id == first  # by its id
    assert cli("runs", "list", "--project", "", "--format", "csv", "--store", store).count(first) == 1
    monkeypatch.setenv(team.PROJECT, "a")
    assert open_run("last~1", store).id == first
    assert kept_runs.prune(keep=1, store=store, dry_run=True) == [first]
    assert kept_runs.prune(keep=0, store=store) == [first, last]
    monkeypatch.delenv(team.PROJECT)
    assert [row["run_id"] for row in kept_runs.listed(store=store)] == [other]


def test_functions_take_a_project_and_a_user(store: str, monkeypatch: pytest.MonkeyPatch) -> None:
    first, other, last = (run.id for run in kb.runs(store))
    assert [run.id for run in kb.runs(store, project="a")] == [first, last]
    assert open_run("last", store, project="b").id == other
    mine = kb.run("gemm-single-pe", topology="minimal", store=store, project="c", user="cleo")
    assert (mine.info["project"], mine.info["user"]) == ("c", "cleo")
    given = {"params": {"m": [16]}, "topology": "minimal", "store": store}
    assert kb.sweep("gemm-single-pe", **given, project="c").points[0].error == ""
    assert [run.properties["project"] for run in kb.runs(store)[3:]] == ["c", "c"]
    monkeypatch.setenv(team.PROJECT, "b")
    assert [run.id for run in kb.runs(store)] == [other]
    assert len(kb.runs(store, project="")) == 5
    none = kb.run("gemm-single-pe", topology="minimal", store=store, project="")
    assert none.info["project"] == ""
    assert [row["run_id"] for row in kept_runs.listed(store=store, project="a")] == [first, last]
    assert kept_runs.prune(keep=1, store=store, project="a") == [first]


def test_old_runs_go(store: str, monkeypatch: pytest.MonkeyPatch) -> None:
    first, other, last = (row["run_id"] for row in kept_runs.listed(store=store))
    assert cli("runs", "prune", "--older-than", "30d", "--store", store) == ""
    later = datetime.now(UTC) + timedelta(days=31)
    monkeypatch.setattr(kept_runs, "is_older", partial(team.is_older, now=later))
    with monkeypatch.context() as patch:
        patch.setenv(team.PROJECT, "a")
        assert kept_runs.prune(older_than="30d", keep=1, store=store) == [first]
    gone = cli("runs", "prune", "--project", "b", "--older-than", "4w", "--dry-run", "--store", store)
    assert gone.split() == [other]
    assert kept_runs.prune(older_than="9w", store=store) == []
    assert kept_runs.prune(older_than="30d", store=store) == [other, last]


def test_a_time_that_is_none_is_refused(tmp_path: Path) -> None:
    for wrong in ("30", "d", "-3d", "3 months", "1.5d"):
        with pytest.raises(UsageError, match="such as 30d"):
            kept_runs.prune(older_than=wrong, store=str(tmp_path))
    with pytest.raises(UsageError, match="say what stays"):
        kept_runs.prune(store=str(tmp_path))
    assert not team.is_older("", team.age("1h"))


def test_a_user_without_a_name(monkeypatch: pytest.MonkeyPatch) -> None:
    def nameless() -> str:
        raise KeyError("uid")

    monkeypatch.delenv(team.USER, raising=False)
    monkeypatch.setattr(getpass, "getuser", nameless)
    assert team.user() == ""


@pytest.mark.parametrize("version", sorted(path.name for path in ARCHIVES.glob("schema-*")))
def test_a_folder_of_an_older_version_gets_its_facts(version: str, tmp_path: Path) -> None:
    store = tmp_path / "store"
    shutil.copytree(ARCHIVES / version, store)
    before = {path.name: path.read_bytes() for path in (store / "runs" / "kept").iterdir()}
    assert cli("runs", "upgrade", "--store", str(store)) == "kept\n"
    assert {path.name: path.read_bytes() for path in (store / "runs" / "kept").iterdir()} == before
    assert list((store / "worked-out" / "kept").glob("*.parquet"))
    assert kept_runs.upgrade(str(store)) == []
    assert kept_runs.listed(store=str(store))[0]["project"] == ""
