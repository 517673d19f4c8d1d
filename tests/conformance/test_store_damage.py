"""Damage on disk: a damaged record is refused by name, a damaged cache costs time only."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from kernbench_graph.archive import record as archive
from kernbench_graph.archive.atomic import clean_leftovers, new_folder
from kernbench_graph.errors import ArchiveError, RunNotFoundError, SchemaVersionError, StoreError
from kernbench_graph.opening import open_store
from kernbench_graph.records import RunRecord, TopologyRecord
from kernbench_graph.schema import SCHEMA, SCHEMA_VERSION
from kernbench_graph.stores.embedded.store import EmbeddedStore

from tests.conformance.graph_records import sample
from tests.processes import Process

COUNT = "MATCH (:Run {id: $run})-[:SENT]->(t:Transaction) RETURN count(t) AS n"
USED = "MATCH (r:Run)-[:USED]->(u:Use)-[:OF]->(l:Link) RETURN count(l) AS n"


@pytest.fixture(scope="module", autouse=True)
def without_arcadedb() -> Iterator[None]:
    """These are about the files of LadybugDB, which answers where there is no ArcadeDB."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("kernbench_graph.stores.embedded.base.engines", lambda: ("ladybug",))
        yield


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with runs ``a`` and ``b``, both cached."""
    path = tmp_path_factory.mktemp("built") / "store"
    store = open_store(path)
    for name in ("a", "b"):
        store.keep(*sample(id=name))
        for text in (COUNT, USED):
            store.query(text, run=name)
    store.query(USED)
    store.close()
    return path


@pytest.fixture
def root(built: Path, tmp_path: Path) -> Path:
    """A copy of it that a test may break."""
    return shutil.copytree(built, tmp_path / "store")


def reopen(root: Path) -> EmbeddedStore:
    store = open_store(root)
    assert isinstance(store, EmbeddedStore)
    return store


def truncate(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def flip(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 0xFF
    path.write_bytes(data)


def empty(path: Path) -> None:
    path.write_bytes(b"")


def garbage(path: Path) -> None:
    path.write_bytes(b"\x00\xff" * 4096)


@pytest.mark.daily(but=("truncate",))
@pytest.mark.parametrize("damage", [truncate, flip, empty, garbage, Path.unlink])
def test_a_damaged_table_is_named(root: Path, damage: Callable[[Path], object]) -> None:
    damage(root / "runs" / "a" / "Hop.parquet")
    store = reopen(root)
    tables = store.load("a").tables
    assert tables["Transaction"].num_rows == 2
    with pytest.raises(ArchiveError, match=r"runs/a/Hop\.parquet .*; restore it from a copy") as caught:
        _ = tables["Hop"]
    assert "\n" not in str(caught.value)
    assert store.load("b").tables["Hop"].num_rows == 12


@pytest.mark.daily("False-*", "True-Hop-*")
@pytest.mark.parametrize(
    ("table", "text"),
    [
        ("Hop", "-[:SENT]->(:Transaction)-[h:HOP]->(:Use) RETURN count(h) AS n"),
        ("Launch", "-[:LAUNCHED]->(l:Launch) RETURN count(l) AS n"),
        ("Race", "-[:FOUND]->(r:Race) RETURN count(r) AS n"),
        ("Access", "-[:HOLDS]->(:Tensor)<-[a:READ_FROM]-(:Op) RETURN count(a) AS n"),
    ],
)
@pytest.mark.parametrize("cached", [True, False])
def test_a_damaged_table_is_said_by_every_query_that_needs_it_and_harms_no_other(
    root: Path, table: str, text: str, cached: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not cached:
        monkeypatch.setattr("kernbench_graph.stores.embedded.cache.new_folder", full)
    shutil.rmtree(root / "cache")
    shutil.rmtree(root / "worked-out", ignore_errors=True)
    truncate(root / "runs" / "a" / f"{table}.parquet")
    store = reopen(root)
    runs = "MATCH (:Run {id: $run})"
    for _ in range(2):
        with pytest.raises(
            ArchiveError, match=rf"{table}\.parquet has .* bytes instead of .*: it is damaged"
        ):
            store.query(runs + text, run="a")
        tensors = f"{runs}-[:HOLDS]->(t:Tensor) RETURN count(t) AS n"
        assert store.query(tensors, run="a").rows == [(1,)]
        assert store.query(runs + text, run="b").rows[0][0] > 0
    assert not any(cached and "cannot be written" in note for note in store.notes)


def full(*_: object, **__: object) -> None:
    raise OSError(28, "No space left on device")


@pytest.mark.daily("truncate", "unlink")
@pytest.mark.parametrize("damage", [truncate, empty, garbage, Path.unlink])
def test_a_run_with_a_damaged_manifest_is_left_out_with_a_note(
    root: Path, damage: Callable[[Path], object]
) -> None:
    damage(root / "runs" / "b" / "manifest.json")
    store = reopen(root)
    assert [run["id"] for run in store.runs()] == ["a"]
    assert "run 'b' is left out" in store.notes[0]
    with pytest.raises(ArchiveError, match=r"manifest\.json .*; remove the folder or restore"):
        store.load("b")
    assert store.query(USED).rows == [(3,)]
    store.remove("b")
    assert not (root / "runs" / "b").exists()


@pytest.mark.parametrize("version", [0, 1, SCHEMA_VERSION + 1, str(SCHEMA_VERSION), None])
def test_another_schema_version_is_refused_by_name(root: Path, version: object) -> None:
    path = root / "runs" / "a" / "manifest.json"
    content = json.loads(path.read_text())
    path.write_text(json.dumps(content | {"schema_version": version}))
    store = reopen(root)
    known = f"2 or 3 or {SCHEMA_VERSION}"
    with pytest.raises(SchemaVersionError, match=f"schema version {version!r}, but .* reads version {known}"):
        store.load("a")
    with pytest.raises(SchemaVersionError):
        store.query(COUNT, run="a")
    assert [run["id"] for run in store.runs()] == ["b"]


def test_a_damaged_topology_is_named_and_healed_by_the_next_run_on_it(root: Path) -> None:
    truncate(root / "topologies" / "0123456789abcdef" / "Link.parquet")
    shutil.rmtree(root / "cache")
    store = reopen(root)
    with pytest.raises(ArchiveError, match=r"Link\.parquet"):
        store.query(USED, run="a")
    assert store.query("MATCH (r:Run) RETURN count(r) AS n").rows == [(2,)]
    store.keep(*sample(id="c"))
    assert store.query(USED, run="a").rows == [(3,)]


def entry(root: Path, name: str) -> Path:
    (place,) = (root / "cache").glob(f"{name}~*")
    return place


@pytest.mark.daily(
    "truncate-check.json-history",
    "empty-graph.lbdb-run-a",
    "flip-check.json-run-a",
    "garbage-graph.lbdb-history",
    "unlink-graph.lbdb-run-a",
)
@pytest.mark.parametrize("name", ["run-a", "history"])
@pytest.mark.parametrize("file", ["graph.lbdb", "check.json"])
@pytest.mark.parametrize("damage", [truncate, flip, empty, garbage, Path.unlink])
def test_a_damaged_cache_is_built_again(
    root: Path, name: str, file: str, damage: Callable[[Path], object]
) -> None:
    damage(entry(root, name) / file)
    store = reopen(root)
    assert store.query(USED, run="a" if name == "run-a" else None).rows == [(3 if name == "run-a" else 6,)]
    assert any("built again" in note for note in store.notes)
    store.close()
    again = reopen(root)
    assert again.query(USED, run="a" if name == "run-a" else None).rows == [(3 if name == "run-a" else 6,)]
    assert again.notes == []


def test_a_list_reads_the_manifests_that_changed_alone(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with reopen(root) as store:
        whole = store.runs()
        assert store.resolve("last") == "b"
    read: list[str] = []
    read_info = archive.read_info
    monkeypatch.setattr(archive, "read_info", lambda folder: (read.append(folder.name), read_info(folder))[1])
    for reads in (1, 4):  # to see that b is there; for both lists, too, once its tags have changed
        with reopen(root) as store:
            assert [store.runs(), store.resolve("last"), store.notes, read] == [whole, "b", [], ["b"] * reads]
            store.change_tags("b", add=["x"])
            whole[1] = {**whole[1], "tags": '["x"]'}
    (root / "cache" / "runs.json").write_text("[]")
    with reopen(root) as store:
        assert store.runs() == whole


def test_what_is_long_can_be_looked_at_once_the_store_is_closed(root: Path) -> None:
    run, topology = sample(id="c")
    with reopen(root) as store:
        store.keep(RunRecord({**run.info, "long": [1] * 1000}, run.tables), topology)
        *_, here = store.runs()
        *_, gone = store.runs()
    assert here["long"] == [1] * 1000
    shutil.rmtree(root / "runs" / "c")
    with pytest.raises(RunNotFoundError, match="no run 'c'"):
        gone["long"]


def test_a_missing_cache_is_built_without_a_word(root: Path) -> None:
    shutil.rmtree(root / "cache")
    store = reopen(root)
    assert store.query(COUNT, run="a").rows == [(2,)]
    assert store.notes == []
    assert entry(root, "run-a").is_dir()


@pytest.mark.parametrize(("engine", "kept"), [("ladybug", "history"), ("arcadedb", "history-*")])
def test_the_history_grows_by_new_runs_alone(
    root: Path, monkeypatch: pytest.MonkeyPatch, engine: str, kept: str
) -> None:
    """A copy of what is cached gets what it lacks; only the records of new runs are read.

    Tags are nodes of the graph: where those of a run in it were changed, it is no base.
    """
    monkeypatch.setattr("kernbench_graph.stores.embedded.base.engines", lambda: (engine,))
    read: list[str] = []
    read_run = archive.read_run

    def watched(folder: Path, topology: Any) -> object:
        read.append(folder.name)
        return read_run(folder, topology)

    store = reopen(root)

    def ask(text: str) -> list[tuple[Any, ...]]:
        return store.query(text, engine=engine).rows

    each = "MATCH (r:Run)-[:USED]->(p) RETURN r.id AS id, r.tags AS tags, count(p) AS n ORDER BY id"
    assert ask(each) == [(name, "[]", 7) for name in "ab"]
    store.keep(*sample(id="c"))
    run, topology = sample(id="d")
    store.keep(run, TopologyRecord("other", "other", "", topology.tables))
    old = entry(root, kept).name
    monkeypatch.setattr("kernbench_graph.archive.record.read_run", watched)
    assert ask(each) == [(name, "[]", 7) for name in "abcd"]
    assert sorted(read) == ["c", "d"]
    assert entry(root, kept).name != old
    assert ask("MATCH (p:Link) RETURN count(p) AS n") == [(12,)]  # of two topologies
    assert ask("MATCH (:Run)-[:USED]->(:Use)-[:OF]->(p:Link) RETURN count(DISTINCT p.id) AS n") == [(6,)]
    read.clear()
    store.change_tags("a", ["x"])
    assert ask(each) == [("a", '["x"]', 7), *((name, "[]", 7) for name in "bcd")]
    assert sorted(read) == ["a", "b", "c", "d"]
    read.clear()
    store.remove("b")  # what was taken away is no base
    assert ask(each) == [("a", '["x"]', 7), ("c", "[]", 7), ("d", "[]", 7)]
    assert sorted(read) == ["a", "c", "d"]
    assert store.notes == []


@pytest.mark.daily("truncate", "flip")
@pytest.mark.parametrize("damage", [truncate, flip, empty, garbage, Path.unlink])
def test_a_damaged_history_is_no_base(root: Path, damage: Callable[[Path], object]) -> None:
    place = entry(root, "history") / "graph.lbdb"
    damage(place)
    store = reopen(root)
    store.keep(*sample(id="c"))
    assert store.query(USED).rows == [(9,)]
    assert store.notes == []


def test_an_incomplete_history_is_no_base(root: Path) -> None:
    """A file that could not be read once may be readable again."""
    path = root / "runs" / "b" / "Use.parquet"
    whole = path.read_bytes()
    shutil.rmtree(root / "cache")
    truncate(path)
    store = reopen(root)
    assert store.query(USED).rows == [(3,)]
    assert "the history lacks the use of resources of run 'b'" in store.notes[0]
    path.write_bytes(whole)
    store.keep(*sample(id="c"))
    assert store.query(USED).rows == [(9,)]


def test_a_copied_store_keeps_its_cache_where_times_were_copied_too(root: Path, tmp_path: Path) -> None:
    for function, again in ((shutil.copy2, False), (shutil.copyfile, True)):
        copy = tmp_path / function.__name__
        shutil.copytree(root, copy, copy_function=function)
        before = (entry(copy, "run-a") / "graph.lbdb").stat().st_mtime_ns
        store = reopen(copy)
        assert store.query(COUNT, run="a").rows == [(2,)]
        assert ["was changed; it is built again" in note for note in store.notes] == [True] * again
        assert ((entry(copy, "run-a") / "graph.lbdb").stat().st_mtime_ns == before) is not again


def test_a_cache_of_another_run_does_not_pass(root: Path) -> None:
    """Sizes agree, but not the time of change."""
    mine, other = entry(root, "run-a"), entry(root, "run-b")
    shutil.copyfile(other / "graph.lbdb", mine / "graph.lbdb")
    store = reopen(root)
    assert store.query("MATCH (r:Run {id: $run}) RETURN r.id AS id", run="a").rows == [("a",)]


def test_a_stale_cache_goes(root: Path) -> None:
    old = entry(root, "run-a")
    store = reopen(root)
    store.change_tags("a", ["new"])
    assert store.query("MATCH (r:Run) RETURN r.tags AS t", run="a").rows == [('["new"]',)]
    assert entry(root, "run-a") != old
    store.remove("a")
    assert [path.name for path in (root / "cache").iterdir() if path.name.startswith("run-a")] == []


def test_a_cache_that_cannot_be_written_is_bypassed(root: Path) -> None:
    shutil.rmtree(root / "cache")
    (root / "cache").write_text("in the way")
    store = reopen(root)
    assert store.query(COUNT, run="a").rows == [(2,)]
    assert store.query(USED).rows == [(6,)]
    assert all("built in memory" in note for note in store.notes)
    assert len(store.notes) == 2


HOLD = """
import sys, ladybug
database = ladybug.Database(sys.argv[1])
connection = ladybug.Connection(database)
connection.execute("BEGIN TRANSACTION")
connection.execute("CREATE (:Run {id: 'other'})")
print("held", flush=True)
sys.stdin.read()
"""


def test_a_cache_held_by_another_program_does_no_harm(root: Path) -> None:
    """Somebody opened the file for writing: it is read, built again or bypassed, and never an error."""
    path = entry(root, "run-a") / "graph.lbdb"
    command = [sys.executable, "-c", HOLD, str(path)]
    with Process(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        assert reopen(root).query(COUNT, run="a").rows == [(2,)]
        holder.communicate("")
    assert reopen(root).query("MATCH (r:Run {id: $run}) RETURN r.id AS id", run="a").rows == [("a",)]


KEEP = """
import sys
from kernbench_graph.opening import open_store
from tests.conformance.graph_records import sample
seed = sys.argv[2]
open_store(sys.argv[1]).keep(*sample(id="same", started_at=seed, host=seed, wall_s=float(seed)))
"""


@pytest.mark.slow
def test_equal_runs_give_equal_files_in_every_process(tmp_path: Path) -> None:
    for seed in ("1", "2"):
        environment = {
            **os.environ,
            "PYTHONHASHSEED": seed,
            "PYTHONPATH": os.pathsep.join(
                [str(Path(__file__).parents[2]), str(Path(__file__).parents[2] / "graph")]
            ),
        }
        subprocess.run([sys.executable, "-c", KEEP, str(tmp_path / seed), seed], env=environment, check=True)
    first, second = (tmp_path / seed / "runs" / "same" for seed in ("1", "2"))
    names = sorted(path.name for path in first.iterdir())
    there = sample()[0].tables
    wanted = [entry for entry in SCHEMA.record_tables("run") if entry.name in there or not entry.optional]
    assert len(names) == 1 + len(wanted)
    for name in names:
        if name == "manifest.json":
            one, two = (json.loads((folder / name).read_text()) for folder in (first, second))
            assert all(one.pop(key) != two.pop(key) for key in ("wall", "sha256"))
            assert one == two
        else:
            assert (first / name).read_bytes() == (second / name).read_bytes(), name


def test_a_failed_write_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_space(*_: object) -> None:
        raise OSError(28, "No space left on device")

    store = reopen(tmp_path / "store")
    monkeypatch.setattr("kernbench_graph.archive.record._write_manifest", no_space)
    with pytest.raises(StoreError, match="No space left on device"):
        store.keep(*sample(id="a"))
    assert [path for path in (tmp_path / "store").rglob("*") if path.is_file()] == []


@pytest.mark.parametrize(
    "death",
    [
        "atomic._lock = die",
        "atomic.sync = die",
        "os.rename = die",
        "",
    ],
    ids=["not yet locked", "on its way to the disk", "not yet renamed", "half filled"],
)
def test_what_a_dead_writer_left_goes_and_a_live_one_is_left_alone(tmp_path: Path, death: str) -> None:
    script = "import os, sys; from pathlib import Path; from kernbench_graph.archive import atomic\n"
    script += f"def die(*_): os._exit(9)\n{death}\n"
    script += "with atomic.new_folder(Path(sys.argv[1])) as f:\n    (f / 'half').write_text('x')\n"
    place = tmp_path / "runs" / "dead"
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(
            [str(Path(__file__).parents[2]), str(Path(__file__).parents[2] / "graph")]
        ),
    }
    script += "    die()" if not death else ""
    ended = subprocess.run([sys.executable, "-c", script, str(place)], env=environment, check=False)
    assert ended.returncode == 9
    (left,) = place.parent.iterdir()
    assert not place.exists()
    with new_folder(tmp_path / "runs" / "alive") as alive:
        (alive / "half").write_text("x")
        assert clean_leftovers(place.parent) == 1
        assert (left.exists(), alive.exists()) == (False, True)
    assert (tmp_path / "runs" / "alive" / "half").read_text() == "x"
    assert clean_leftovers(place.parent) == 0


def test_without_locks_age_tells_a_dead_writer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_locks(*_: object) -> None:
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr("kernbench_graph.archive.atomic.fcntl.flock", no_locks)
    with new_folder(tmp_path / "runs" / "whole") as alive:
        assert clean_leftovers(alive.parent) == 0
        os.utime(alive, (0, 0))
        assert clean_leftovers(alive.parent) == 1
        alive.mkdir()
    assert (tmp_path / "runs" / "whole").is_dir()


@pytest.mark.slow
def test_writers_begin_while_cleaners_clean(tmp_path: Path) -> None:
    ended = threading.Event()

    def clean() -> int:
        removed = 0
        while not ended.is_set():
            removed += clean_leftovers(tmp_path)
        return removed

    def write(writer: int) -> None:
        for number in range(100):
            with new_folder(tmp_path / f"{writer}-{number}", durable=False) as folder:
                (folder / "whole").write_text("x")

    with ThreadPoolExecutor(8) as pool:
        cleaners = [pool.submit(clean) for _ in range(4)]
        writers = [pool.submit(write, writer) for writer in range(4)]
        try:
            for done in writers:
                done.result()
        finally:
            ended.set()
        taken = sum(cleaner.result() for cleaner in cleaners)
    assert len(list(tmp_path.glob("*/whole"))) == 400
    assert len(list(tmp_path.iterdir())) == 400, f"{taken} folders were taken from their writers"
