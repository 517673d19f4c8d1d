"""What is added to a kept run: replaced, removed, and gone with the run, on every store."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from kernbench_graph.added import ADDED
from kernbench_graph.errors import ArchiveError
from kernbench_graph.opening import open_store
from kernbench_graph.schema_added import MARKED
from kernbench_graph.store import GraphStore

import kernbench as kb
from kernbench.api.kept_runs import copy_runs
from tests.conformance.graph_records import add_to, sample, table

MARKS = (
    "MATCH (:Run {id: $run})-[:ANNOTATED]->(a:Annotation)-[m:MARKS]->(c:Component) "
    "RETURN a.name AS a, c.name AS c, m.value AS v, m.text AS t ORDER BY a, c"
)


def note(name: str, values: dict[str, float]) -> dict[str, Any]:
    rows = [{"annotation": name, "value": v, "text": "", "component": c} for c, v in values.items()]
    return {
        "Annotation": table("Annotation", [{"name": name, "holds": "number", "nodes": len(rows)}]),
        "Mark": table("Mark", rows),
    }


def test_an_addition_is_replaced_and_removed(store: GraphStore) -> None:
    store.keep(*sample(id="a"))
    store.keep(*sample(id="b"))

    def marks(run: str = "a") -> list[tuple[Any, ...]]:
        return store.query(MARKS, run=run).rows

    assert marks() == []
    store.add("a", "annotation x", note("x", {"r0": 1.0, "r1": 2.0}))
    store.add("a", "annotation y", note("y", {"hbm": 3.0}))
    assert marks() == [("x", "r0", 1.0, ""), ("x", "r1", 2.0, ""), ("y", "hbm", 3.0, "")]
    store.add("a", "annotation x", note("x", {"r1": 5.0}))
    store.add("a", "annotation x", note("x", {"r1": 5.0}))
    assert marks() == [("x", "r1", 5.0, ""), ("y", "hbm", 3.0, "")]
    assert marks("b") == []
    assert list(store.added("a")) == ["annotation x", "annotation y"]
    assert store.load("a").tables["Mark"].num_rows == 2
    store.add("a", "annotation y", {})
    assert marks() == [("x", "r1", 5.0, "")]
    store.remove("a")
    store.keep(*sample(id="a"))
    assert (marks(), store.added("a")) == ([], {})


def test_what_was_added_is_seen_by_texts_that_name_it_alone(store: GraphStore) -> None:
    """A question that keeps its answer changes no rows of a text that leaves labels or types open."""
    store.keep(*sample(id="a"))
    texts = [
        "MATCH (:Run {id: $run})-[x]->() RETURN type(x) AS type, count(*) AS n ORDER BY type",
        "MATCH (n) RETURN count(n) AS n",
    ]
    before = [store.query(text, run="a").rows for text in texts]
    store.add("a", "annotation x", note("x", {"r0": 1.0}))
    assert [store.query(text, run="a").rows for text in texts] == before
    assert store.query(MARKS, run="a").rows == [("x", "r0", 1.0, "")]
    named = "MATCH (:Run {id: $run})-[:ANNOTATED]->(a:Annotation)-[x]->(c) RETURN type(x) AS x, c.name AS c"
    assert store.query(named, run="a").rows == [("MARKS", "r0")]


def test_what_is_not_in_the_run_cannot_be_referred_to(store: GraphStore) -> None:
    store.keep(*sample(id="a"))
    with pytest.raises(
        ArchiveError, match=r"Mark\.component refers to 'r9' in row 0, which is not in the record"
    ):
        store.add("a", "annotation x", note("x", {"r9": 1.0}))
    with pytest.raises(ArchiveError, match="'Hop' cannot be added"):
        store.add("a", "x", {"Hop": sample()[0].tables["Hop"]})
    assert store.added("a") == {}
    assert store.query(MARKS, run="a").rows == []


def test_a_copied_run_has_what_was_added_to_it(store: GraphStore, tmp_path: Path) -> None:
    with kb.open_store(tmp_path / "first") as first:
        first.keep(*sample(id="a"))
        add_to(first, "a")
        copy_runs(["a"], first, store)
        for name in ADDED:
            assert store.load("a").tables[name].equals(first.load("a").tables[name])
        rows = first.query(MARKS, run="a").rows
    assert rows
    assert store.query(MARKS, run="a").rows == rows


def test_a_file_that_is_damaged_or_of_another_run_is_left_out(tmp_path: Path) -> None:
    with kb.open_store(tmp_path) as store:
        store.keep(*sample(id="a"))
        store.keep(*sample(bench="copy", id="b"))
        store.add("a", "annotation x", note("x", {"r1": 5.0}))
        (file,) = (tmp_path / "added" / "a").iterdir()
        other = tmp_path / "added" / "b" / file.name
        other.parent.mkdir()
        other.write_bytes(file.read_bytes())
        assert store.added("b") == {}
        data = file.read_bytes()
        for at in range(0, len(data), 97):
            file.write_bytes(data[:at] + bytes([data[at] ^ 0xFF]) + data[at + 1 :])
            assert store.added("a") == {}
        file.write_bytes(data[: len(data) // 2])
        assert store.added("a") == {}
        assert store.query(MARKS, run="a").rows == []


@pytest.mark.neo4j
def test_a_run_pushed_in_less_detail_has_the_marks_on_what_it_has(neo4j_url: str) -> None:
    with open_store(neo4j_url) as store:
        store.keep(*sample(id="a"), "summary")
        add_to(store, "a")
        text = "MATCH (:Run {id: $run})-[:ANNOTATED]->(:Annotation)-[m:MARKS]->(n:{}) RETURN count(m) AS n"
        gone = {"Op", "Transaction", "Route"}
        for label in MARKED:
            if label not in gone:
                assert store.query(text.replace("{}", label), run="a").rows == [(1,)], label
        assert store.load("a").tables["Mark"].num_rows == len(MARKED)
