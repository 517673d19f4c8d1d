"""The plan of a query instead of its rows, on every store and engine."""

from __future__ import annotations

import re

import pytest
from kernbench_graph.errors import QueryError
from kernbench_graph.store import GraphStore

from tests.conformance.graph_records import sample

TEXTS = [
    "MATCH (:Run {id: $run})-[:SENT]->(t:Transaction)-[h:HOP]->(u:Use) WHERE h.wait_ns > 1.0 "
    "RETURN u.resource AS r, count(h) AS n ORDER BY n DESC LIMIT 3",
    "MATCH (r:Run {id: $run}) MATCH (r)-[:SENT]->(t:Transaction) WHERE t.kind = $kind RETURN t.id AS id;",
    "MATCH (r:Run {id: $run}) OPTIONAL MATCH (r)-[:LAUNCHED]->(l:Launch) RETURN r.id, l.kernel",
    "MATCH (r:Run {id: $run})-[:SENT]->(t:Transaction) WITH t ORDER BY t.number LIMIT 3 RETURN t.id AS id",
    "RETURN 1 AS one",
]
SLOW = """UNWIND range(1, 4000) AS a UNWIND range(1, 4000) AS b UNWIND range(1, 4000) AS c
          WITH a, b, c WHERE (a * b) % 7 = c % 5 RETURN sum(a % 3) AS n"""


@pytest.fixture
def filled(store: GraphStore) -> GraphStore:
    store.keep(*sample(id="a"))
    return store


SERVERS = ["depth", "operator", "details", "estimated_rows"]


def test_a_plan_is_what_the_engine_says(filled: GraphStore) -> None:
    for engine in filled.engines:
        for text in TEXTS:
            found = filled.query(f"EXPLAIN {text}", {"kind": "x"}, "a", engine=engine)
            assert found.columns == (SERVERS if engine == "neo4j" else ["plan"])
            shown = " ".join(str(value) for row in found.rows for value in row)
            assert len(found) >= 2, (engine, text)
            if "HOP" in text:
                assert "HOP" in shown or "[h]" in shown, (engine, text)
            if "ORDER BY" in text:
                assert re.search("order|sort|top", shown, re.IGNORECASE), (engine, text, shown)


def test_all_runs_have_plans_too(filled: GraphStore) -> None:
    for engine in filled.engines:
        text = "explain // how\n MATCH (r:Run)-[:RAN_ON]->(t:Topology) RETURN r.id AS run, t.name AS name"
        assert len(filled.query(text, engine=engine)) >= 3
        with pytest.raises(QueryError, match="the graph over all runs has"):
            filled.query("EXPLAIN MATCH (t:Transaction) RETURN t.id AS id", engine=engine)


def test_it_is_not_run(filled: GraphStore) -> None:
    assert len(filled.query(f"EXPLAIN {SLOW}", run="a", timeout_s=20.0)) > 3


def test_the_query_is_checked_as_without_it(filled: GraphStore) -> None:
    """The same names, parameters and clauses, whatever asks for the plan."""
    wrong = [
        "MATCH (:Run {id: $run})-[:SENT]->(t:Transaction RETURN t",
        "MATCH (:Run {id: $run})-[:SENT]->(t:Nope) RETURN t",
        "MATCH (:Run {id: $run})-[:SENT]->(t:Transaction) RETURN t.nope AS x",
        "MATCH (:Run {id: $run})-[:SENT]->(t:Transaction) WHERE t.kind = $kind RETURN t",
        "",
    ]
    for engine in filled.engines:
        for text in wrong:
            with pytest.raises(QueryError) as plain:
                filled.query(text, run="a", engine=engine)
            with pytest.raises(QueryError) as caught:
                filled.query(f"EXPLAIN {text}", run="a", engine=engine)
            assert type(caught.value) is type(plain.value), text
            assert "\n" not in str(caught.value)
            if engine != "neo4j":
                assert str(caught.value) == str(plain.value)
    assert filled.query("MATCH (r:Run {id: $run}) RETURN r.id AS id", run="a").rows == [("a",)]


def test_a_dialect_is_planned_as_it_is_asked(filled: GraphStore) -> None:
    """ArcadeDB forgets this order unless the key is passed on; LadybugDB refuses the other."""
    if filled.engines == ("neo4j",):
        pytest.skip("a server has one engine and no dialect")
    text = "MATCH (t:Transaction) WITH t.kind AS k ORDER BY t.wait_ns RETURN k"
    plan = filled.query(f"EXPLAIN {text}", run="a", engine="arcadedb").dicts()
    assert [row for row in plan if "order 0" in row["plan"]]
    with pytest.raises(QueryError, match="may answer wrongly"):
        filled.query("EXPLAIN RETURN all(x IN [1] WHERE x > 0) AS y", run="a", engine="ladybug")


def test_profile_counts_or_says_who_does(filled: GraphStore) -> None:
    text = f"PROFILE {TEXTS[0]}"
    if filled.engines == ("neo4j",):
        assert filled.query(text, run="a").columns == [*SERVERS, "rows", "db_hits"]
        return
    with pytest.raises(QueryError, match="write EXPLAIN for its plan, or PROFILE with --engine ladybug"):
        filled.query(text, run="a", engine="arcadedb")
    found = filled.query(text, run="a", engine="ladybug")
    shown = "\n".join(line for (line,) in found.rows)
    assert "RESULT_COLLECTOR" in shown
    assert re.search(r"NumOutputTuples: [1-9]", shown)
    assert "ExecutionTime" in shown


def test_without_the_first_engine_the_other_explains(
    filled: GraphStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    if filled.engines == ("neo4j",):
        pytest.skip("a server has one engine")
    monkeypatch.setattr("kernbench_graph.stores.arcade.process.is_installed", lambda: False)
    for word in ("EXPLAIN", "PROFILE"):
        assert filled.query(f"{word} {TEXTS[0]}", run="a").columns == ["plan"]
