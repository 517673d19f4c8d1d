"""Shapes of free Cypher that LadybugDB gets wrong are refused, with a remedy, and never answered."""

from __future__ import annotations

from pathlib import Path

import pytest
from kernbench_graph.errors import QueryError
from kernbench_graph.query.guard import tokens
from kernbench_graph.query.library import load_library
from kernbench_graph.stores.embedded.dialect import clauses_of, dialect
from kernbench_graph.stores.embedded.filtered_steps import check_filtered_steps

QUERIES = Path(__file__).parents[2] / "queries"

REFUSED = {
    "MATCH (t:Transaction) WITH t ORDER BY t.wait_ns DESC LIMIT 3 RETURN sum(t.wait_ns) AS s": "cut by LIMIT",
    "MATCH (t:Transaction) WITH t SKIP 3 WITH count(t) AS n RETURN n": "cut by LIMIT or SKIP",
    "MATCH (t)-[:WAITED_FOR*1..3]->(o) RETURN count(*)": "variable length",
    "MATCH (t)-[:WAITED_FOR*1..3]-(o) RETURN count(*)": "variable length",
    "MATCH (t)-[:WAITED_FOR]-(o) RETURN count(*)": "both directions",
    "MATCH (t)--(o) RETURN count(*)": "both directions",
    "MATCH (a)<-[:R]-()-[:R]->(b) RETURN count(*)": "one type in one MATCH",
    "MATCH (a)-[:R]->()-[:R]->()-[:R]->(b) RETURN count(*)": "one type in one MATCH",
    "MATCH (a)-->(b)-[:OF]->(c), (d)-->(e) RETURN count(*)": "one type in one MATCH",
    "MATCH (t:Transaction) WITH t.number AS x WITH 10 - x AS x ORDER BY x RETURN x": "'x' means two things",
    "MATCH (t:Transaction) RETURN labels(t)": r"labels\(\)",
    "MATCH (t:Transaction) RETURN t.KIND": "did you mean 'kind'",
    "MATCH (c:Router) RETURN c.name": "label: 'Router'",
    "RETURN 4 IN [1, null, 3]": "lists",
    "RETURN '1' = 1": "text with numbers",
    "MATCH (t:Transaction) WHERE t.kind < 'a' AND 1 < 'a' RETURN t": "text with numbers",
    "MATCH (t:Transaction) WHERE (t)-[:CAUSED_BY]->() RETURN t": "patterns outside of MATCH",
    "MATCH (t:Transaction) RETURN size((t)--()) AS n": "patterns outside of MATCH",
    "RETURN {a: 1} = {a: 1} AS same": "maps",
    "MATCH (t:Transaction) RETURN coalesce({a: 1}, t) AS x": "maps",
    "RETURN 0.0 / 0.0 > 1 AS x": "division by zero",
    "RETURN 9223372036854775808 AS x": "too large",
    "RETURN 1.5e999 AS x": "too large",
    "MATCH (u:Use) WHERE u.resource CONTAINS '' RETURN u": "within a text",
    "MATCH (u:Use) WHERE u.resource STARTS WITH null RETURN u": "within a text",
    "MATCH (u:Use) WHERE (null OR true) AND u.resource ENDS WITH (null OR true) RETURN u": "within a text",
    "RETURN 1 AS a, 2 AS a": "two columns of one name",
    "MATCH p = (p)-[:OF]->(l:Link) RETURN p": "'p' as a path",
    "MATCH (u:Use) RETURN properties(u)": r"properties\(\)",
    "RETURN $l[1]": "places in lists",
    "RETURN substring('hello', 1, 3)": "substring",
    "OPTIONAL MATCH p = (t)-[:R]->(u) RETURN p": "paths of an OPTIONAL MATCH",
    "MATCH (t) CALL (t) { RETURN 1 AS x } RETURN x": "subqueries",
    "MATCH (t) WHERE EXISTS { (t)-[:OF]->() } RETURN t": "subqueries",
    "MATCH (t:Transaction) RETURN t{.number}": "projections",
    "MATCH (a)-[w:R]->(b) WHERE w.ns > 0 MATCH (a)-[:FROM]->(u) MATCH (b)-[:TO]->(v) RETURN u, v": "'w'",
    "MATCH (u)<-[:FROM]-(a)-[w:WAITED_FOR]->(b)-[:TO]->(v) WHERE 0 < w.ns RETURN u, v": "both of whose ends",
    "MATCH (a)-[:WAITED_FOR {ns: 1.0}]->(b), (a)-[:FROM]->(u), (b)-[:TO]->(v) RETURN u": "without a name",
    "MATCH (a) OPTIONAL MATCH (u)<-[:FROM]-(a)-[w:WAITED_FOR]->(b)-[:TO]->(v) WHERE w.ns > 0 RETURN u": "'w'",
    "MATCH (t:Transaction) RETURN CASE WHEN t.bytes > 1 THEN 1 ELSE 2 END": "CASE",
}


@pytest.mark.parametrize("text", REFUSED)
def test_it_is_refused(text: str) -> None:
    with pytest.raises(QueryError, match=REFUSED[text]) as caught:
        dialect(text)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("params", "refused"),
    [
        ({"sizes": [1, None]}, "null or nothing, as in \\$sizes"),
        ({"sizes": []}, "null or nothing"),
        ({"sizes": None}, "null or nothing"),
        ({"begin": ""}, "empty text \\$begin"),
    ],
)
def test_values_of_parameters_are_refused(params: dict[str, object], refused: str) -> None:
    text = "MATCH (a:Use) WHERE a.resource STARTS WITH $begin AND a.bytes IN $sizes RETURN a"
    given = {"begin": "sip", "sizes": [1, 2]}
    assert dialect(text, given) == text
    with pytest.raises(QueryError, match=refused):
        dialect(text, {**given, **params})


@pytest.mark.parametrize(
    "text",
    [
        "MATCH (a:Use {kind: 'router'})-[o:OF {}]->(b {name: 'x'}) RETURN a.bytes / 2 AS half, -1 AS n",
        "MATCH (t:Transaction) RETURN t.kind AS kind, count(*) AS n ORDER BY kind LIMIT 3",
        "MATCH (r:Run {id: $run})-[:SENT]->(t)-[h:HOP]->(u:Use)-[:OF]->(l:Link) RETURN l.kind, count(h)",
        "MATCH (a)-[:R]->()-[:R]->(b) RETURN a.id, b.id",
        "MATCH (a:Use) WHERE a.resource STARTS WITH 'sip' AND a.bytes IN $sizes RETURN a ORDER BY a.resource",
        "MATCH (a:Op) OPTIONAL MATCH (a)-[:AWAITED]->(t) RETURN a, count(t)",
        "MATCH (a)-[w:WAITED_FOR]->(b) WHERE w.ns > 0 WITH a, b, w MATCH (a)-[:FROM]->(u) WITH b, w, u "
        "MATCH (b)-[:TO]->(v) RETURN u, v, w.ns",
        "MATCH (r)-[:SENT]->(a)-[w:WAITED_FOR]->(b) WHERE w.ns > 0 AND r.id = $run RETURN a, b",
        "MATCH (a)-[w:WAITED_FOR]->(b), (a)-[:FROM]->(u), (b)-[:TO]->(v) WHERE a.bytes > b.bytes RETURN w",
    ],
)
def test_it_passes_as_it_is(text: str) -> None:
    assert dialect(text) == text


def test_no_text_of_the_library_has_conditions_where_the_engine_loses_them() -> None:
    for question in load_library(QUERIES, proved=True).values():
        for text in {question.text("ladybug"), question.window} - {""}:
            if "SHORTEST" not in text:  # of this engine alone, without conditions on relationships
                check_filtered_steps(list(clauses_of([*tokens(text)])))


def test_the_sum_of_nothing_is_0() -> None:
    text = "MATCH (t:Transaction) RETURN sum(t.bytes * (1 + t.number)) AS s, sum (t.bytes)"
    assert dialect(text) == (
        "MATCH (t:Transaction) RETURN coalesce(sum(t.bytes * (1 + t.number)), 0) AS s, "
        "coalesce(sum (t.bytes), 0)"
    )
