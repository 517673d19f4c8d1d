"""Queries such as an expert writes: every engine gives the same rows, or refuses and says what to write."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from kernbench_graph.entities import plain_entities
from kernbench_graph.errors import QueryError
from kernbench_graph.opening import open_store
from kernbench_graph.result import Result
from kernbench_graph.store import GraphStore

import kernbench as kb

LINES = Path(__file__).with_name("free_queries.cypher").read_text(encoding="utf-8").splitlines()
QUERIES = [line for line in LINES if not line.startswith("//")]
REFUSED = "engine 'ladybug'"


@pytest.fixture(scope="module")
def memory() -> Iterator[GraphStore]:
    """A store with a small run of the simulator."""
    with open_store("memory:") as store:
        kb.run("gemm-single-pe", "minimal", store=store, m=16, k=32, n=16)
        yield store


def rows(result: Result, text: str) -> Any:
    """Rows with rounded sums; in no order where the query asks for none."""
    found = [repr(_rounded(plain_entities(row))) for row in result.rows]
    return found if "ORDER BY" in text.rpartition("RETURN")[2] else Counter(found)


def _rounded(value: Any) -> Any:
    if isinstance(value, float | int) and not isinstance(value, bool):
        return round(float(value), 6)  # the sum of nothing is 0 to one, 0.0 to another
    if isinstance(value, list):
        return [_rounded(item) for item in value]
    if isinstance(value, dict):
        return {key: _rounded(value[key]) for key in sorted(value)}
    return value


def asked(store: GraphStore, text: str, engine: str | None = None) -> Any:
    """Columns and rows, or the refusal."""
    try:
        result = store.query(text, run="last", engine=engine)
    except QueryError as error:
        return str(error)
    return result.columns, rows(result, text)


def test_there_are_sixty() -> None:
    assert len(set(QUERIES)) >= 60


@pytest.mark.slow
def test_the_other_engine_gives_the_same_or_refuses(memory: GraphStore) -> None:
    same = 0
    for text in QUERIES:
        found, other = asked(memory, text), asked(memory, text, "ladybug")
        if isinstance(other, str):
            assert other.startswith((f"the {REFUSED}", "the query is not valid here", "nothing in")), other
            assert "Traceback" not in other
        else:
            assert other == found, text
            same += 1
    assert same >= 12


LARGE = "kernbench_graph.stores.embedded.base._LARGE"
FALLS_BACK = {
    "MATCH (t:Transaction) RETURN [x IN collect(t.number) WHERE x > 1 | x] AS d": "arcadedb",
    "MATCH (t:Transaction) RETURN t.resource AS r, count(*) AS n": "arcadedb",  # null there, with a remark
    "MATCH (t:Transaction) RETURN t.kind AS k, count(*) AS n ORDER BY k": "ladybug",
    "MATCH (t:Transaction)-[h:HOP]->(u:Use) RETURN count(h) AS n, sum(h.wait_ns) AS ns": "ladybug",
    "EXPLAIN MATCH (t:Transaction) RETURN count(t) AS n": "ladybug",
}


def test_of_a_large_graph_the_faster_engine_answers_what_both_do(
    memory: GraphStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(LARGE, 0)
    for text, engine in FALLS_BACK.items():
        result = memory.query(text, run="last")
        assert result.engine == engine
        if not text.startswith("EXPLAIN"):
            assert asked(memory, text) == asked(memory, text, "arcadedb")
    for text in ("MATCH (t:Transaction) RETURN t.byts AS b", "PROFILE MATCH (t:Transaction) RETURN t.kind"):
        found = asked(memory, text)
        assert isinstance(found, str)
        assert found == asked(memory, text, "arcadedb")
    assert memory.query("MATCH (u:Use) RETURN count(u) AS n").engine == "arcadedb"  # of all runs


@pytest.mark.slow
def test_a_large_graph_gives_the_same(memory: GraphStore, monkeypatch: pytest.MonkeyPatch) -> None:
    shapes = Path(__file__).with_name("shapes.cypher").read_text(encoding="utf-8").splitlines()
    texts = QUERIES + [line for line in shapes if not line.startswith("//") and "$b" not in line]
    before = {text: asked(memory, text) for text in texts}
    monkeypatch.setattr(LARGE, 0)
    engines: Counter[str] = Counter()
    for text, expected in before.items():
        assert asked(memory, text) == expected, text
        if not isinstance(expected, str):
            engines[memory.query(text, run="last").engine] += 1
    assert min(engines["ladybug"], engines["arcadedb"]) >= 20


def copied(source: GraphStore, target: GraphStore) -> None:
    run = source.load(source.resolve("last"))
    target.keep(run, source.load_topology(run.info["topology"]))


@pytest.mark.slow
def test_a_folder_gives_the_same(memory: GraphStore, tmp_path: Path) -> None:
    with open_store(tmp_path / "store") as folder:
        copied(memory, folder)
        for text in QUERIES:
            assert asked(folder, text) == asked(memory, text), text


@pytest.mark.neo4j
def test_neo4j_gives_the_same(memory: GraphStore, neo4j_url: str) -> None:
    differing = {}
    with open_store(neo4j_url) as server:
        copied(memory, server)
        run = memory.resolve("last")
        for text in QUERIES:
            found = asked(memory, text)
            try:
                result = server.query(text, run=run)
                other: Any = result.columns, rows(result, text)
            except QueryError as error:
                other = str(error)
            if isinstance(found, str) and isinstance(other, str):
                continue
            if found != other:
                differing[text] = found, other
        server.remove(run)
    assert differing == {}
