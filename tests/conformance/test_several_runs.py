"""A text means the same in a store of one run and of several, whichever store: it sees the runs it names."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from kernbench_graph.errors import QueryError
from kernbench_graph.opening import open_store
from kernbench_graph.records import RunRecord, TopologyRecord
from kernbench_graph.store import GraphStore

from tests.conformance.conftest import NewStore
from tests.conformance.graph_records import made_here, sample

RUN = "MATCH (r:Run {id: $run})"
TEXTS = (
    "MATCH (n) RETURN count(n) AS n",
    "MATCH (a)-[x]->(b) RETURN type(x) AS type, count(*) AS n",
    "MATCH (t:Transaction) RETURN t.id AS id",
    "MATCH (c:Component) RETURN c.id AS id",
    "MATCH (c:Router) RETURN c.name AS name, c.row AS row",
    "MATCH (r:Run) RETURN r.id AS id",
    f"{RUN} MATCH (n) RETURN labels(n)[0] AS label, count(n) AS n",
    f"{RUN}-[:USED]->(u:Use) MATCH (t)-[:HOP]->(x:Use {{resource: u.resource}}) RETURN count(t) AS n",
    f"{RUN}-[:USED]->(u)-[:OF]->(l:Link)<-[:OF]-(v:Use) RETURN count(v) AS n",
    f"{RUN}-[:RAN_ON]->(m:Topology)<-[:RAN_ON]-(o:Run) RETURN o.id AS id",
    f"{RUN}-[*1..2]-(x) RETURN count(x) AS n",
    f"{RUN} OPTIONAL MATCH (t:Transaction {{kind: 'no such'}}) RETURN count(t) AS n",
    f"{RUN} WHERE EXISTS {{ (:Run {{id: 'b'}}) }} RETURN r.id AS id",
    f"{RUN}-[:SENT]->(t)<-[x]-() RETURN DISTINCT type(x) AS type",
    f"{RUN}-[:SENT]->(t)-[h:HOP]->(u:Use) RETURN u.resource AS resource, sum(h.wait_ns) AS ns",
)
OTHER = (
    "MATCH (r:Run) RETURN r.id AS id, $other AS other",
    "MATCH (:Run {id: $run}) MATCH (:Run {id: $other})-[:USED]->(u) RETURN count(u) AS n",
    "MATCH (:Run {id: $run})-[:SENT]->(s) MATCH (:Run {id: $other})-[:SENT]->(t) RETURN s.id AS s, t.id AS t",
    "MATCH (t:Transaction) WHERE $other <> '' RETURN t.id AS id",
    "MATCH (:Run {id: $run})-[:USED]->(u)-[:OF]->(l:Link)<-[:OF]-(v:Use)<-[:USED]-(:Run {id: $other}) "
    "RETURN u.id AS u, v.id AS v",
)


def records() -> list[tuple[RunRecord, TopologyRecord]]:
    """Three runs, two of them on one topology."""
    found = [sample(id="a"), sample(id="b", bench="copy"), sample(id="c")]
    run, machine = found[2]
    found[2] = (
        RunRecord({**run.info, "topology": "other"}, run.tables),
        TopologyRecord("other", "other", machine.spec, machine.tables, "1", 256, 0.01),
    )
    return found


def rows(store: GraphStore, text: str, params: dict[str, Any] | None = None) -> Any:
    """The rows, in no order."""
    return Counter(map(str, store.query(text, params, run="a").rows))


@pytest.fixture(scope="module")
def alone() -> dict[str, Any]:
    """What each text gives where there is no other run, or only the other one that it names."""
    found = {}
    with open_store("memory:") as store:
        store.computed = made_here(store)
        store.keep(*records()[0])
        found |= {text: rows(store, text) for text in TEXTS}
        store.keep(*records()[1])
        found |= {text: rows(store, text, {"other": "b"}) for text in OTHER}
    return found


@pytest.mark.slow
def test_a_text_sees_the_runs_that_it_names(new_store: NewStore, alone: dict[str, Any]) -> None:
    with new_store() as store:
        for run, machine in records():
            store.keep(run, machine)
        found = {text: rows(store, text) for text in TEXTS}
        found |= {text: rows(store, text, {"other": "b"}) for text in OTHER}
        assert found == alone
    assert alone[TEXTS[2]] == Counter({"('a/txn0',)": 1, "('a/txn1',)": 1})
    assert (alone[TEXTS[5]], alone[TEXTS[9]]) == (Counter({"('a',)": 1}), Counter())
    assert alone[OTHER[1]] == Counter({"(7,)": 1})
    assert len(alone[OTHER[2]]) == len(alone[OTHER[3]]) == 4
    assert "('SPENT_IN',)" in alone[TEXTS[13]]


def test_two_topologies_are_seen_where_two_runs_are_named(new_store: NewStore) -> None:
    with new_store() as store:
        for run, machine in records():
            store.keep(run, machine)
        text = "MATCH (r:Run)-[:RAN_ON]->(m) WHERE $other <> '' RETURN DISTINCT m.id AS id ORDER BY id"
        assert store.query(text, {"other": "c"}, run="a").rows == [("0123456789abcdef",), ("other",)]
        assert store.query(text, {"other": "b"}, run="a").rows == [("0123456789abcdef",)]


@pytest.mark.parametrize(
    "text", ["MATCH (n) RETURN count(n) AS n", "MATCH (r:Run)-[x]->() RETURN count(x) AS n"]
)
def test_over_all_runs_a_text_says_what_it_looks_at(text: str, new_store: NewStore) -> None:
    with new_store() as store:
        for run, machine in records():
            store.keep(run, machine)
        with pytest.raises(QueryError, match=r"give every node a label .* every relationship a type"):
            store.query(text)
        assert store.query("MATCH (r:Run)-[:USED]->(u) RETURN count(u) AS n").rows == [(21,)]
