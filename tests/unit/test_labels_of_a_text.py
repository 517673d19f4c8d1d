"""The labels and types that a text looks at, and that a graph has these and no others."""

from __future__ import annotations

from pathlib import Path

import pytest
from kernbench_graph.opening import open_store
from kernbench_graph.query.looked_at import ADDED, ALL, looked_at
from kernbench_graph.schema import SCHEMA
from kernbench_graph.stores.arcade.database import ArcadeDatabase
from kernbench_graph.stores.embedded.engine import LadybugDatabase

from tests.conformance.graph_records import made_here, sample

CLOSED = {
    "RETURN 1 AS x": "",
    "MATCH (t:Transaction) RETURN count(t) AS n": "Transaction",
    "MATCH (:Run {id: $run})-[:SENT]->(t) RETURN t": "Run SENT Transaction",
    "MATCH (u:Use)-[:OF]->(c) RETURN c.name": "Use OF Link Component",
    "MATCH (u:Use) WHERE EXISTS { (u)-[:OF]->(:Link) } RETURN u": "Use OF Link Component",
    "MATCH (c:Router) RETURN c": "Component",
    "MATCH (c:Component) RETURN c.row AS row": "Component",
    "MATCH (u:Use) RETURN u.row AS row": "Use Component",
    "MATCH (t:Transaction) RETURN count(*), (t.bytes + 1) * 2 AS x": "Transaction",
    "MATCH ((a:Op)-[:PART_OF]->(b:Op)){1,3} RETURN a": "Op PART_OF",
}
OPEN = (
    "MATCH (n) RETURN n",
    "MATCH (n {number: 3}) RETURN n",
    "MATCH (n WHERE n.number = 3) RETURN n",
    "MATCH (n:!Use) RETURN n",
    "MATCH (n:(!Use)) RETURN n",
    "MATCH (n:%) RETURN n",
    "MATCH (n:Use|%) RETURN n",
    "MATCH (:Run)-[x]->() RETURN x",
    "MATCH (:Run)-[x {seq: 1}]->() RETURN x",
    "MATCH (:Run)-[x WHERE x.ns > 1]->() RETURN x",
    "MATCH (:Run)-[x:!SENT]->() RETURN x",
    "MATCH (:Run)-->(x:Use) RETURN x",
    "MATCH (:Run)--(x:Use) RETURN x",
    "MATCH (:Run)-[*1..3]-(x:Use) RETURN x",
    "MATCH (t:Transaction), (n) RETURN n",
    "MATCH p = shortestPath((a:Use)-[*]-(b:Use)) RETURN p",
    "MATCH (t:Transaction) RETURN [(t)-[r]->(o) | type(r)] AS types",
    "MATCH (r:Run WHERE EXISTS { (r)-[x]->() }) RETURN r",
    "MATCH (:Run)-[:SENT]->(t:Transaction WHERE size([(t)-[]->(o) | o]) > 1) RETURN t",
)


@pytest.mark.parametrize("text", CLOSED)
def test_names_with_the_ends_of_types(text: str) -> None:
    assert looked_at(text) == set(CLOSED[text].split())


@pytest.mark.parametrize("text", OPEN)
def test_what_leaves_a_name_open_looks_at_all(text: str) -> None:
    assert looked_at(text) == ALL - ADDED


def test_every_label_and_type_of_the_schema_can_be_named() -> None:
    for label in SCHEMA.labels:
        assert looked_at(f"MATCH (n:{label.name}) RETURN n") == {label.name}
    for rel in SCHEMA.relationships:
        ends = {end for pair in rel.pairs for end in pair}
        assert looked_at(f"MATCH ()-[r:{rel.type}]->() RETURN r") == {rel.type} | ends


@pytest.mark.parametrize("engine", ["arcadedb", "ladybug"])
def test_a_graph_has_what_texts_looked_at_and_grows(
    engine: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tables that no text named are not read, and those that are there are not copied again by ArcadeDB."""
    copied: list[str] = []

    def watch(kind: type, method: str) -> None:
        add = getattr(kind, method)

        def watched(self: object, name: str, *of: object) -> object:
            copied.append(name.partition("~")[0])
            return add(self, name, *of)

        monkeypatch.setattr(kind, method, watched)

    watch(LadybugDatabase, "copy")
    watch(ArcadeDatabase, "add_nodes")
    watch(ArcadeDatabase, "add_relationships")

    def asked(text: str) -> tuple[object, set[str]]:
        copied.clear()
        with open_store(tmp_path / "store") as store:  # as another process would
            store.computed = made_here(store)
            rows = store.query(text, run="a", engine=engine, proved=True).rows
            assert store.notes == []
        return rows, set(copied)

    with open_store(tmp_path / "store") as store:
        store.keep(*sample(id="a"))
    sent = {"Run", "SENT", "Transaction"}
    count = "MATCH (:Run {id: $run})-[:SENT]->(t) RETURN count(t) AS n"
    hops = "MATCH (:Run {id: $run})-[:SENT]->(t)-[h:HOP]->(u) RETURN count(h) AS n"
    path_ns = "MATCH (s:Step)-[:SPENT_IN]->(t:Transaction) RETURN count(s) AS n"
    again = set() if engine == "arcadedb" else sent
    assert asked(count) == ([(2,)], sent)
    assert asked(count) == ([(2,)], set())
    assert asked(hops) == ([(12,)], {"HOP", "Use"} | again)
    assert asked(count) == ([(2,)], set())
    rows, more = asked(path_ns)
    assert (rows, {"Step", "SPENT_IN"} <= more, "Route" in more) == ([(2,)], True, False)
    assert asked(hops) == ([(12,)], set())


@pytest.mark.slow
def test_untyped_patterns_see_what_typed_ones_see() -> None:
    with open_store("memory:") as store:
        store.computed = made_here(store)
        store.keep(*sample(id="a"))
        anything = "MATCH (t:Transaction)<-[r]-() RETURN DISTINCT type(r) AS type"
        assert {row[0] for row in store.query(anything, run="a").rows} >= {"SPENT_IN", "SENT", "AWAITED"}
        for rel in SCHEMA.relationships:
            typed = store.query(f"MATCH ()-[r:{rel.type}]->() RETURN count(r) AS n", run="a").rows
            untyped = "MATCH ()-[r]->() WHERE type(r) = $type RETURN count(r) AS n"
            assert store.query(untyped, {"type": rel.type}, run="a").rows == typed
