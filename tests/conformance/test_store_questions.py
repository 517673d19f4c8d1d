"""Every question of the library, on every store, over generated runs, against numpy on the raw columns."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from graph.questions import ask, load_library
from graph.store import GraphStore, QueryError, RunRecord, TopologyRecord
from tests.conformance.conftest import NewStore
from tests.conformance.graph_records import runs, sample, table, topologies
from tests.conformance.question_oracle import ORACLES, least_weight

LIBRARY = load_library(Path(__file__).parents[2] / "queries")
FEW = settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
CHECKED_OTHERWISE = ("routing/path", "history/runs")


def _parameters(draw: Any, name: str, run: RunRecord, topology: TopologyRecord) -> dict[str, Any]:
    """Parameters that now and then select something."""
    kinds = ["", "dma_read", *topology.tables["Link"]["kind"].to_pylist(), "router", "no such"]
    components = topology.tables["Component"]["id"].to_pylist()
    values = {
        "kind": st.sampled_from(kinds),
        "limit": st.integers(1, 5),
        "min_ns": st.integers(0, 1000).map(float),
        "resource": st.sampled_from(["", *components]),
        "src": st.sampled_from(run.tables["Transaction"]["src"].to_pylist() or components),
        "dst": st.sampled_from(run.tables["Transaction"]["dst"].to_pylist() or components),
    }
    return {key: draw(values[key]) for key in LIBRARY[name].params}


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


@FEW
@given(data=st.data())
def test_paths_are_shortest(new_store: NewStore, data: st.DataObject) -> None:
    topology = data.draw(topologies())
    ends = st.sampled_from(topology.tables["Component"]["id"].to_pylist())
    rows = topology.tables["Link"].to_pylist()
    links = {row["id"]: row for row in rows}
    with new_store() as store:
        store.keep(RunRecord({"bench": "none"}, {}), topology)
        for traffic in ("PE_DMA", "MCPU_DMA", "HOST_MEMORY", "COMMAND"):
            src, dst = data.draw(ends), data.draw(ends)
            steps = ask(store, LIBRARY["routing/path"], src=src, dst=dst, traffic=traffic).dicts()
            least = least_weight(topology, src, dst, traffic)
            if src == dst or least is None:
                assert steps == []
                continue
            here = src
            for number, step in enumerate(steps, 1):
                link = links[step["link"]]
                assert (step["seq"], link["src"], link["dst"]) == (number, here, step["component"])
                assert (step["kind"], step["weight"]) == (link["kind"], link["routing_weight"])
                here = step["component"]
            assert here == dst
            assert (steps[0]["path_weight"], steps[0]["hops"]) == least
            assert (sum(step["weight"] for step in steps), len(steps)) == least


@pytest.mark.parametrize(
    ("src", "dst"), [((0, 0), (3, 4)), ((3, 4), (0, 0)), ((0, 4), (3, 0)), ((3, 0), (0, 4))]
)
def test_ties_in_a_mesh_go_x_first(store: GraphStore, src: tuple[int, int], dst: tuple[int, int]) -> None:
    store.keep(RunRecord({"bench": "none"}, {}), _mesh(5, 4))
    name = "r{}c{}".format
    answer = ask(store, LIBRARY["routing/path"], src=name(*src), dst=name(*dst)).dicts()
    step = 1 if dst[1] > src[1] else -1
    along = [name(src[0], col) for col in range(src[1] + step, dst[1] + step, step)]
    step = 1 if dst[0] > src[0] else -1
    down = [name(row, dst[1]) for row in range(src[0] + step, dst[0] + step, step)]
    assert [row["component"] for row in answer] == along + down


def _mesh(width: int, height: int) -> TopologyRecord:
    places = [(row, col) for row in range(height) for col in range(width)]
    components = [
        {
            "id": f"r{row}c{col}", "name": "", "kind": "router", "impl": "", "label": "Router", "sip": 0,
            "cube": 0, "pe": -1, "x_mm": 2.5 * col, "y_mm": 2.0 * row, "overhead_ns": 0.0, "attributes": "{}",
        }
        for row, col in places
    ]  # fmt: skip
    links = [
        {
            "id": f"r{a}c{b}->r{c}c{d}", "kind": "router_mesh", "src": f"r{a}c{b}", "dst": f"r{c}c{d}",
            "bw_gbs": 256.0, "distance_mm": 0.0, "routing_weight": 2.5 * abs(b - d) + 2.0 * abs(a - c),
        }
        for a, b in places
        for c, d in places
        if abs(a - c) + abs(b - d) == 1
    ]  # fmt: skip
    return TopologyRecord(
        "mesh", "mesh", "", {"Component": table("Component", components), "Link": table("Link", links)}
    )


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
        ask(store, path, src="a")
    with pytest.raises(QueryError, match=r"'traffic' is 'X', but must be one of \['PE_DMA'"):
        ask(store, path, src="a", dst="b", traffic="X")


@pytest.mark.parametrize("value", ["x' OR 1=1 //", "'}) DETACH DELETE r //", "`", "$limit", "\\"])
def test_hostile_values_select_nothing(store: GraphStore, value: str) -> None:
    store.keep(*sample(id="a"))
    assert ask(store, LIBRARY["bottleneck/busiest-links"], kind=value).rows == []
    assert ask(store, LIBRARY["history/runs"], bench=value).rows == []
    assert ask(store, LIBRARY["routing/path"], src=value, dst="hbm").rows == []
    assert len(ask(store, LIBRARY["history/runs"])) == 1
