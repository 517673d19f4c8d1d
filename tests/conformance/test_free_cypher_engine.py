"""ArcadeDB behind free Cypher: a process of its own, its databases cached, nothing of it seen."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from kernbench_graph.errors import QueryError, QueryTimeoutError
from kernbench_graph.opening import open_store
from kernbench_graph.query.limits import DEEPEST
from kernbench_graph.stores.arcade import process as arcade
from kernbench_graph.stores.embedded.store import EmbeddedStore

from tests.conformance.graph_records import sample

COUNT = "MATCH (t:Transaction) RETURN count(t) AS n"
HOPS = "MATCH (:Run {id: $run})-[:SENT]->(t)-[h:HOP]->() RETURN t.number AS t, count(h) AS n ORDER BY t"
SLOW = """UNWIND range(1, 4000) AS a UNWIND range(1, 4000) AS b UNWIND range(1, 4000) AS c
          WITH a, b, c WHERE (a * b) % 7 = c % 5 RETURN sum(a % 3) AS n"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A store with one run, whose graph for free Cypher is cached."""
    with open_store(tmp_path / "store") as store:
        store.keep(*sample(id="a"))
        assert store.query(HOPS, run="a").rows == [(0, 6), (1, 6)]
    return tmp_path / "store"


def entry(root: Path) -> Path:
    (found,) = (root / "cache").glob("free-a~*")
    return found


def reopened(root: Path) -> EmbeddedStore:
    store = open_store(root)
    assert isinstance(store, EmbeddedStore)
    return store


def test_it_is_the_default() -> None:
    with open_store("memory:") as store:
        assert store.engines == ("arcadedb", "ladybug")
        with pytest.raises(QueryError, match="no engine 'kuzu'; it has arcadedb and ladybug"):
            store.query("RETURN 1 AS x", engine="kuzu")


NESTED = (
    ("(", ")"),
    ("abs(", ")"),
    ("1 + (", ")"),
    ("[", "]"),
    ("{a: ", "}"),
    ("CASE WHEN true THEN ", " ELSE 0 END"),
)


@pytest.mark.parametrize(("engine", "shapes"), [("arcadedb", NESTED), ("ladybug", NESTED[:3])])
def test_what_is_as_deep_as_may_be_is_answered(engine: str, shapes: tuple[tuple[str, str], ...]) -> None:
    with open_store("memory:") as store:
        store.keep(*sample(id="a"))
        for before, after in shapes:
            text = f"RETURN {before * DEEPEST}1{after * DEEPEST} AS x"
            (row,) = store.query(text, run="a", engine=engine).rows
            assert str(row[0]).strip("[]{}a: '") == ("51" if "+" in before else "1")


def test_it_is_built_once(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kernbench_graph.stores.arcade.loading.project", None)
    with reopened(root) as store:
        assert store.query(HOPS, run="a").rows == [(0, 6), (1, 6)]
        assert store.notes == []
    assert [path.name.partition("~")[0] for path in (root / "cache").iterdir()] == ["free-a"]


def records(place: Path) -> Path:
    (file,) = (place / "graph.arcadedb").glob("Transaction_0.*.bucket")
    return file


@pytest.mark.parametrize(
    "damage",
    [
        lambda place: (place / "check.json").unlink(),
        lambda place: (place / "graph.json").write_text("{"),
        lambda place: os.truncate(records(place), 100),
        lambda place: records(place).unlink(),
        lambda place: (place / "graph.arcadedb" / "schema.json").write_text("nonsense"),
    ],
    ids=["no-check", "no-names", "truncated", "unlinked", "schema"],
)
def test_a_damaged_database_is_built_again(root: Path, damage: Callable[[Path], object]) -> None:
    damage(entry(root))
    with reopened(root) as store:
        assert store.query(HOPS, run="a").rows == [(0, 6), (1, 6)]
        assert [note for note in store.notes if "built again" in note]
    with reopened(root) as store:
        assert store.query(COUNT, run="a").rows == [(2,)]
        assert store.notes == []


def test_another_version_builds_its_own(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = entry(root)
    monkeypatch.setattr("kernbench_graph.stores.arcade.files.engine_version", lambda: "99")
    with reopened(root) as store:
        assert store.query(COUNT, run="a").rows == [(2,)]
        assert entry(root) != before
        store.remove("a")
        assert not list((root / "cache").glob("free-a~*"))


def test_a_cache_that_cannot_be_written_is_bypassed(root: Path) -> None:
    (root / "cache").rename(root / "was")
    (root / "cache").write_text("in the way")
    with reopened(root) as store:
        assert store.query(COUNT, run="a").rows == [(2,)]
        (note,) = store.notes
        assert "the graph is built in memory" in note


def test_the_cache_is_bounded(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KERNBENCH_CACHE_MB", "0")
    with reopened(root) as store:
        store.keep(*sample(id="b"))
        assert store.query(COUNT, run="b").rows == [(2,)]
    assert [path.name.partition("~")[0] for path in (root / "cache").glob("free*")] == ["free-b"]


def test_a_folder_may_be_named_from_another_place(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The process of the store before, kept for the next, works where it was started."""
    for place in ("one", "two"):
        (root.parent / place).mkdir()
        monkeypatch.chdir(root.parent / place)
        with open_store("store") as store:
            store.keep(*sample(id="a"))
            assert store.query(COUNT, run="a").rows == [(2,)]
            assert store.notes == []
        assert entry(Path("store")).is_dir()


@pytest.mark.slow
def test_two_stores_read_one_database(root: Path) -> None:
    with reopened(root) as one, reopened(root) as two:
        for store in (one, two, one):
            assert store.query(COUNT, run="a").rows == [(2,)]
            assert store.notes == []


@pytest.mark.slow
def test_nothing_is_printed(root: Path, capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    for idle in arcade._idle:
        idle.stop()
    arcade._idle.clear()
    with reopened(root) as store:
        store.keep(*sample(id="b"))
        for run in ("a", "b"):
            assert store.query(COUNT, run=run).rows == [(2,)]
        with pytest.raises(QueryError):
            store.query("MATCH (t:Transaction RETURN t", run="a")
    assert capfd.readouterr() == ("", "")
    assert os.listdir(tmp_path) == ["store"]


@pytest.fixture
def asked(root: Path) -> EmbeddedStore:
    store = reopened(root)
    assert store.query(COUNT, run="a").rows == [(2,)]
    return store


def test_a_process_that_dies_is_replaced(asked: EmbeddedStore) -> None:
    with asked:
        for process in list(arcade._all):
            if process._process is not None:
                process._process.kill()
                process._process.wait()
        assert asked.query(COUNT, run="a").rows == [(2,)]


@pytest.mark.daily("1-True")
@pytest.mark.parametrize(("crashes", "is_answered"), [(1, True), (2, False)])
def test_a_query_is_asked_again_after_one_crash(
    asked: EmbeddedStore, monkeypatch: pytest.MonkeyPatch, crashes: int, is_answered: bool
) -> None:
    ask = arcade.ArcadeProcess.ask
    left = crashes

    def crash(self: arcade.ArcadeProcess, *request: object, timeout_s: float | None = None) -> object:
        nonlocal left
        if request[0] == "query" and left:
            left -= 1
            assert self._process is not None
            self._process.kill()
            self._process.wait()
        return ask(self, *request, timeout_s=timeout_s)

    monkeypatch.setattr(arcade.ArcadeProcess, "ask", crash)
    with asked:
        if is_answered:
            assert asked.query(COUNT, run="a").rows == [(2,)]
        else:
            with pytest.raises(arcade.ArcadeEndedError, match="has ended"):
                asked.query(COUNT, run="a")


def test_a_fork_asks_on_its_own(asked: EmbeddedStore) -> None:
    with asked:
        child = os.fork()
        if child == 0:
            try:
                os._exit(0 if asked.query(COUNT, run="a").rows == [(2,)] else 1)
            except BaseException:
                os._exit(2)
        assert asked.query(HOPS, run="a").rows == [(0, 6), (1, 6)]
        assert os.waitpid(child, 0)[1] == 0
        assert asked.query(COUNT, run="a").rows == [(2,)]


@pytest.mark.slow
def test_threads_ask_one_database(asked: EmbeddedStore) -> None:
    found: list[object] = []
    with asked:
        threads = [
            threading.Thread(target=lambda: found.append(asked.query(COUNT, run="a").rows)) for _ in range(4)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert found == [[(2,)]] * 4


def test_ctrl_c_ends_a_query(asked: EmbeddedStore) -> None:
    with asked:
        asked.query(COUNT, run="a")  # so that it is the query that is interrupted, not the opening
        timer = threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT))
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            asked.query(SLOW, run="a", timeout_s=20.0)
        timer.join()
        assert asked.query(COUNT, run="a").rows == [(2,)]


def test_a_history_that_takes_too_long_is_stopped(root: Path) -> None:
    with reopened(root) as store, pytest.raises(QueryTimeoutError, match="allow more time"):
        store.query(SLOW, timeout_s=0.1)


def test_progress_is_reported(tmp_path: Path) -> None:
    seen: list[tuple[int, int]] = []
    with open_store(tmp_path / "store") as store:
        store.keep(*sample(id="a"))
        store.progress = lambda done, total: seen.append((done, total))
        store.query(COUNT, run="a")
    assert seen == sorted(seen)
    assert seen[-1][0] == seen[-1][1] > 0


def test_without_it_the_other_engine_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kernbench_graph.stores.arcade.process.is_installed", lambda: False)
    with open_store("memory:") as store:
        store.keep(*sample(id="a"))
        assert store.engines == ("ladybug",)
        assert store.query(COUNT, run="a").rows == [(2,)]
        with pytest.raises(QueryError, match="no engine 'arcadedb'"):
            store.query(COUNT, run="a", engine="arcadedb")


MISTAKES = {
    "MATCH (t:Transation) RETURN t": "no label 'Transation' in this graph; did you mean 'Transaction'",
    "MATCH ()-[h:HOPS]->() RETURN h": "no relationship type 'HOPS' in this graph; did you mean 'HOP'",
    "MATCH (t:Transaction) RETURN t.byts": "has a property 'byts'; did you mean 'bytes'",
    "MATCH (t:Transaction {byts: 3}) RETURN t": "has a property 'byts'; did you mean 'bytes'",
    "MATCH (t) WHERE t:Transation RETURN t": "no label or relationship type 'Transation'",
    "MATCH (t:Transaction) RETURN t{.byts}": "has a property 'byts'",
}


def test_a_name_that_nothing_has_is_an_error(root: Path) -> None:
    with reopened(root) as store:
        for text, message in MISTAKES.items():
            with pytest.raises(QueryError, match=message):
                store.query(text, run="a")


GOOD = (
    "MATCH (c:Component:Router) RETURN c.row AS row, c.note AS note",
    "WITH {byts: 3} AS m RETURN m.byts AS x",
    "UNWIND $rows AS r RETURN r.foo AS foo",
    "MATCH (t) WHERE t:Transaction OR t:Op RETURN count(t) AS n",
    "MATCH (a)-[r:OF|HOP]->(b:Link|Component) RETURN DISTINCT type(r) AS t",
    "MATCH (t:Transaction) RETURN t{.number, twice: t.number * 2} AS m",
    "MATCH (t:Transaction) CALL (t) { MATCH (t)-[h:HOP]->(:Use) RETURN count(h) AS n } RETURN n",
    "MATCH (t:Transaction) WHERE EXISTS { (t)-[:FROM]->(:Use {resource: 'dma'}) } RETURN t.kind AS k",
)


def test_names_that_are_there_are_no_mistakes(root: Path) -> None:
    with reopened(root) as store:
        for text in GOOD:
            assert store.query(text, {"rows": [{"foo": 1}]}, run="a").rows, text
        assert store.notes == []


def test_a_property_that_the_label_lacks_is_remarked(root: Path) -> None:
    with reopened(root) as store:
        assert store.query("MATCH (r:Run) RETURN r.mm AS x", run="a").rows == [(None,)]
        assert "no Run has a property 'mm', so it is null" in store.notes[0]
