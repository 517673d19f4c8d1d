"""The graph of a small run, as far as the library's questions have asked for it."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from kernbench_graph.stores.embedded import part
from kernbench_graph.stores.embedded.part import needed

import kernbench as kb
from kernbench.pgraph import LIBRARY, GraphStore
from tests.compiled import compiled

ALL = needed("MATCH (n) RETURN n")


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[GraphStore]:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    with kb.open_store(tmp_path / "store") as store:
        yield store


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("MATCH (:Run {id: $run})-[:SENT]->(t) RETURN count(t) AS n", {"Run", "SENT", "Transaction"}),
        ("MATCH (r:Run) MATCH (r)-[w:LAUNCHED]->() RETURN w", {"Run", "LAUNCHED", "Launch"}),
        ("MATCH (c:Component) RETURN c", set()),
        ("MATCH (c:Component)<-[:OF]-(u) WHERE (u.bytes > 1) RETURN sum(u.bytes)", {"Use", "OF"}),
        ("MATCH (n) WHERE n.id = $run RETURN n", ALL),
        ("MATCH (:Run), (n {id: $run}) RETURN n", ALL),
        ("MATCH (a:Op)-[x]->(b:Op) RETURN x", ALL),
        ("MATCH (a:Op)-->(b:Op) RETURN a", ALL),
        ("MATCH (a:Op) OPTIONAL MATCH (b) RETURN b", ALL),
    ],
)
def test_what_a_query_needs(text: str, names: set[str]) -> None:
    assert needed(text) == names


def test_a_question_of_a_small_run_leaves_the_topology_alone_in_the_cache(
    store: GraphStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = kb.run("qkv-gemm", compiled("minimal"), store=store, check=False)
    names = ("contention/waits-by-resource", "kernel/tensor-traffic", "bottleneck/transactions-by-kind")
    found = [run.query(name).rows for name in names]
    counted = store.query("MATCH (n) RETURN count(*) AS n", {}, run.id, engine=LIBRARY).rows
    cached = {
        path.name.partition("~")[0] for path in (tmp_path / "store" / "cache").iterdir() if path.is_dir()
    }
    assert cached == {"topology"}
    assert len(list((tmp_path / "temporary").iterdir())) == 1
    store.close()
    assert list((tmp_path / "temporary").iterdir()) == []
    monkeypatch.setattr(part, "SMALL_HOPS", -1)
    with kb.open_store(tmp_path / "store") as whole:
        assert [kb.ask(name, run.id, whole).rows for name in names] == found
        assert whole.query("MATCH (n) RETURN count(*) AS n", {}, run.id, engine=LIBRARY).rows == counted
        cached = {path.name.partition("~")[0] for path in (tmp_path / "store" / "cache").iterdir()}
        assert f"run-{run.id}" in cached
        assert list((tmp_path / "temporary").iterdir()) == []


def test_a_wrong_query_harms_none_after_it(store: GraphStore) -> None:
    run = kb.run("gemm-single-pe", compiled("minimal"), store=store, check=False)
    with pytest.raises(kb.KernBenchError):
        store.query("MATCH (:Run)-[:SENT]->(t:Transaction) RETURN t.nothing", {}, run.id, engine=LIBRARY)
    text = "MATCH (:Run)-[:SENT]->(t:Transaction) RETURN count(t) AS n"
    assert store.query(text, {}, run.id, engine=LIBRARY).rows == [(run.tables["Transaction"].num_rows,)]


def test_without_a_place_to_write_the_question_is_answered(
    store: GraphStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = kb.run("gemm-single-pe", compiled("minimal"), store=store, check=False)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "nowhere"))
    assert run.query("bottleneck/transactions-by-kind").rows
