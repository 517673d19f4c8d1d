"""How much of a run is pushed to a server, and what is said of the rest."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from kernbench_graph.archive.canonical import canonical_tables
from kernbench_graph.errors import QueryError, StoreError
from kernbench_graph.opening import open_store
from kernbench_graph.query.guard import words
from kernbench_graph.query.library import ask
from kernbench_graph.records import RunRecord
from kernbench_graph.schema import SCHEMA
from kernbench_graph.store import GraphStore
from kernbench_graph.stores.neo4j.detail import DETAILS, kept_names, least_detail, left_out

import kernbench as kb
from tests.conformance.generated_runs import LIBRARY
from tests.conformance.graph_records import made_here, sample
from tests.conftest import Ended
from tests.neo4j_server import Running, seen
from tests.small_machines import TWO_PES

NAMES = [label.name for label in SCHEMA.labels] + [rel.type for rel in SCHEMA.relationships]
COUNT = "MATCH (:Run {id: $run})-[:SENT]->(t:Transaction) RETURN count(t) AS n"


def test_every_name_of_the_schema_has_a_least_detail() -> None:
    for name in NAMES:
        assert [name in kept_names(detail) for detail in DETAILS] == sorted(
            name in kept_names(detail) for detail in DETAILS
        )
    assert left_out("full") == frozenset()
    assert left_out("operations") == {"HOP"}
    assert {"Run", "Use", "OF", "Launch", "Tensor", "PLACED_IN", "RAN_ON"} <= kept_names("summary")
    assert {"Op", "Transaction", "Route", "VIA", "WAITED_FOR", "DID"} <= left_out("summary")
    assert (least_detail("USED"), least_detail("Op"), least_detail("HOP")) == DETAILS


@pytest.fixture
def levels(neo4j_url: str) -> Iterator[GraphStore]:
    """A run at each detail, called by it."""
    with open_store(neo4j_url) as store:
        for detail in DETAILS:
            store.keep(*sample(id=detail), detail)
        yield store


def test_the_graph_has_what_was_asked_for_and_the_record_all(
    levels: GraphStore, neo4j_server: Running
) -> None:
    nodes = "MATCH (n) WHERE n.id STARTS WITH ($run + '/') RETURN DISTINCT labels(n)[0] AS l"
    every = {row[0] for row in seen(neo4j_server, nodes, run="full")}
    assert {"Use", "Launch", "Op", "Tensor", "Transaction", "Route"} <= every
    for detail in DETAILS:
        found = {row[0] for row in seen(neo4j_server, nodes, run=detail)}
        assert found == every & kept_names(detail)
        assert dict(levels.load(detail).tables) == canonical_tables("run", sample()[0].tables, "run")
    assert levels.query(COUNT, run="operations").rows == [(2,)]
    used = "MATCH (r:Run)-[:USED]->(u:Use)-[:OF]->(l:Link) RETURN r.id AS id, count(l) AS n"
    assert sorted(levels.query(used).rows) == sorted((detail, 3) for detail in DETAILS)


def test_what_was_not_pushed_is_refused_and_never_silently_missing(levels: GraphStore) -> None:
    with pytest.raises(
        QueryError, match="run 'summary' was pushed with --detail summary, without Transaction"
    ):
        levels.query(COUNT, run="summary")
    hops = "MATCH (:Run {id: $run})-[:SENT]->()-[h:HOP]->() RETURN count(h) AS n"
    with pytest.raises(QueryError, match=r"'operations' .* without HOP; push it with --detail full"):
        levels.query(hops, run="operations")
    both = "MATCH (a:Run {id: $run}), (:Run {id: $b})-[:SENT]->(t) RETURN count(t) AS n"
    with pytest.raises(QueryError, match="run 'summary' was pushed with --detail summary"):
        levels.query(both, {"b": "summary"}, run="full")
    untyped = "MATCH (:Run {id: $run})-[:USED]->(:Use)<--(x) RETURN count(x) AS n"
    assert levels.query(untyped, run="full").notes == []
    assert levels.query(untyped, run="operations").notes == [
        "run 'operations' was pushed with --detail operations: the graph has no more of it"
    ]


def test_questions_are_answered_alike_or_refused(neo4j_url: str) -> None:
    """Those of the library that need no more than was pushed have the same answer at each detail."""
    with kb.open_store("memory:") as source, kb.open_store(neo4j_url) as store:
        run = kb.run("gemm-single-pe", kb.load_topology("minimal", TWO_PES), store=source)
        record, topology = source.load(run.id), source.load_topology(run.info["topology_id"])
        for detail in DETAILS:
            store.keep(RunRecord({**record.info, "id": detail}, record.tables), topology, detail)
        ask_all(store)


def ask_all(levels: GraphStore) -> None:
    """Ask every question that needs no parameter of runs that are called by their detail."""
    answered = dict.fromkeys(DETAILS, 0)
    for question in LIBRARY.values():
        if question.scope == "history" or any(p.default is None for p in question.params.values()):
            continue
        given = {"launch": "run"} if "launch" in question.params else {}
        rows = {}
        for detail in DETAILS:
            lacking = set(words(question.text("neo4j"))) & left_out(detail)
            if lacking:
                with pytest.raises(QueryError, match=f"was pushed with --detail {detail}, without"):
                    kb.ask(question.name, detail, levels, given)
                continue
            # Sums are added up in any order.
            rows[detail] = [
                tuple(round(value, 6) if isinstance(value, float) else value for value in row)
                for row in kb.ask(question.name, detail, levels, given).rows
            ]
            answered[detail] += 1
        assert rows["full"] == rows.get("operations", rows["full"]) == rows.get("summary", rows["full"])
    assert 4 < answered["summary"] < answered["operations"] <= answered["full"]
    assert ask(levels, LIBRARY["history/runs"]).rows


def test_a_run_is_not_pushed_in_more_detail_over_the_old(levels: GraphStore) -> None:
    with pytest.raises(StoreError, match="'summary' is in the store with --detail summary; remove it there"):
        levels.keep(*sample(id="summary"), "full")
    with pytest.raises(StoreError, match="knows no detail 'all'; use summary or operations or full"):
        levels.keep(*sample(id="other"), "all")
    assert len(levels.runs()) == 3


def test_from_the_command_line(neo4j_url: str, cli: Callable[..., Ended]) -> None:
    run = ("run", "--bench", "gemm-single-pe", "--topology", "minimal")
    assert cli(*run, "--store", "here").status == 0
    assert cli("runs", "export", "--store", "here", "--to", neo4j_url, "--detail", "operations").status == 0
    asked = cli("query", "busiest-links", "--store", neo4j_url)
    assert asked.status == 0, asked.err
    refused = cli("query", "uses-link", "resource=x", "--store", neo4j_url)
    assert refused.status != 0
    ended = cli(*run, "--store", "here", "--detail", "summary")
    assert ended.status == 2
    assert "--detail summary is not for store 'here'; use full, or a server" in ended.err
    assert os.path.isdir("here")


TEXTS = (
    "MATCH (:Run {id: $run})-[:TOOK_TIME_IN]->(s:Step) RETURN count(s) AS n",
    "MATCH (:Run {id: $run})-[:IN_WINDOW]->(w:Window) RETURN count(w) AS n",
)


def test_a_run_that_was_pushed_without_what_is_worked_out_says_so(
    neo4j_url: str, neo4j_server: Running
) -> None:
    """Where something works it out now: then every other store has it."""
    anything = "MATCH (:Run {id: $run})-->(x) RETURN count(x) AS n"
    with open_store(neo4j_url) as store:
        store.keep(*sample(id="older"))
        for text in TEXTS:  # nothing here could work it out
            with pytest.raises(QueryError, match="KernBench works that out"):
                store.query(text, run="older")
        store.computed = made_here(store)
        for text, name in zip(TEXTS, ("Step", "Window"), strict=True):
            with pytest.raises(QueryError, match=rf"'older' was pushed without {name} .*runs upgrade"):
                store.query(text, run="older")
        assert "'older' was pushed without what this version" in store.query(anything, run="older").notes[0]
        store.keep(*sample(id="newer"))
        found = [store.query(text, run="newer").rows for text in TEXTS]
        assert found[0] == [(2,)]
        assert found[1][0][0] > 0
        assert store.query(anything, run="newer").notes == []
        both = f"MATCH (:Run {{id: $b}}) {TEXTS[0]}"
        with pytest.raises(QueryError, match="'older' was pushed without Step"):  # named by another parameter
            store.query(both, {"b": "older"}, run="newer")
        seen(neo4j_server, "MATCH (k:KernbenchRun {id: 'newer'}) SET k.facts = 1")
        with pytest.raises(QueryError, match="'newer' was pushed without Window as this version"):
            store.query(TEXTS[1], run="newer")


def test_a_run_that_has_nothing_to_work_out_has_no_rows_of_it(neo4j_url: str, tmp_path: Path) -> None:
    """It was pushed whole: nothing is refused, and every store says the same."""
    run, topology = sample(id="idle")
    idle = RunRecord(run.info, {name: table.slice(0, 0) for name, table in run.tables.items()})
    found = []
    for url in (neo4j_url, str(tmp_path / "store"), "memory:"):
        with open_store(url) as store:
            store.computed = made_here(store)
            store.keep(idle, topology)
            found.append([store.query(text, run="idle").rows for text in TEXTS])
    assert found == [found[0]] * 3
    assert found[0][0] == [(0,)]
