"""The critical path as nodes and relationships, and parts of a run's graph."""

from __future__ import annotations

from collections.abc import Iterator
from math import fsum

import networkx as nx
import pytest

import kernbench as kb
from kernbench.analysis.path.path_table import path_tables
from kernbench.errors import UsageError
from kernbench.support.pgraph import GraphPath, QueryError, RunRecord, open_store
from tests.compiled import compiled

OF_RUN = "MATCH (:Run)-[:TOOK_TIME_IN]->(s:Step)"


@pytest.fixture(scope="module")
def run() -> Iterator[kb.Run]:
    with kb.open_store("memory:") as store:
        yield kb.run("qkv-gemm", compiled("minimal"), store=store, check=False)


@pytest.mark.parametrize("engine", ["arcadedb", "ladybug"])
def test_steps_can_be_asked_for_and_walked(run: kb.Run, engine: str) -> None:
    path = run.critical_path("run")
    steps = run.cypher("MATCH (:Run {id: $run})-[:TOOK_TIME_IN]->(s:Step) RETURN s.ns AS ns", engine=engine)
    assert fsum(row[0] for row in steps.rows) == pytest.approx(run.sim_ns)
    assert len(steps) == len(path.steps)
    text = f"{OF_RUN}-[:AFTER]->(b:Step) WHERE s.t_from = b.t_to RETURN count(s) AS n"
    assert run.cypher(text, engine=engine).rows == [(len(steps) - 1,)]
    text = f"{OF_RUN}-[:SPENT_AT]->(u:Use) WHERE s.resource = u.resource RETURN count(s) AS n"
    used = set(run.used["resource"])
    assert run.cypher(text, engine=engine).rows == [(sum(s.location in used for s in path.steps),)]
    text = f"{OF_RUN}-[:SPENT_IN]->(t:Transaction) RETURN sum(s.ns) AS ns"
    (row,) = run.cypher(text, engine=engine).rows
    assert row[0] == pytest.approx(fsum(s.ns for s in path.steps if s.transaction >= 0))


def test_a_step_of_an_operation_lies_within_its_time(run: kb.Run) -> None:
    rows = run.cypher("MATCH (s:Step)-[:SPENT_IN]->(o:Op) RETURN s.t_from, s.t_to, o.t_ready, o.t_end").rows
    assert len(rows) > 10
    for begin, end, ready, over in rows:
        assert ready - 1e-6 <= begin <= end <= over + 1e-6


def test_one_pattern_leads_back_along_the_path(run: kb.Run) -> None:
    text = "MATCH p = (s:Step)-[:AFTER*1..3]->(b:Step) WHERE s.number = 9 AND b.number = 6 RETURN p"
    result = run.cypher(text)
    ((path,),) = result.rows
    assert isinstance(path, GraphPath)
    assert [node["number"] for node in path.nodes] == [9, 8, 7, 6]
    assert [data["number"] for _, data in result.graph.nodes(data=True)] == [9, 8, 7, 6]
    assert {data["type"] for *_, data in result.graph.edges(data=True)} == {"AFTER"}
    assert "AFTER" in path._repr_html_()


def test_a_store_that_was_opened_without_what_works_them_out_says_so(run: kb.Run) -> None:
    with open_store("memory:") as store:
        store.keep(RunRecord(run.properties, run.tables), run.topology_record())
        with pytest.raises(
            QueryError, match=r"Step: KernBench works that out; open the store with kernbench"
        ):
            store.query("MATCH (s:Step) RETURN s", run=run.id)


def test_launches_of_steps(run: kb.Run) -> None:
    rows = path_tables(RunRecord(run.properties, run.tables))["Step"].to_pylist()
    (first, *_, last) = rows
    (launch,) = {launch["launch"] for launch in run.launches} if len(run.launches) == 1 else (None,)
    assert first["launch"] == -1
    inside = [r for r in rows if any(x["t_start"] <= r["t_from"] < x["t_done"] for x in run.launches)]
    assert {r["number"] for r in rows if r["launch"] >= 0} == {r["number"] for r in inside}
    assert launch is None or {r["launch"] for r in inside} == {launch}
    assert last["t_to"] == run.sim_ns


def test_a_part_of_the_graph(run: kb.Run) -> None:
    causes = run.subgraph("DEPENDS_ON")
    assert {label for label, _ in causes} == {"Op"}
    assert {data["type"] for *_, data in causes.edges(data=True)} == {"DEPENDS_ON"}
    assert causes.number_of_nodes() == run.tables["Op"].num_rows
    assert nx.is_directed_acyclic_graph(causes)
    between = run.subgraph("Op", "Tensor")
    assert {data["type"] for *_, data in between.edges(data=True)} == {
        "DEPENDS_ON", "PART_OF", "READ_FROM", "WROTE_TO",
    }  # fmt: skip
    whole = run.graph
    assert ("Step", 0) in whole
    assert ("Component", "host.cpu") in whole
    with pytest.raises(QueryError, match="'Opp' is not a label or relationship type; there are Topology"):
        run.subgraph("Opp")


def test_a_part_of_a_window_leads_nowhere_else(run: kb.Run) -> None:
    begin = run.launches[-1]["t_start"]
    part = run.subgraph(launch=0 if len(run.launches) == 1 else "all", from_ns=begin)
    assert all("labels" in data for _, data in part.nodes(data=True))
    assert {
        data["t_done"] >= begin for (label, _), data in part.nodes(data=True) if label == "Transaction"
    } == {True}
    assert 0 < part.number_of_nodes() < run.graph.number_of_nodes()
    with pytest.raises(UsageError, match=r"no launch '?99"):
        run.subgraph("Op", launch=99)
