"""The tool that measures the stores gets an answer to every question of the library, from every store."""

from __future__ import annotations

import json

import pytest
from kernbench_graph.store import GraphStore

from kernbench.pgraph import topology_record
from tests.compiled import compiled
from tests.conformance.conftest import NewStore
from tests.conformance.generated_runs import LIBRARY
from tools import measure_store_task
from tools.made_up_run import made_up_run


def test_every_question_is_answered(
    new_store: NewStore, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    graph = compiled()
    machine = topology_record(graph)
    with new_store() as store:
        for number, seed in enumerate((2, 1)):
            run = made_up_run(graph, 10_000, seed, id=f"run{number}", started_at=f"2025-01-0{number + 1}")
            store.keep(run, machine)

        def opened(_: str) -> GraphStore:
            return store

        monkeypatch.setattr(measure_store_task, "open_store", opened)
        measure_store_task.ask_all("", "", 1, 0.0, 60.0)
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert sorted(row["name"] for row in rows) == sorted(LIBRARY)
    assert {row["name"]: row["said"] for row in rows if row["said"]} == {}
    behind = {row["name"]: row["rows"] for row in rows if row["name"].startswith(("causes/", "contention/"))}
    assert min(behind["causes/behind-transaction"], behind["contention/cone"]) > 10, behind
