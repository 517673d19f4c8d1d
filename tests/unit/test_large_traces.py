"""What is said of large traces: as one grows, and before a graph of many hops is built."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import pytest
from kernbench_graph.stores.embedded import run_graphs

import kernbench as kb
from kernbench.api import recording
from kernbench.api.recording import Recording
from kernbench.api.stores import open_store
from kernbench.engine.run_options import RunOptions

HOPS = "MATCH (:Run {id: $run})-[:SENT]->(:Transaction)-[h:HOP]->(:Use) RETURN count(h) AS n"


@pytest.mark.slow
def test_answers_about_the_simulated_part_alone_say_so(tmp_path: Path) -> None:
    given = {"layers": 5, "resident": True, "kv": 64}
    run = kb.run("llama-decoder", store=tmp_path, topology="minimal", params=given)
    assert run.accounted
    asked: dict[str, dict[str, Any]] = {
        "contention/waits-by-resource": {},
        "kernel/pe-time": {},
        "bottleneck/busiest-links": {"from_ns": 10.0},
    }
    for question, window in asked.items():
        assert kb.ask(question, run.id, tmp_path, **window).notes == run.accounted[:1], question
    for question in ("bottleneck/busiest-links", "critical-path/by-cause"):
        assert kb.ask(question, run.id, tmp_path).notes == []
    assert kb.ask_cypher(HOPS, run.id, tmp_path).notes == run.accounted[:1]
    assert kb.ask_cypher("MATCH (l:Launch) RETURN count(l) AS n", run.id, tmp_path).notes == []
    whole = kb.run("llama-decoder", store=tmp_path, topology="minimal", params=given | {"resident": False})
    assert kb.ask("contention/waits-by-resource", whole.id, tmp_path).notes == []


def test_a_trace_that_grows_large_is_announced_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recording, "LARGE_TRACE", -1)
    seen: list[tuple[float, int]] = []
    watched = Recording("memory:", RunOptions()).watched(lambda ns, events: seen.append((ns, events)))
    assert watched is not None
    with pytest.warns(RuntimeWarning, match="--no-trace"):
        watched(1.0, 10)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        watched(2.0, 20)
    assert seen == [(1.0, 10), (2.0, 20)]


def test_what_a_large_graph_has_is_said_before_it_is_built(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = kb.run("gemm-single-pe", store=tmp_path, topology="minimal")
    hops = run.tables["Hop"].num_rows
    with open_store(tmp_path) as store:
        said: list[str] = []
        store.announce = said.append
        store.query(HOPS, run=run.id)
        assert not said
    monkeypatch.setattr(run_graphs, "_SAID_FROM", 1)
    monkeypatch.setattr(run_graphs, "_COST", dict.fromkeys(run_graphs._COST, (2.0, 5.0)))
    again = kb.run("gemm-single-pe", store=tmp_path, topology="minimal")
    with open_store(tmp_path) as store:
        store.announce = said.append
        assert store.query(HOPS, run=again.id).rows == [(hops,)]
        assert len(said) == 1
        assert f"{hops:,} HOP" in said[0]
        store.query(HOPS, run=again.id)
        kb.ask("bottleneck/busiest-links", again.id, store)
        assert len(said) == 2
        assert "HOP" not in said[1]
