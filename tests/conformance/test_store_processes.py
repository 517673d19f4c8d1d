"""One process writes while others read: they see whole runs only, and all of them in the end."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from kernbench_graph.archive.atomic import shared
from kernbench_graph.errors import StoreError
from kernbench_graph.opening import open_store

from tests.conformance.graph_records import sample
from tests.processes import Process

ROOT = Path(__file__).parents[2]
RUNS = 8

WRITER = """
import sys
from kernbench_graph.opening import open_store
from tests.conformance.graph_records import sample
store = open_store(sys.argv[1])
for number in range(int(sys.argv[2])):
    store.keep(*sample(id=f"{sys.argv[3]}{number:03}"))
"""
READER = """
import sys, time
from kernbench_graph.opening import open_store
store = open_store(sys.argv[1])
seen, end = 0, time.monotonic() + 60
while seen < int(sys.argv[2]) and time.monotonic() < end:
    ids = [run["id"] for run in store.runs()]
    assert len(ids) >= seen, "a run vanished"
    seen = len(ids)
    if ids:
        record = store.load(store.resolve("last"))
        assert [record.tables[name].num_rows for name in ("Transaction", "Hop", "Use")] == [2, 12, 7]
        hops = "MATCH (:Run {id: $run})-[:SENT]->()-[h:HOP]->() RETURN count(h) AS n"
        rows = store.query(hops, run=ids[-1]).rows
        assert rows == [(12,)], rows
        text = "MATCH (r:Run)-[:USED]->(:Use)-[:OF]->(l:Link) RETURN count(DISTINCT r.id) AS n"
        (count,) = store.query(text).rows[0]
        assert count >= seen, (count, seen)
assert seen == int(sys.argv[2]), seen
assert store.notes == [], store.notes
"""
COMER = """
import sys
from kernbench_graph.opening import open_store
from tests.conformance.graph_records import sample
store = open_store(sys.argv[1])
for number in range(int(sys.argv[2])):
    name = f"{sys.argv[3]}{number:03}"
    store.keep(*sample(id=name))
    assert store.load_topology(store.load(name).info["topology"]).tables["Link"].num_rows == 6
    if number + 1 < int(sys.argv[2]):
        store.remove(name)
assert store.notes == [], store.notes
"""
KILLED = """
import sys
from kernbench_graph.archive import record as archive
from kernbench_graph.opening import open_store
from tests.conformance.graph_records import sample
import os
archive._write_manifest = lambda *_: os.kill(os.getpid(), 9)
open_store(sys.argv[1]).keep(*sample(id="killed"))
"""


def start(script: str, *arguments: object) -> Process:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "graph")])}
    command = [sys.executable, "-c", script, *map(str, arguments)]
    return Process(command, env=environment, stderr=subprocess.PIPE, text=True)


@pytest.mark.slow
def test_readers_see_whole_runs_while_one_writes(tmp_path: Path) -> None:
    readers = [start(READER, tmp_path / "store", RUNS) for _ in range(2)]
    writer = start(WRITER, tmp_path / "store", RUNS, "r")
    for process in (writer, *readers):
        _, errors = process.communicate(timeout=120)
        assert (process.returncode, errors) == (0, "")


def test_two_writers_of_the_same_topology_do_not_meet(tmp_path: Path) -> None:
    writers = [start(WRITER, tmp_path / "store", 4, name) for name in ("x", "y")]
    for process in writers:
        _, errors = process.communicate(timeout=120)
        assert (process.returncode, errors) == (0, "")
    assert len(list((tmp_path / "store" / "runs").iterdir())) == 8


@pytest.mark.parametrize("kind", ["embedded", pytest.param("neo4j", marks=pytest.mark.neo4j)])
@pytest.mark.slow
def test_a_topology_is_not_removed_from_under_a_run_that_is_being_kept(
    tmp_path: Path, kind: str, request: pytest.FixtureRequest
) -> None:
    """Two processes keep and remove runs on one topology: the last run to go takes it along."""
    url = str(tmp_path / "store") if kind == "embedded" else request.getfixturevalue("neo4j_url")
    for process in [start(COMER, url, 12, name) for name in ("x", "y")]:
        _, errors = process.communicate(timeout=240)
        assert (process.returncode, errors) == (0, "")
    with open_store(url) as store:
        assert sorted(run["id"] for run in store.runs()) == ["x011", "y011"]
        parts = "MATCH (:Run {id: $run})-[:RAN_ON]->(:Topology)-[:CONTAINS*1..8]->(c:Component)"
        links = f"{parts} MATCH (c)-[:LEAVES_BY]->(l:Link) RETURN count(l) AS n"
        assert [store.query(links, run=run).rows for run in ("x011", "y011")] == [[(6,)], [(6,)]]
        for run in ("x011", "y011"):
            store.remove(run)
        with pytest.raises(StoreError, match="no topology"):
            store.load_topology(sample()[1].id)


def test_a_topology_stays_while_somebody_keeps_a_run(tmp_path: Path) -> None:
    """It is left for the next removal: who keeps may be about to refer to it."""
    with open_store(tmp_path / "store") as store:
        store.keep(*sample(id="a"))
        store.keep(*sample(id="b"))
        with shared(tmp_path / "store" / "topologies"):
            store.remove("a")
            store.remove("b")
            assert store.load_topology(sample()[1].id).name == "small"
        store.keep(*sample(id="c"))
        store.remove("c")
        assert list((tmp_path / "store" / "topologies").iterdir()) == []


def test_a_writer_that_is_killed_leaves_no_run_and_its_rest_goes(tmp_path: Path) -> None:
    process = start(KILLED, tmp_path / "store")
    process.communicate(timeout=120)
    assert process.returncode == -9
    left = list((tmp_path / "store").rglob("*.parquet"))
    assert left
    process = start(WRITER, tmp_path / "store", 1, "next")
    process.communicate(timeout=120)
    assert [path.name for path in (tmp_path / "store" / "runs").iterdir()] == ["next000"]
    assert len(list((tmp_path / "store" / "topologies").iterdir())) == 1
