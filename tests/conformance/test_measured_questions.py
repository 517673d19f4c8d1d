"""The tool that measures the stores: every question of the library gets an answer, from every store."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from kernbench_graph.opening import open_store
from kernbench_graph.store import GraphStore

from kernbench.support.pgraph import topology_record
from tests.compiled import compiled
from tests.conformance.conftest import NewStore
from tests.conformance.generated_runs import LIBRARY, expected
from tools import measure_first, measure_store, measure_store_task
from tools.made_up_run import made_up_run
from tools.measure_store_page import first_rows, page


@pytest.mark.slow
def test_every_question_is_answered(
    new_store: NewStore, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    graph = compiled()
    machine = topology_record(graph)
    with new_store() as store:
        for number, seed in enumerate((2, 1)):
            run = made_up_run(graph, 3_000, seed, id=f"run{number}", started_at=f"2025-01-0{number + 1}")
            store.keep(run, machine)
        expected(store, "last", (name for name, question in LIBRARY.items() if question.scope != "history"))

        def opened(_: str) -> GraphStore:
            return store

        monkeypatch.setattr(measure_store_task, "open_store", opened)
        measure_store_task.ask_all("", "", 1, 0.0, 60.0)
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert sorted(row["name"] for row in rows) == sorted(LIBRARY)
    assert {row["name"]: row["said"] for row in rows if row["said"]} == {}
    behind = {row["name"]: row["rows"] for row in rows if row["name"].startswith(("causes/", "contention/"))}
    assert min(behind["causes/behind-transaction"], behind["contention/cone"]) > 10, behind


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="memory is measured by Linux's /proc")
def test_other_runs_of_the_same_machine_lie_beside_the_large_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def task(*arguments: object) -> list[Any]:
        """What a fresh process would report."""
        measure_store_task.main(*map(str, arguments))
        return [json.loads(line) for line in capsys.readouterr().out.splitlines() if line.startswith("{")]

    assert measure_store.BESIDE == 20
    monkeypatch.setattr(measure_store, "BESIDE", 2)
    monkeypatch.setattr(measure_store, "HOPS_OF_MANY", 2_000)
    monkeypatch.setattr(measure_store, "task", task)
    monkeypatch.setattr(measure_store_task, "SIMULATED", "gemm-single-pe")
    found = measure_store.Measured("embedded")
    measure_store.fill(found, str(tmp_path), 5_000)
    with open_store(str(tmp_path)) as store:
        runs = {str(run["id"]): run for run in store.runs()}
    assert list(runs) == ["run0", "beside00", "beside01", "run1"]
    assert len({run["topology"] for run in runs.values()}) == 1
    assert len({run["seed"] for run in runs.values() if run["bench"] == "made-up"}) == 3
    history = {"runs": 1, "used": 1, "whole_s": 1.0, "grown_s": 1.0, "again_s": 1.0}
    text = page([found], history, 5, 15.0, False, 1.0)
    assert "and\n2 runs of about 2,000 hops, made up with other seeds, all of the same machine." in text


@pytest.mark.slow
def test_every_question_is_asked_as_the_first_about_a_run(tmp_path: Path) -> None:
    found = measure_first.measured(str(tmp_path), "gemm-single-pe")
    assert sorted(found["s"]) == sorted(LIBRARY)
    assert found["hops"] > 0
    (row,) = [line for line in first_rows([found]) if line.startswith("| gemm-single-pe |")]
    assert f" of {len(LIBRARY)} | " in row


def test_stores_are_measured_as_users_open_them() -> None:
    """Opened by the graph package alone, a store works nothing out: questions about windows find no rows."""
    with measure_store_task.open_store("memory:") as store:
        assert store.computed is not None
