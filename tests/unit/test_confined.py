"""Texts that reach only the runs that they name are left alone; others get conditions."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from kernbench_graph.errors import QueryError
from kernbench_graph.query.confined import confined

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
    f"{R}-[:SENT]->(t) MATCH (t) (()-[:WAITED_FOR]->()){{1,3}} (x:Transaction) RETURN x",
    f"{R}-[:SENT]->(t) MATCH p = (t) ((a)-[:CAUSED_BY]->(b) WHERE a.bytes > b.bytes)+ (x) RETURN p",
    f"{R}-[:SENT]->(t)-[e:!HOP]->(x) RETURN type(e)",
    f"{R}-[:RAN_ON]->(m)-[:CONTAINS*1..5]->(c:Component&!Router) RETURN c",
    f"{R}-[:LAUNCHED]->(l) RETURN [(l)-[:DID]->(o:Op) | size([(o)-[:ON_PART]->(u) | u.resource])]",
    f"{R}-[:SENT]->(t WHERE t.x = 1) RETURN t",
    f"{R}-[:SENT]->(t) WITH r, count(t) AS call MATCH (r)-[:USED]->(u) RETURN call ORDER BY call",
    f"{R}-[:SENT]->(t) WITH collect(t) AS ts RETURN [x IN ts | size([(x)-[:HOP]->(u) | 1])]",
    f"{R}-[:SENT]->(t) WHERE (t IS NOT NULL AND t.bytes > 2) RETURN t",
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
    f"{R}-[:SENT]->(t {{number: size([(x:Op)-->() | 1])}}) RETURN t",
    f"{R}-[:SENT]->(t WHERE EXISTS {{ (x:Op) }}) RETURN t",
    f"{R} CALL (r) {{ MATCH (n) RETURN n }} RETURN n",
    f"{R}-[:SENT]->(t) CALL {{ MATCH (t)-[:HOP]->(u) RETURN u }} RETURN u",
    f"{R}-[:SENT]->(t) CALL (r) {{ MATCH (t)-[:HOP]->(u) RETURN u }} RETURN u",
    f"{R}-[:SENT]->(t) CALL {{ WITH t RETURN t.number AS u UNION MATCH (t) RETURN t.number AS u }} RETURN u",
    f"{R} MATCH (t {{bench: {{id: $run}}.id}}) RETURN t",
    f"{R}-[:RAN_ON]->(m) MATCH (m) ((a)<-[:OF]-(b)-[:OF]->(c)){{1,2}} (x) RETURN x",
    f"{R}-[:RAN_ON]->(m)--+(x) RETURN x",
    f"{R} RETURN COLLECT {{ MATCH (r)-->(x) WITH 1 AS one MATCH (x) RETURN x }}",
    f"{R} RETURN [(r)-->(x) | 1], [(x)-->(y) | 2]",
    f"{R}-[:SENT]->(t) RETURN [x IN [(y)-->(z) | z] | x]",
    f"{R} MATCH p = ((x)-[:WAITED_FOR]->(y)){{1,3}} RETURN p",
    f"{R} OPTIONAL MATCH (t:Transaction) RETURN t",
    f"{R}-[:USED]->()-[:OF]->(t)--(u:!Op) RETURN u",
)


@pytest.mark.parametrize("text", CONFINED)
def test_what_stays_within_the_run_is_left_as_it_is(text: str) -> None:
    assert confined(text) == text


@pytest.mark.parametrize("text", UNCERTAIN)
def test_what_may_leave_it_gets_a_condition(text: str) -> None:
    assert " WHERE " in confined(text).replace(text, "")


def test_a_second_run_that_is_named_is_as_good() -> None:
    text = "MATCH (a:Run {id: $run})-[:USED]->(u), (b:Run {id: $other})-[:USED]->(v) RETURN u, v"
    assert confined(text, ("run", "other")) == text
    assert "(b:Run {id: $other} WHERE b.id IN [$run])" in confined(text)


def test_what_an_expert_writes_is_asked_as_it_is() -> None:
    texts = [line for line in FREE.read_text(encoding="utf-8").splitlines() if not line.startswith("//")]
    assert [text for text in texts if confined(text) != text] == []


BACK = "(r)-[:RAN_ON]->()<-[:RAN_ON]-"
WRITTEN = {
    "MATCH (t:Run) WHERE t.id = $b RETURN t": "MATCH (t:Run WHERE t.id IN [$run]) WHERE t.id = $b RETURN t",
    "MATCH (t:Op WHERE t.m > 1 OR t.k > 1) RETURN t": (
        "MATCH (t:Op  WHERE t.id STARTS WITH $run + '/' AND ( t.m > 1 OR t.k > 1)) RETURN t"
    ),
    f"{R} WHERE {BACK}(:Run) RETURN r": (
        f"{R} WHERE EXISTS {{{BACK}(kernbench_31:Run WHERE kernbench_31.id IN [$run])}} RETURN r"
    ),
    f"{R} WHERE exists({BACK}(:Run)) RETURN r": (
        f"{R} WHERE exists{{{BACK}(kernbench_33:Run WHERE kernbench_33.id IN [$run])}} RETURN r"
    ),
}


@pytest.mark.parametrize("text", WRITTEN)
def test_where_the_condition_is_written(text: str) -> None:
    assert confined(text) == WRITTEN[text]


@pytest.mark.parametrize("step", ["-->", "-[e]->", "-[e:!SENT]->", "-[]->{1,2}"])
def test_what_was_added_is_left_out_where_no_type_is_given(step: str) -> None:
    found = confined(f"{R}{step}(x) RETURN x", ("run",), closed=True)
    assert re.search(r"-\[e?:!\((\w+\|)*ANNOTATED(\|\w+)*\)(&\(!SENT\))?\]->(\{1,2\})?\(x\)", found)


def test_a_long_step_gets_all_other_types() -> None:
    found = confined(f"{R}-[*1..2]->(x) RETURN x", ("run",), closed=True)
    assert re.search(r"-\[:(\w+\|)*RAN_ON(\|\w+)*\*1..2\]->\(x\)", found)
    assert "ANNOTATED" not in found


def test_a_type_that_is_given_stays() -> None:
    assert confined(f"{R}-[:SENT]->(x) RETURN x", ("run",), closed=True) == f"{R}-[:SENT]->(x) RETURN x"


REFUSED = {
    f"{R} MATCH (:Op) RETURN *": "with '*' every pattern needs a variable",
    "MATCH (k:KernbenchRun) RETURN k.manifest": "there is no label 'KernbenchRun' in this graph",
    f"{R}-[:SENT]->(t:$('Op')) RETURN t": "'$' in a pattern is not supported",
}


@pytest.mark.parametrize("text", REFUSED)
def test_what_no_condition_can_hold_is_refused(text: str) -> None:
    with pytest.raises(QueryError, match=re.escape(REFUSED[text])):
        confined(text)
