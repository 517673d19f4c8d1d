"""A text that names its window has the graph of that window alone, where a run has many."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from kernbench_graph import worked_out
from kernbench_graph.query.looked_at import looked_at
from kernbench_graph.query.windows import anchored, covers, joined, plain
from kernbench_graph.stores.embedded import run_graphs

import kernbench as kb
from kernbench.api.stores import open_store

TOUCHED = "MATCH (:Run {id: $run})-[:IN_WINDOW]->(w:Window {name: $launch})-[d:TOUCHED]->(u:Use) "
ANCHORED: dict[str, str] = {
    f"{TOUCHED}RETURN sum(d.bytes) AS n": "TOUCHED=all",
    "MATCH (u:Use)<-[d:TOUCHED]-(:Window {name: 'setup'}) RETURN u": "TOUCHED=setup",
    f"{TOUCHED}MATCH (:Window {{name: $b}})-[e:TOUCHED]->(u) RETURN u": "TOUCHED=all TOUCHED=7",
    f"{TOUCHED}WHERE EXISTS {{ (:Window {{name: $b}})-[:WAITED_AT]->(u) }} RETURN u": (
        "TOUCHED=all WAITED_AT=7"
    ),
    "MATCH (w:Window {name: $odd})-[:TOUCHED|WAITED_AT]->(u) RETURN u": "TOUCHED= WAITED_AT=",
}
NOT_ANCHORED = (
    "MATCH (w:Window)-[d:TOUCHED]->(u:Use) RETURN sum(d.bytes) AS n",
    "MATCH (w:Window {number: $b})-[d:TOUCHED]->(u:Use) RETURN sum(d.bytes) AS n",
    "MATCH (w:Window {name: $launch})-[d:TOUCHED]-(u:Use) RETURN sum(d.bytes) AS n",
    f"{TOUCHED}MATCH (v:Window)-[:TOUCHED]->(u) RETURN v",
    f"{TOUCHED}MATCH (u)<-[x]-(v) RETURN v",
    "MATCH (w:Window {name: $launch})-[d:TOUCHED|SPANS]->(u) RETURN u",
    "MATCH (w:Window {name: $number})-[d:TOUCHED]->(u:Use) RETURN u",
    "MATCH (w:Window {name: 'al' + 'l'})-[d:TOUCHED]->(u:Use) RETURN u",
    "MATCH (w:Window {name: 'al\\u006c'})-[d:TOUCHED]->(u:Use) RETURN u",
)
PARAMS: Mapping[str, Any] = {"launch": "all", "b": "7", "odd": "all x", "number": 7}


@pytest.mark.parametrize("text", ANCHORED)
def test_windows_are_those_that_the_text_names(text: str) -> None:
    found = anchored(text, looked_at(text), PARAMS)
    assert {name for name in found if "=" in name} == set(ANCHORED[text].split())
    assert plain(found) == looked_at(text)


@pytest.mark.parametrize("text", NOT_ANCHORED)
def test_a_text_that_may_reach_other_windows_has_all(text: str) -> None:
    assert anchored(text, looked_at(text), PARAMS) == looked_at(text)


def test_all_windows_cover_each_of_them() -> None:
    assert covers({"TOUCHED", "Use"}, {"TOUCHED=all"})
    assert covers({"TOUCHED=all", "TOUCHED=3"}, {"TOUCHED=3"})
    assert not covers({"TOUCHED=all"}, {"TOUCHED"})
    assert not covers({"TOUCHED=all"}, {"TOUCHED=3"})
    assert joined({"TOUCHED=all"}, {"TOUCHED", "Use"}) == {"TOUCHED", "Use"}


def rows_of(store: kb.GraphStore, run: str, engine: str) -> list[Any]:
    """The use within several windows, and then within all of them, in this order and asked again."""
    each = [{"launch": name} for name in ("all", "run", "0", "setup", "run")]
    text = f"{TOUCHED}RETURN u.resource AS at, d.bytes AS b, d.busy_ns AS ns ORDER BY at, b, ns"
    every = "MATCH (w:Window)-[d:TOUCHED]->(u:Use) RETURN w.name AS n, u.resource AS at, d.bytes AS b "
    every += "ORDER BY n, at, b"
    found = [store.query(text, window, run, engine=engine).rows for window in each]
    found.append(store.query(every, {}, run, engine=engine).rows)
    return [*found, store.query(text, each[2], run, engine=engine).rows]


def test_rows_are_the_same_as_those_of_the_whole_graph(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worked_out, "_PIECE", 16)
    run = kb.run("gemm-single-pe", store=tmp_path, topology="minimal").id
    with open_store(tmp_path) as store:
        whole = {engine: rows_of(store, run, engine) for engine in store.engines}
    again = kb.run("gemm-single-pe", store=tmp_path, topology="minimal").id
    monkeypatch.setattr(run_graphs, "_SAID_FROM", 1)
    with open_store(tmp_path) as store:
        for engine in store.engines:
            assert rows_of(store, again, engine) == whole[engine]
            assert len({len(rows) for rows in whole[engine]}) > 2


def test_a_window_reads_no_more_of_a_file_than_its_pieces(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worked_out, "_PIECE", 10)
    beside = worked_out.Beside(tmp_path, "content")
    names = [str(n // 10) for n in range(50)]
    table = pa.table({
        "window": names, "resource": names,
        **{name: pa.array(range(50), pa.int64()) for name in ("waits", "waiters")},
        **{name: pa.array([1.0] * 50) for name in ("wait_ns", "worst_ns")},
    })  # fmt: skip
    beside.write("Waited", worked_out.canonical_table("Waited", table, "it"))
    found = beside.read("Waited", {"1", "4"})
    assert found is not None
    assert set(found["window"].to_pylist()) == {"1", "4"}
