"""Questions over many runs, on every store: what counts as a run of a bench, and what as slower."""

from __future__ import annotations

from typing import Any

import pytest
from kernbench_graph.errors import QueryError, RunNotFoundError
from kernbench_graph.records import TopologyRecord
from kernbench_graph.store import GraphStore

import kernbench as kb
from kernbench.api import asking
from kernbench.support import pgraph
from tests.conformance.graph_records import sample


def keep(
    store: GraphStore, id: str, ns: float, topology: str = "", machine_id: str = "", **info: Any
) -> None:
    """Keep a run whose one launch took ``ns``, and its upload the longer the shorter that was."""
    one = {"launch": 0, "kernel": "a", "pe_ns": ns, "pe_times": {}}
    launches = [{**one, "t_start": 1000.0 - ns, "t_done": 1000.0}]
    begun = f"2025-01-{10 + len(store.runs())}"
    run, machine = sample(**{"id": id, "sim_ns": 1000.0, "launches": launches, "started_at": begun} | info)
    if topology:
        machine = TopologyRecord(machine_id or f"id-{id}", topology, "spec: 2", machine.tables)
    store.keep(run, machine)


def asked(store: GraphStore, name: str, *columns: str, **params: Any) -> list[tuple[Any, ...]]:
    rows = kb.ask(f"history/{name}", store=store, params=params).dicts()
    return [tuple(row[column] for column in columns) for row in rows]


def test_a_run_is_compared_with_the_one_before_and_the_best(store: GraphStore) -> None:
    for id, ns in (("a", 100.0), ("b", 80.0), ("c", 100.0), ("d", 83.0), ("e", 90.0)):
        keep(store, id, ns)
    keep(store, "other", 500.0, params={"m": 2})
    shown = ("run", "before", "best", "change", "over_best")
    slower = [("c", "b", "b", 0.25, 0.25), ("e", "d", "b", 7 / 83, 0.125)]
    assert asked(store, "regressions", *shown) == slower
    assert asked(store, "regressions", "run", threshold=0.2) == [("c",)]
    everything = asked(store, "regressions", *shown, threshold=-1)
    assert [row[:3] for row in everything] == [
        ("b", "a", "a"),
        ("c", "b", "b"),
        ("d", "c", "b"),
        ("e", "d", "b"),
    ]
    assert everything[0][3:] == (-0.2, -0.2)
    with pytest.raises(QueryError, match="there is no bench 'none'"):
        asked(store, "regressions", "run", bench="none", threshold=-1)


def test_the_launches_count_and_the_whole_run_only_where_there_are_none(store: GraphStore) -> None:
    keep(store, "a", 100.0)
    keep(store, "b", 390.0)
    keep(store, "c", 0.0, params={"m": 2}, launches=[])
    keep(store, "d", 0.0, params={"m": 2}, launches=[], sim_ns=1500.0)
    shown = ("run", "latency_ns", "before_ns", "change")
    assert asked(store, "regressions", *shown) == [("b", 390.0, 100.0, 2.9), ("d", 1500.0, 1000.0, 0.5)]
    over = asked(store, "bench-over-time", "run", "latency_ns", "times_fastest", bench="gemm")
    assert over == [("a", 100.0, 1.0), ("b", 390.0, 3.9), ("c", 1000.0, 1.0), ("d", 1500.0, 1.5)]
    listed = asked(store, "runs", "run", "sim_ns", "latency_ns")
    assert (listed[0], listed[-1]) == (("d", 1500.0, None), ("a", 1000.0, 100.0))


def test_another_machine_of_the_same_name_is_another_line(store: GraphStore) -> None:
    keep(store, "usual", 100.0, topology="mine", machine_id="t1")
    keep(store, "slower-links", 200.0, topology="mine", machine_id="t2")
    keep(store, "renamed", 110.0, topology="mine-2", machine_id="t1")
    assert asked(store, "regressions", "run", "before", threshold=-1) == [("renamed", "usual")]
    over = asked(store, "bench-over-time", "run", "topology_id", "times_fastest", bench="gemm")
    assert over == [("usual", "t1", 1.0), ("slower-links", "t2", 1.0), ("renamed", "t1", 1.1)]


def test_parameters_that_are_runs_take_references(store: GraphStore) -> None:
    for id, ns in (("a", 100.0), ("b", 80.0)):
        keep(store, id, ns)
    question = pgraph.find_question(asking.library(), "history/slower-where")
    by_id = pgraph.ask(store, question, before="a", after="b").rows
    assert pgraph.ask(store, question).rows == by_id
    assert pgraph.ask(store, question, before="last~1", after="last").rows == by_id
    with pytest.raises(RunNotFoundError, match="'c'"):
        pgraph.ask(store, question, before="c")


def test_what_is_no_run_of_the_machine_is_left_out(store: GraphStore) -> None:
    keep(store, "good", 100.0)
    keep(store, "failed", 10.0, status="failed")
    keep(store, "wrong", 20.0, verified="no")
    keep(store, "if1", 30.0, topology="small.what-if", machine_id="if")
    keep(store, "if2", 60.0, topology="small.what-if", machine_id="if")
    keep(store, "late", 110.0)
    assert asked(store, "regressions", "run", "before", "best_ns") == [("late", "good", 100.0)]
    assert asked(store, "regressions", "run", "before", topology="small.what-if") == [("if2", "if1")]
    over = asked(store, "bench-over-time", "run", "times_fastest", bench="gemm")
    assert over == [("good", 1.0), ("late", pytest.approx(1.1))]
    over = asked(store, "bench-over-time", "run", "times_fastest", bench="gemm", topology="small.what-if")
    assert over == [("if1", 1.0), ("if2", 2.0)]
    best = asked(store, "best-of-sweep", "topology", "topology_id", "runs", "best_ns", bench="gemm", tag="")
    assert best == [
        ("small.what-if", "if", 2, 30.0),
        ("small", "0123456789abcdef", 2, 100.0),
    ]
    assert len(asked(store, "runs", "run")) == 6


def test_an_empty_store_has_no_history(store: GraphStore) -> None:
    for name in ("runs", "regressions"):
        assert asked(store, name, "run") == []
    for name in ("bench-over-time", "best-of-sweep"):
        with pytest.raises(QueryError, match="there is no bench 'gemm'"):
            asked(store, name, bench="gemm")
