"""A text gives the same rows by every door: from a user's own file and as free Cypher, on every store.

The shapes are those that one of the engines answers wrongly; what is true is worked out from the records.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from kernbench_graph.errors import QueryError
from kernbench_graph.query.columns import columns_of
from kernbench_graph.records import RunRecord
from kernbench_graph.store import GraphStore

import kernbench as kb
from tests.conformance.conftest import NewStore
from tests.conformance.graph_records import sample

SENT = "MATCH (:Run {id: $run})-[:SENT]->(t:Transaction)"
USED = "MATCH (:Run {id: $run})-[:USED]->(u:Use)"
RUN, TOPOLOGY = sample()
HOPS = [(f"t{hop['txn']}", str(hop["resource"])) for hop in RUN.tables["Hop"].to_pylist()]
WAITS = sorted((use["wait_ns"], use["resource"]) for use in RUN.tables["Use"].to_pylist())


TYPES = dict.fromkeys(("kind", "label", "part"), "string") | {"ns": "float", "mean": "float", "same": "bool"}
"""Of columns that are not of whole numbers."""


def trails(least: int, most: int) -> int:
    """Walks along hops in either direction that begin at a transaction and take none of them twice."""

    def further(place: str, taken: frozenset[int]) -> int:
        found = int(least <= len(taken) <= most)
        if len(taken) < most:
            for number, ends in enumerate(HOPS):
                if number not in taken and place in ends:
                    found += further(ends[1 - ends.index(place)], taken | {number})
        return found

    return sum(further(start, frozenset()) for start in ("t0", "t1"))


SHAPES: dict[str, tuple[str, list[tuple[Any, ...]]]] = {
    "trails": (f"{SENT}-[:HOP*2..4]-(x) RETURN count(*) AS n", [(trails(2, 4),)]),
    "two-hops": (
        f"{SENT} WHERE t.number = 0 MATCH (t)-[a:HOP]->(x), (t)-[b:HOP]->(y) RETURN count(*) AS n",
        [(6 * 5,)],
    ),
    "list-index": (
        "MATCH (:Run {id: $run})-[:RAN_ON]->(:Topology)-[:CONTAINS*]->(c:Component) WITH c.kind AS kind "
        "ORDER BY kind WITH collect(kind) AS kinds RETURN kinds[1] AS kind",
        [("pe_dma",)],
    ),
    "sum-of-the-first": (
        f"{USED} WITH u ORDER BY u.wait_ns DESC, u.resource LIMIT 3 RETURN sum(u.wait_ns) AS ns",
        [(sum(ns for ns, _ in WAITS[-3:]),)],
    ),
    "contains-nothing": (f"{USED} WHERE u.resource CONTAINS '' RETURN count(u) AS n", [(len(WAITS),)]),
    "not-in-null": (f"{USED} WHERE NOT u.kind IN ['no', null] RETURN count(u) AS n", [(0,)]),
    "labels": (f"{USED} RETURN DISTINCT labels(u)[0] AS label", [("Use",)]),
    "substring": (f"{SENT} RETURN DISTINCT substring(t.kind, 4, 2) AS part", [("re",)]),
    "text-and-number": (f"{SENT} RETURN DISTINCT '1' = 1 AS same", [(False,)]),
    "another-case": (f"{SENT} WITH {{KIND: 1}} AS m RETURN DISTINCT m.KIND AS x", [(1,)]),
    "sum-beside-distinct": (
        f"{SENT} RETURN count(DISTINCT t.kind) AS kinds, sum(t.bytes) AS bytes",
        [(1, 512)],
    ),
    "path-of-nothing": (
        f"{SENT} OPTIONAL MATCH p = (t)-[:CAUSED_BY]->(c) RETURN t.number AS t, length(p) AS n ORDER BY t",
        [(0, None), (1, 1)],
    ),
}
OF_ALL = (
    "MATCH (r:Run)-[:USED]->(u:Use) WITH r, sum(u.bytes) AS bytes WITH avg(bytes) AS mean, "
    "sum(CASE WHEN r.id = $a OR r.id = $b THEN bytes ELSE 0 END) AS theirs RETURN mean, theirs"
)
NAMED = (
    "MATCH (r:Run)-[:USED]->(u:Use) WHERE r.id = $a OR r.id = $b WITH sum(u.bytes) AS theirs "
    "MATCH (o:Run)-[:USED]->(v:Use) WITH theirs, o, sum(v.bytes) AS bytes RETURN theirs, avg(bytes) AS mean"
)


def asked_by_file(
    folder: Path, text: str, scope: str, store: GraphStore, engine: str | None = None, **params: Any
) -> kb.Result:
    """The text as a question in a file of a folder of one's own."""
    content: dict[str, Any] = {
        "name": "own/one",
        "title": "What does this text give?",
        "scope": scope,
        "params": {name: {"type": "string", "help": "a run"} for name in params},
        "returns": [{"name": name, "type": TYPES.get(name, "int")} for name in columns_of(text) or ()],
        "cypher": text,
    }
    if engine:
        content["engine"] = engine
    place = folder / f"queries{len(list(folder.iterdir()))}"
    (place / "own").mkdir(parents=True)
    (place / "own" / "one.yaml").write_text(yaml.safe_dump(content), encoding="utf-8")
    return kb.ask("own/one", None, store, params, queries=(str(place),))


@pytest.fixture
def filled(new_store: NewStore) -> Iterator[GraphStore]:
    """A store with one run."""
    with new_store() as store:
        store.keep(*sample(id="a"))
        yield store


def test_a_users_file_and_free_cypher_give_what_is_true(filled: GraphStore, tmp_path: Path) -> None:
    for name, (text, expected) in SHAPES.items():
        free = kb.ask_cypher(text, "last", filled)
        own = asked_by_file(tmp_path, text, "run", filled)
        assert (free.columns, free.rows, free.engine) == (own.columns, own.rows, own.engine), name
        assert own.rows == expected, name
        assert own.engine == filled.engines[0] != "ladybug"


@pytest.mark.parametrize("text", [OF_ALL, NAMED])
def test_a_text_that_names_two_runs_sees_all_that_it_asks_about(
    text: str, new_store: NewStore, tmp_path: Path
) -> None:
    with new_store() as store:
        for number, name in enumerate("abc"):
            use = RUN.tables["Use"]
            more = use.set_column(
                use.column_names.index("bytes"), "bytes", [[100 * number + 1] * use.num_rows]
            )
            tables = {**RUN.tables, "Use": more.cast(use.schema)}
            store.keep(RunRecord({**RUN.info, "id": name}, tables), TOPOLOGY)
        each = [(100 * number + 1) * RUN.tables["Use"].num_rows for number in range(3)]
        expected = {"mean": sum(each) / 3, "theirs": each[0] + each[1]}
        free = kb.ask_cypher(text, None, store, {"a": "a", "b": "b"})
        own = asked_by_file(tmp_path, text, "history", store, a="a", b="b")
        assert free.dicts() == own.dicts() == [expected]


def test_a_file_that_names_the_other_engine_passes_its_check(tmp_path: Path) -> None:
    with kb.open_store("memory:") as store:
        store.keep(*sample(id="a"))
        plain = asked_by_file(tmp_path, f"{SENT} RETURN count(t) AS n", "run", store, "ladybug")
        assert (plain.rows, plain.engine) == ([(2,)], "ladybug")
        text, _ = SHAPES["substring"]
        with pytest.raises(QueryError, match="'ladybug' may answer wrongly"):
            asked_by_file(tmp_path, text, "run", store, "ladybug")


def test_without_the_better_engine_a_file_passes_the_check(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kernbench_graph.stores.arcade.process.is_installed", lambda: False)
    with kb.open_store("memory:") as store:
        store.keep(*sample(id="a"))
        for text in (SHAPES["contains-nothing"][0], SHAPES["trails"][0]):
            with pytest.raises(QueryError, match="'ladybug' may answer wrongly"):
                asked_by_file(tmp_path, text, "run", store)
        assert kb.ask("busiest-links", store=store, launch="run").engine == "ladybug"


def test_no_file_calls_itself_proved(tmp_path: Path) -> None:
    (tmp_path / "own").mkdir()
    content = {
        "name": "own/one",
        "title": "What is there to see?",
        "scope": "run",
        "proved": True,
        "returns": [{"name": "n", "type": "int"}],
        "cypher": f"{SENT} RETURN count(t) AS n",
    }
    (tmp_path / "own" / "one.yaml").write_text(yaml.safe_dump(content), encoding="utf-8")
    with kb.open_store("memory:") as store, pytest.raises(QueryError, match="no file can say so of itself"):
        kb.ask("own/one", store=store, queries=(str(tmp_path),))


def test_who_answered_is_said(cli: Callable[..., Any]) -> None:
    with kb.open_store(".kernbench") as store:
        store.keep(*sample(id="a"))
    count = f"{SENT} RETURN count(t) AS n"
    found = json.loads(cli("query", "a", "--cypher", count, "--format", "json").out)
    assert (found["engine"], found["rows"]) == ("arcadedb", [[2]])
    explained = cli("query", "a", "--cypher", count, "--explain")
    assert "arcadedb answers this" in explained.err
    assert explained.out.startswith("plan\n")
    assert "ladybug answers this" in cli("query", "transactions-by-kind", "--explain").err
