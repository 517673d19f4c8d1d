"""Waits as things of their own: they add up to what each use waited, and so do the sums kept for windows."""

from __future__ import annotations

from collections import defaultdict
from functools import cache
from typing import Any

import numpy as np
import pytest
from kernbench_graph.records import RunRecord

import kernbench as kb
from kernbench.analysis.use.waits import wait_tables, waited_tables
from kernbench.analysis.windows import window_facts
from kernbench.analysis.windows.place_groups import pieces
from kernbench.analysis.windows.window_facts import window_tables
from kernbench.api.stores import open_store

RUNS: dict[str, tuple[str, dict[str, Any]]] = {
    "cache": ("softmax", {"topology": "h100"}),
    "rows": ("gemm-multi-pe", {"topo": {"cube.hbm.dram.timing": "hbm3_6400"}}),
    "credits": ("gemm-multi-pe", {"topo": {"links.router_mesh.buffer_flits": 1, "routing.answers": "own"}}),
    "tiles": ("matmul-composite", {"topology": "minimal"}),
    "queues": ("ipcq-allreduce", {"topology": "minimal"}),
    "packages": ("llama-decoder", {"topology": "minimal", "params": {"layers": 1}}),
}


@cache
def record(name: str) -> RunRecord:
    """The record of one of the runs."""
    bench, given = RUNS[name]
    with open_store("memory:") as store:
        run = kb.run(bench, store=store, **given)
        found = store.load(run.id)
        return RunRecord(found.info, {table: found.tables[table] for table in found.tables})


def check_sums(run: RunRecord) -> float:
    """Waits at each place must add up to what its use says; returns the sum over all places, ns."""
    at: dict[str, float] = defaultdict(float)
    for wait in wait_tables(run)["Wait"].to_pylist():
        assert (wait["txn"] >= 0) != (wait["op"] >= 0)
        for place in {wait["place"], wait["part"]} - {""}:
            at[place] += wait["ns"]
    used = {one["resource"]: one["wait_ns"] for one in run.tables["Use"].to_pylist()}
    assert at.keys() <= used.keys()
    for resource, wait_ns in used.items():
        assert at[resource] == pytest.approx(wait_ns, abs=1e-6), resource
    return sum(at.values())


@pytest.mark.daily(but=("credits", "rows"))
@pytest.mark.parametrize("name", RUNS)
def test_waits_at_each_place_are_its_waiting_time(name: str) -> None:
    assert check_sums(record(name)) > 0.0


@pytest.mark.parametrize("name", RUNS)
def test_sums_of_waits_by_window_are_sums_over_them(name: str) -> None:
    run = record(name)
    waits = wait_tables(run)["Wait"].to_pylist()
    spans = window_tables(run)["Span"].to_pylist()
    expected: dict[tuple[str, str], list[dict[str, Any]]] = defaultdict(list)
    for span in spans:
        for wait in waits:
            since = wait["t_from"] >= span["t_from"] or span["t_from"] == 0.0
            if since and (wait["t_from"] < span["t_to"] or span["t_to"] == run.info["sim_ns"]):
                for place in {wait["place"], wait["part"]} - {""}:
                    expected[span["window"], place].append(wait)
    found = {(one["window"], one["resource"]): one for one in waited_tables(run)["Waited"].to_pylist()}
    assert found.keys() == expected.keys()
    for key, some in expected.items():
        assert found[key]["waits"] == len(some)
        assert found[key]["waiters"] == len({(wait["txn"], wait["op"]) for wait in some})
        assert found[key]["wait_ns"] == pytest.approx(sum(wait["ns"] for wait in some))
        assert found[key]["worst_ns"] == max(wait["ns"] for wait in some)


@pytest.mark.parametrize("name", RUNS)
def test_use_by_window_is_the_same_in_pieces(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    run = record(name)
    whole = window_tables(run)["Touched"]
    most = run.tables["Hop"].num_rows // 7
    assert len(list(pieces(run.tables, most))) > 1
    monkeypatch.setattr(window_facts, "pieces", lambda tables: pieces(tables, most))
    again = window_tables(run)["Touched"]
    assert again.column_names == whole.column_names
    for column in whole.column_names:
        if whole[column].type == "string":
            assert again[column].to_pylist() == whole[column].to_pylist()
        else:
            assert np.allclose(again[column].to_numpy(), whole[column].to_numpy(), rtol=1e-9, atol=1e-9)


def test_pieces_have_each_place_once() -> None:
    run = record("queues")
    for table in ("Hop", "Use", "Op"):
        rows = np.concatenate([rows[table] for _, rows in pieces(run.tables, 100)])
        named = len(rows) if table == "Op" else run.tables[table].num_rows
        assert len(set(rows.tolist())) == len(rows) == named
