"""How much of a run's graph the text of a question looks at, and that nothing else is needed to answer it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from kernbench_graph.errors import QueryError, StoreError
from kernbench_graph.schema import SCHEMA
from kernbench_graph.stores.embedded import part
from kernbench_graph.stores.embedded.engine import LadybugDatabase
from kernbench_graph.stores.embedded.extent import extent

import kernbench as kb
from kernbench.pgraph import GraphStore
from tests.compiled import compiled
from tests.conformance.test_free_queries import QUERIES

RUN = "MATCH (r:Run {id: $run})-[:SENT]->(t:Transaction) "
ALL = {prop.name for prop in SCHEMA.label("Transaction").properties}


@pytest.mark.parametrize(
    ("text", "properties"),
    [
        (RUN + "RETURN t.kind AS kind, count(t) AS n", {"kind"}),
        (RUN + "RETURN count(DISTINCT t) AS n", set()),
        (RUN + "WITH t, t.bytes AS b WHERE b > 1 RETURN t.`kind` AS kind", {"bytes", "kind"}),
        (RUN + "WITH DISTINCT t ORDER BY t.wait_ns RETURN t.id AS id", {"wait_ns", "id"}),
        (RUN + "MATCH p = (t)-[:FROM]->(:Use) RETURN length(p) AS n", set()),
        (RUN + "UNWIND $list AS one WITH t, one WHERE one.kind = t.src RETURN count(t) AS n", None),
        (RUN + "UNWIND $list AS one WITH t, one WHERE one.own = t.bytes RETURN count(t) AS n", {"bytes"}),
        (RUN + "WHERE NOT (t)-[:FROM]->(:Use {kind: r.bench}) RETURN t.kind AS kind", {"kind"}),
        ("MATCH (:Run {id: $run})-[:SENT]->(t:Transaction {number: $n}) RETURN count(*) AS n", set()),
        (RUN + "RETURN t", ALL),
        (RUN + "RETURN *", ALL),
        (RUN + "WITH DISTINCT * RETURN count(t) AS n", ALL),
        (RUN + "RETURN (t) AS one", None),
        (RUN + "RETURN r.id AS id, (t) AS one", None),
        (RUN + "RETURN (t {one: 1, .*}) AS one", None),
        (RUN + "RETURN [(t), r] AS one", None),
        (RUN + "RETURN t AS kind", ALL),
        (RUN + "RETURN r.id AS id, t ORDER BY id", ALL),
        (RUN + "WITH t AS x RETURN x.kind AS kind", ALL),
        (RUN + "WITH collect(t) AS all UNWIND all AS x RETURN x.kind AS kind", ALL),
        (RUN + "WITH [t] AS all RETURN all[0].kind AS kind", ALL),
        (RUN + "RETURN properties(t) AS p", ALL),
        (RUN + "RETURN t[$name] AS p", ALL),
        (RUN + "RETURN t {.kind, .*} AS p", ALL),
        (RUN + "RETURN CASE WHEN t.bytes > 1 THEN t END AS t", ALL),
        (RUN + "MATCH p = (t)-[:FROM]->(:Use) RETURN p", ALL),
        (RUN + "MATCH p = (t)-[:FROM]->(:Use) RETURN nodes(p) AS n", ALL),
        (RUN + "RETURN t.nothing AS n", None),
        ("MATCH (t:Transaction)-[:FROM]->(:Use)-[:OF]->(c:Component) RETURN c", None),
        ("MATCH (t:Transaction)-[:FROM]->(:Use)-[:OF]->(c:Component) RETURN c.depth AS d", None),
        ("MATCH (t:Transaction)-[x]->(:Use) RETURN count(x) AS n", None),
        ("MATCH (n) RETURN count(n) AS n", None),
    ],
)
def test_the_properties_that_a_text_looks_at(text: str, properties: set[str] | None) -> None:
    found = extent(text)
    if properties is None:
        assert found is None
    else:
        assert found is not None
        (sent,) = (label for label in found.labels if label.name == "Transaction")
        assert {prop.name for prop in sent.properties} == properties | {"number"}


@pytest.mark.parametrize(
    ("pattern", "targets"),
    [
        ("(u:Use)-[:OF]->(c:Component)", {"Component"}),
        ("(u:Use)-[of:OF]->(:Link {name: $at})", {"Link"}),
        ("(u:Use)-[:OF]->(c:Component), (v:Use)-[:OF]->(l:Link)", {"Component", "Link"}),
        ("(u:Use)-[:OF]->(c:Component), (v:Use)-[:OF]->(x)", {"Component", "Link"}),
        ("(u:Use)-[:OF]->(c:Component|Link)", {"Component", "Link"}),
        ("(c:Component)<-[:OF]-(u:Use)", {"Component", "Link"}),
        ("(u:Use)-[:OF|USED]->(c:Component)", {"Component", "Link"}),
        ("(u:Use)-[:OF*1..2]->(c:Component)", {"Component", "Link"}),
    ],
)
def test_the_ends_that_a_text_can_mean(pattern: str, targets: set[str]) -> None:
    found = extent(f"MATCH {pattern} RETURN count(u) AS n")
    assert found is not None
    (of,) = (rel for rel in found.types if rel.type == "OF")
    assert {target for _, target in of.pairs} == targets
    assert targets <= {label.name for label in found.labels}


@pytest.mark.parametrize(
    ("pattern", "one_way"),
    [
        ("(t:Transaction)-[:FROM]->(u:Use), (t)-[w:TO]->(v:Use)", True),
        ("(t:Transaction)-[:WAITED_FOR|CAUSED_BY*1..3]->(x:Transaction)", True),
        ("(t:Transaction)-[:FROM]->(u:Use)<-[w:TO]-(t)", False),
        ("(t:Transaction)<-[:WAITED_FOR*1..3]-(x:Transaction)", False),
        ("(t:Transaction)-[:WAITED_FOR]-(x:Transaction)", False),
        ("(t:Transaction)<-[:WAITED_FOR]->(x:Transaction)", False),
        ("(t:Transaction) OPTIONAL MATCH (t)-[:FROM]->(:Use)", False),
        ("(t:Transaction) WHERE COUNT { MATCH (t)-[:FROM]->(:Use) } > 0", False),
        ("(t:Transaction) WHERE EXISTS { MATCH (t)-[:FROM]->(:Use) }", False),
    ],
)
def test_relationships_are_stored_both_ways_where_they_are_followed_back(pattern: str, one_way: bool) -> None:
    found = extent(f"MATCH {pattern} RETURN count(t) AS n")
    assert found is not None
    assert found.one_way == one_way


def test_free_queries_have_the_same_answers_from_what_they_look_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Texts that a question of a user's might have; the engine may refuse them, but with the same words."""
    texts = [text for text in QUERIES if "$run" in text or ":Run" in text or "MATCH" in text]
    run = kb.run("gemm-single-pe", compiled("minimal"), store=tmp_path, check=False)
    looked_at = [text for text in texts if extent(text) is not None]
    assert len(looked_at) > len(texts) // 3

    def asked(text: str) -> object:
        with kb.open_store(tmp_path) as store:
            try:
                rows = store.query(text, {}, run.id, engine="ladybug", proved=True).rows
            except StoreError as error:
                return str(error)
            assert _made(store) == {"first"} if first else {"run"}
            return rows if "ORDER BY" in text.rpartition("RETURN")[2] else sorted(map(repr, rows))

    first = True
    found = [asked(text) for text in looked_at]
    assert sum(isinstance(answer, list) and bool(answer) for answer in found) > len(looked_at) // 2
    first = False
    monkeypatch.setattr(part, "MOST_ROWS", -1)
    assert [asked(text) for text in looked_at] == found


def test_a_third_text_gets_the_graph_that_others_share(tmp_path: Path) -> None:
    run = kb.run("gemm-single-pe", compiled("minimal"), store=tmp_path, check=False)
    with kb.open_store(tmp_path) as store:
        expected = []
        for number, what in enumerate(("kind", "bytes", "t_done", "kind"), 1):
            text = RUN + f"RETURN t.{what} AS what ORDER BY what"
            expected.append(store.query(text, {}, run.id, engine="ladybug", proved=True).rows)
            assert _made(store) == ({"first"} if number < 3 else {"part"})
        sent = run.tables["Transaction"]
        assert expected == [
            sorted([(value,) for value in sent[what].to_pylist()])
            for what in ("kind", "bytes", "t_done", "kind")
        ]


def test_a_text_that_its_own_graph_cannot_answer_is_asked_of_the_shared_one(tmp_path: Path) -> None:
    text = RUN + "WITH t MATCH (u:Use)<-[:FROM]-(t) RETURN u.resource AS at, count(t) AS n ORDER BY at"
    run = kb.run("gemm-single-pe", compiled("minimal"), store=tmp_path, check=False)
    with kb.open_store(tmp_path) as store:
        expected = store.query(text, {}, run.id, engine="ladybug", proved=True).rows
        assert _made(store) == {"first"}
        with pytest.raises(QueryError, match="nothing"):
            store.query(RUN + "RETURN t.nothing AS n", {}, run.id, engine="ladybug", proved=True)

    def failing(self: LadybugDatabase, cypher: str, *rest: Any) -> Any:
        asked.append(cypher)
        if len(asked) == 1:
            raise QueryError("no")
        return query(self, cypher, *rest)

    asked: list[str] = []
    query = LadybugDatabase.query
    with kb.open_store(tmp_path) as store, pytest.MonkeyPatch.context() as patched:
        patched.setattr(LadybugDatabase, "query", failing)
        assert store.query(text, {}, run.id, engine="ladybug", proved=True).rows == expected
        assert _made(store) == {"part"}
    assert asked == [text, text]


def _made(store: GraphStore) -> set[str]:
    """Sorts of the graphs of runs that a store has open."""
    return {key.split()[2] if key.split()[2] in ("first", "part") else "run" for key in store._open}  # type: ignore[attr-defined]
