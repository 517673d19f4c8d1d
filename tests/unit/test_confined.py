"""Texts that reach nothing but the runs that they name, and texts of which that is not certain."""

from __future__ import annotations

from pathlib import Path

import pytest
from kernbench_graph.query.confined import not_reached

FREE = Path(__file__).parents[1] / "conformance" / "free_queries.cypher"
R = "MATCH (r:Run {id: $run})"
CONFINED = (
    "UNWIND range(1, 5) AS i RETURN i",
    f"{R}-[:USED]->(u)-[:OF]->(l:Link) RETURN l.kind, count(u)",
    f"MATCH p = (t:Transaction)-[:WAITED_FOR*1..4]->(o) {R}-[:SENT]->(t) RETURN length(p)",
    f"{R}-[:SENT]->(a:Transaction), (r)-[:SENT]->(b:Transaction) RETURN count(*)",
    f"{R}-[:USED]->()-[:OF]->(a), (r)-[:USED]->()-[:OF]->(b) "
    "MATCH p = shortestPath((a)-[:CONNECTS*]->(b)) RETURN p",
    f"{R}-[:SENT]->(t)<-[x]-() RETURN type(x)",
    f"{R}-[:SENT]->(t) WITH t AS s MATCH (s)<-[x]-() RETURN type(x)",
    f"{R}-[:SENT]->(t) WHERE NOT (t)-[:WAITED_FOR]->() RETURN COUNT {{ (t)-[:HOP]->() }}",
    f"{R}-[:SENT]->(a)-[:FROM]->(u)<-[:FROM]-(b)<-[:SENT]-(r) RETURN count(*)",
    f"{R}-[:RAN_ON]->(m)-[:CONTAINS*]->(c) WHERE c:Router OR c:Cube RETURN c.label",
    f"{R}-[*1..3]->(x) RETURN x",
    f"{R}-[:HOLDS]->(x) OPTIONAL MATCH (o:Op)-[a:READ_FROM|WROTE_TO]->(x) RETURN x.name",
    f"{R} UNION {R} RETURN r",
    f"CALL {{ {R}-[:SENT]->(t) RETURN t }} MATCH (t)-[:HOP]->(u) RETURN u",
    f"{R}-[:SENT]->(t) CALL (t) {{ MATCH (t)-[:HOP]->(u) RETURN u UNION MATCH (t)-[:TO]->(u) RETURN u }} "
    "RETURN u",
    f"{R}-[:SENT]->(t) CALL {{ WITH t MATCH (t)-[:HOP]->(u) RETURN u }} RETURN u",
    f"{R}-[:SENT]->(t) CALL (*) {{ MATCH (t)-[:HOP]->(u) RETURN u }} RETURN u",
    f"{R}-[:RAN_ON]->()-[:CONTAINS*]->(a), (r)-[:RAN_ON]->()-[:CONTAINS*]->(b) "
    "MATCH p = SHORTEST 1 (a)-[:CONNECTS]->+(b) RETURN p",
    f"{R}-[:SENT]->(t)-[:WAITED_FOR]->{{1,3}}(o) RETURN o",
)
UNCERTAIN = (
    "MATCH (t:Transaction) RETURN count(t)",
    "MATCH (t) WHERE t.id STARTS WITH $run RETURN t",
    "MATCH (a:Run {id: $run}), (b:Run {id: $other}) RETURN b",
    "MATCH (a:Run {id: $run}), (b:Run {id: 'x'}) RETURN b",
    "MATCH (a:Run {id: $run + 'x'}) RETURN a",
    f"{R} MATCH (t:Transaction) RETURN count(t)",
    f"{R} MATCH (n) RETURN count(n)",
    f"{R} WITH r MATCH (x) RETURN x",
    f"{R} WITH 1 AS one MATCH (r) RETURN r",
    f"{R}-[:USED]->(u:Use) MATCH (t:Transaction)-[:HOP]->(x:Use {{resource: u.resource}}) RETURN count(t)",
    f"{R}-[:USED]->(u)-[:OF]->(l:Link)<-[:OF]-(v) RETURN count(v)",
    f"{R}-[:USED]->(u)-[:OF]->(l:Link)<-[x]-(v) RETURN count(v)",
    f"{R}-[*1..3]-(x) RETURN x",
    f"{R}-[:SENT]->(a), (r)-[:SENT]->(b) MATCH p = shortestPath((a)-[*]-(b)) RETURN p",
    f"{R} RETURN EXISTS {{ (x:Transaction) }}",
    f"{R}-[:SENT]->(t) WHERE EXISTS {{ (x:Op) }} MATCH (t)-[:SENT_FOR]->(x) RETURN x",
    f"{R} UNION MATCH (t:Op) RETURN t",
    f"{R} RETURN [(r)-[:RAN_ON]->(m)<-[:RAN_ON]-(o) | o.id]",
    f"{R} RETURN size([(x:Op) | 1])",
    f"{R}-[:SENT]->(t {{number: size([(x:Op)-->() | 1])}}) RETURN t",
    f"{R}-[:SENT]->(t WHERE EXISTS {{ (x:Op) }}) RETURN t",
    f"{R} CALL (r) {{ MATCH (n) RETURN n }} RETURN n",
    f"{R}-[:SENT]->(t) CALL {{ MATCH (t)-[:HOP]->(u) RETURN u }} RETURN u",
    f"{R}-[:SENT]->(t) CALL (r) {{ MATCH (t)-[:HOP]->(u) RETURN u }} RETURN u",
    f"{R}-[:SENT]->(t) CALL {{ WITH t RETURN t.number AS u UNION MATCH (t) RETURN t.number AS u }} RETURN u",
    f"{R} MATCH p = ((x)-[:WAITED_FOR]->(y)){{1,3}} RETURN p",
    f"{R} OPTIONAL MATCH (t:Transaction) RETURN t",
    f"{R}-[:SENT]->(t:!Op) RETURN t",
)


@pytest.mark.parametrize("text", CONFINED)
def test_what_stays_within_the_run(text: str) -> None:
    assert not_reached(text) == ""


@pytest.mark.parametrize("text", UNCERTAIN)
def test_what_may_leave_it(text: str) -> None:
    assert not_reached(text)


def test_a_second_run_that_is_named_is_as_good() -> None:
    text = "MATCH (a:Run {id: $run})-[:USED]->(u), (b:Run {id: $other})-[:USED]->(v) RETURN u, v"
    assert not_reached(text)
    assert not not_reached(text, frozenset({"run", "other"}))


def test_most_of_what_an_expert_writes_is_the_servers() -> None:
    texts = [line for line in FREE.read_text(encoding="utf-8").splitlines() if not line.startswith("//")]
    assert [text for text in texts if not_reached(text)] == []


MISSING = {
    "MATCH (r:Run) WHERE r.id = $run RETURN r": "reach it as in MATCH (r:Run {id: $run})",
    "MATCH (t:Transaction) RETURN t": "MATCH (:Run {id: $run})-[:SENT]->(t:Transaction)",
    "MATCH (c:Router) RETURN c": "MATCH (:Run {id: $run})-[:RAN_ON]->(:Topology)-[:CONTAINS*]->(c:Router)",
    "MATCH (x) RETURN x": "MATCH (:Run {id: $run})-[...]->(x)",
    f"{R}-[:SENT]->(a), (r)-[:SENT]->(b) MATCH p = (a)-[*]-(b) RETURN p": "give it a type and an arrow",
    f"{R}-[:SENT]->(t WHERE t.x = 1) RETURN t": "write its conditions after WHERE",
    f"{R} CALL db.labels() YIELD label RETURN label": "what a procedure finds",
}


@pytest.mark.parametrize("text", MISSING)
def test_what_is_missing_is_said(text: str) -> None:
    assert MISSING[text] in not_reached(text)
