"""Every question of the library, on every store, over generated runs, against numpy on the raw columns."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from graph.questions import ask, load_library
from graph.store import GraphStore, QueryError, RunRecord, TopologyRecord
from tests.conformance.conftest import NewStore
from tests.conformance.graph_records import runs, sample, topologies
from tests.conformance.question_oracle import ORACLES

LIBRARY = load_library(Path(__file__).parents[2] / "queries")
FEW = settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture])
CHECKED_OTHERWISE = (
    *("routing/path", "routing/distances", "routing/within", "routing/shared-links", "routing/loss"),
    *("routing/single-points", "history/runs", "history/bench-over-time", "history/best-of-sweep"),
    "history/slower-where",
)
"""By test_store_routes and test_store_history: what they need is more than one generated run."""


def _parameters(draw: Any, name: str, run: RunRecord, topology: TopologyRecord) -> dict[str, Any]:
    """Parameters that now and then select something."""
    kinds = ["", "dma_read", *topology.tables["Link"]["kind"].to_pylist(), "router", "no such"]
    components = topology.tables["Component"]["id"].to_pylist()
    places = sorted({*run.tables["Hop"]["resource"].to_pylist(), components[0]})
    if name in ("bottleneck/queue-depth", "contention/met-on-link", "routing/uses-link"):
        return {key: draw(_PLACED[key](places)) for key in LIBRARY[name].params}
    values = {
        "transaction": st.integers(0, 8),
        "steps": st.integers(1, 4),
        "kind": st.sampled_from(kinds),
        "limit": st.integers(1, 5),
        "min_ns": st.integers(0, 1000).map(float),
        "resource": st.sampled_from(["", *components]),
        "src": st.sampled_from(run.tables["Transaction"]["src"].to_pylist() or components),
        "dst": st.sampled_from(run.tables["Transaction"]["dst"].to_pylist() or components),
    }
    return {key: draw(values[key]) for key in LIBRARY[name].params}


_PLACED: dict[str, Callable[[list[str]], st.SearchStrategy[Any]]] = {
    "resource": st.sampled_from,
    "start_ns": lambda _: st.integers(0, 40).map(float),
    "interval_ns": lambda _: st.sampled_from([0.25, 64.0, 512.0]),
    "intervals": lambda _: st.integers(1, 30),
    "from_ns": lambda _: st.integers(0, 1000).map(float),
    "limit": lambda _: st.integers(1, 5),
}


def test_every_question_is_checked() -> None:
    assert sorted([*ORACLES, *CHECKED_OTHERWISE]) == sorted(LIBRARY)


@FEW
@given(data=st.data())
def test_answers_are_those_of_the_raw_columns(new_store: NewStore, data: st.DataObject) -> None:
    topology = data.draw(topologies())
    run = data.draw(runs(topology))
    with new_store() as store:
        store.keep(run, topology)
        for name, oracle in ORACLES.items():
            params = _parameters(data.draw, name, run, topology)
            assert ask(store, LIBRARY[name], **params).rows == oracle(run, topology, params), name


def test_history_lists_runs_newest_first(store: GraphStore) -> None:
    for day, bench in ((1, "gemm"), (3, "copy"), (2, "gemm")):
        store.keep(*sample(id=f"run{day}", bench=bench, started_at=f"2025-01-0{day}", tags=["x"], hops=12))
    rows = ask(store, LIBRARY["history/runs"]).rows
    assert [row[0] for row in rows] == ["run3", "run2", "run1"]
    assert rows[0] == ("run3", "copy", "small", "2025-01-03", "ok", 7.0, 0.0, "not asked", 12, '["x"]')
    assert [row[0] for row in ask(store, LIBRARY["history/runs"], bench="gemm", limit=1).rows] == ["run2"]


def test_a_run_is_named_or_the_last(store: GraphStore) -> None:
    for name, count in (("one", 2), ("two", 1)):
        run, topology = sample(id=name)
        tables = {"Transaction": run.tables["Transaction"].slice(0, count), "Op": run.tables["Op"]}
        store.keep(RunRecord(run.info, tables), topology)
    question = LIBRARY["bottleneck/transactions-by-kind"]
    asked = [ask(store, question, run=run).rows[0][1] for run in (None, "last", "one", "last~1", "tw")]
    assert asked == [1, 1, 2, 2, 1]


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"limmit": 3}, r"unknown parameter 'limmit': .* takes kind: string = '', limit: int = 20"),
        ({"limit": "three"}, "must be of type int"),
        ({"limit": "3; MATCH (n) DETACH DELETE n"}, "must be of type int"),
        ({"limit": 2.5}, "must be of type int"),
        ({"limit": True}, "must be of type int"),
        ({"kind": 3}, "must be of type string"),
    ],
)
def test_parameters_are_typed(store: GraphStore, params: dict[str, Any], message: str) -> None:
    store.keep(*sample())
    with pytest.raises(QueryError, match=message):
        ask(store, LIBRARY["bottleneck/busiest-links"], **params)


def test_a_missing_parameter_and_a_wrong_choice_are_explained(store: GraphStore) -> None:
    path = LIBRARY["routing/path"]
    with pytest.raises(QueryError, match=r"parameter 'dst' is missing: .* takes src: string, dst: string"):
        ask(store, path, src="a", route=[])
    with pytest.raises(QueryError, match=r"'traffic' is 'X', but must be one of \['PE_DMA'"):
        ask(store, path, src="a", dst="b", traffic="X", route=[])


@pytest.mark.parametrize("value", ["x' OR 1=1 //", "'}) DETACH DELETE r //", "`", "$limit", "\\"])
def test_hostile_values_select_nothing(store: GraphStore, value: str) -> None:
    store.keep(*sample(id="a"))
    assert ask(store, LIBRARY["bottleneck/busiest-links"], kind=value).rows == []
    assert ask(store, LIBRARY["history/runs"], bench=value).rows == []
    assert ask(store, LIBRARY["contention/who-waited-for-whom"], resource=value).rows == []
    assert len(ask(store, LIBRARY["history/runs"])) == 1
