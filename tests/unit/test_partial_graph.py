"""The graph of a small run, as far as the library's questions have asked for it."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from kernbench_graph.stores.embedded import part, run_graphs
from kernbench_graph.stores.embedded.needs import needed

import kernbench as kb
from kernbench.pgraph import GraphStore
from tests.compiled import compiled
from tests.unit.test_enough import COUNTED, HOPS, IN_SPAN, SENT, THEIRS, WAITS

ALL = needed("MATCH (n) RETURN n")


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[GraphStore]:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    monkeypatch.setattr(run_graphs, "FIRST_TEXTS", 0)  # which do not need this graph
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


def test_hops_are_added_a_resource_at_a_time_and_each_once(store: GraphStore) -> None:
    run = kb.run("qkv-gemm", compiled("minimal"), store=store, check=False)
    hops = [(str(hop["resource"]), int(hop["bytes"])) for hop in run.tables["Hop"].to_pylist()]
    first, second = sorted({place for place, _ in hops})[:2]
    at_one = HOPS + "WHERE u.resource = $at RETURN count(h) AS n, coalesce(sum(h.bytes), 0) AS bytes"
    at_all = HOPS + "RETURN count(h) AS n, coalesce(sum(h.bytes), 0) AS bytes"

    def asked(text: str, place: str = "") -> list[tuple[object, ...]]:
        return store.query(text, {"at": place} if place else {}, run.id, engine="ladybug", proved=True).rows

    def there(*places: str) -> list[tuple[int, int]]:
        found = [moved for place, moved in hops if place in places or not places]
        return [(len(found), sum(found))]

    for place in (first, second, first, "nowhere"):
        expected = there(place)
        assert asked(at_one, place) == expected
        assert (expected[0][0] > 0) == (place != "nowhere")
    assert asked(at_all) == there()
    for place in (second, sorted({place for place, _ in hops})[2]):
        assert asked(at_one, place) == there(place)


def test_hops_between_two_resources_are_added_each_once(store: GraphStore) -> None:
    run = kb.run("qkv-gemm", compiled("minimal"), store=store, check=False)
    hops, sent = run.tables["Hop"].to_pylist(), run.tables["Transaction"].to_pylist()
    pairs = sorted({(str(one["src"]), str(one["dst"])) for one in sent})

    def there(pair: tuple[str, str]) -> list[tuple[int, int]]:
        numbers = {one["number"] for one in sent if (one["src"], one["dst"]) == pair}
        found = [int(hop["bytes"]) for hop in hops if hop["txn"] in numbers]
        return [(len(found), sum(found))]

    for pair in (pairs[0], pairs[1], pairs[0], ("nowhere", "at all")):
        asked = store.query(
            SENT + "WITH f " + THEIRS, {"at": pair[0], "to": pair[1]}, run.id, engine="ladybug", proved=True
        )
        assert asked.rows == there(pair)
        assert (asked.rows[0][0] > 0) == (pair != ("nowhere", "at all"))
    place = str(hops[0]["resource"])
    at_one = HOPS + "WHERE u.resource = $at RETURN count(h) AS n"
    expected = [(sum(hop["resource"] == place for hop in hops),)]
    assert store.query(at_one, {"at": place}, run.id, engine="ladybug", proved=True).rows == expected
    everywhere = store.query(HOPS + "RETURN count(h) AS n", {}, run.id, engine="ladybug", proved=True)
    assert everywhere.rows == [(len(hops),)]


def test_waits_are_added_a_window_at_a_time_and_each_once(store: GraphStore) -> None:
    run = kb.run("qkv-gemm", compiled("minimal"), store=store, check=False)
    waits = [(float(wait["t_from"]), int(wait["seq"])) for wait in run.tables["WaitedFor"].to_pylist()]
    times = sorted({begun for begun, _ in waits})
    quarter, half = times[len(times) // 4], times[len(times) // 2]
    ever = times[-1] + 1.0

    def asked(*spans: tuple[float, float]) -> list[tuple[object, ...]]:
        given = {"spans": [{"begin": begin, "until": until} for begin, until in spans]}
        return store.query(WAITS + IN_SPAN + COUNTED, given, run.id, engine="ladybug", proved=True).rows

    def there(*spans: tuple[float, float]) -> list[tuple[int, int]]:
        found = [seq for begun, seq in waits for begin, until in spans if begin <= begun < until]
        return [(len(found), sum(found))]

    two = ((0.0, quarter), (half, ever))
    for spans in (((quarter, half),), two, ((0.0, half),), ((0.0, ever),), two):
        expected = there(*spans)
        assert asked(*spans) == expected
        assert expected[0][0] > 0
    pattern = "MATCH (:Run {id: $run})-[:SENT]->(:Transaction)-[w:WAITED_FOR]->(:Transaction) "
    assert store.query(pattern + COUNTED, {}, run.id, engine="ladybug", proved=True).rows == there(
        (0.0, ever)
    )


def test_a_question_that_needs_too_many_rows_has_the_whole_graph_made(
    store: GraphStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = kb.run("qkv-gemm", compiled("minimal"), store=store, check=False)
    hops = run.tables["Hop"].num_rows
    monkeypatch.setattr(part, "MOST_ROWS", hops - 1)

    def kept() -> set[str]:
        return {path.name.partition("~")[0] for path in (tmp_path / "store" / "cache").iterdir()}

    place = str(run.tables["Hop"]["resource"][0])
    assert run.query("bottleneck/queue-depth", resource=place).rows
    assert f"run-{run.id}" not in kept()
    counted = store.query(HOPS + "RETURN count(h) AS n", {}, run.id, engine="ladybug", proved=True).rows
    assert counted == [(hops,)]
    assert f"run-{run.id}" in kept()
    assert list((tmp_path / "temporary").iterdir()) == []
    assert run.query("bottleneck/queue-depth", resource=place).rows


def test_a_question_of_a_small_run_leaves_the_topology_alone_in_the_cache(
    store: GraphStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = kb.run("qkv-gemm", compiled("minimal"), store=store, check=False)
    names = ("contention/waits-by-resource", "kernel/tensor-traffic", "bottleneck/transactions-by-kind")
    found = [run.query(name).rows for name in names]
    counted = store.query("MATCH (n) RETURN count(*) AS n", {}, run.id, engine="ladybug", proved=True).rows
    cached = {
        path.name.partition("~")[0] for path in (tmp_path / "store" / "cache").iterdir() if path.is_dir()
    }
    assert cached == {"topology"}
    assert len(list((tmp_path / "temporary").iterdir())) == 1
    store.close()
    assert list((tmp_path / "temporary").iterdir()) == []
    monkeypatch.setattr(part, "MOST_ROWS", -1)
    with kb.open_store(tmp_path / "store") as whole:
        assert [kb.ask(name, run.id, whole).rows for name in names] == found
        assert (
            whole.query("MATCH (n) RETURN count(*) AS n", {}, run.id, engine="ladybug", proved=True).rows
            == counted
        )
        cached = {path.name.partition("~")[0] for path in (tmp_path / "store" / "cache").iterdir()}
        assert f"run-{run.id}" in cached
        assert list((tmp_path / "temporary").iterdir()) == []


def test_a_wrong_query_harms_none_after_it(store: GraphStore) -> None:
    run = kb.run("gemm-single-pe", compiled("minimal"), store=store, check=False)
    with pytest.raises(kb.KernBenchError):
        store.query(
            "MATCH (:Run)-[:SENT]->(t:Transaction) RETURN t.nothing",
            {},
            run.id,
            engine="ladybug",
            proved=True,
        )
    text = "MATCH (:Run)-[:SENT]->(t:Transaction) RETURN count(t) AS n"
    assert store.query(text, {}, run.id, engine="ladybug", proved=True).rows == [
        (run.tables["Transaction"].num_rows,)
    ]


def test_without_a_place_to_write_the_question_is_answered(
    store: GraphStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = kb.run("gemm-single-pe", compiled("minimal"), store=store, check=False)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "nowhere"))
    assert run.query("bottleneck/transactions-by-kind").rows
