"""Neo4j shared by processes: pushers that are killed, many at once, a server that goes away."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from kernbench_graph.archive.canonical import canonical_tables
from kernbench_graph.errors import StoreError, StoreUrlError
from kernbench_graph.opening import open_store
from kernbench_graph.stores.neo4j import push as neo4j_push
from kernbench_graph.stores.neo4j import removal as neo4j_removal
from kernbench_graph.stores.neo4j.lanes import LANES
from kernbench_graph.stores.neo4j.server import AUTH_FILE, PASSWORD, USER, Neo4jServer, parse
from kernbench_graph.stores.neo4j.store import Neo4jStore

from tests.conformance.graph_records import sample
from tests.neo4j_server import Running, seen, shared_server
from tests.processes import Process

ROOT = Path(__file__).parents[2]
PUSH = """
import sys
from kernbench_graph.stores.neo4j import push as neo4j_push
from kernbench_graph.stores.neo4j import rows as neo4j_rows
from kernbench_graph.opening import open_store
from tests.conformance.graph_records import sample
neo4j_push.ROWS_AT_ONCE = neo4j_rows.BATCH = 2  # many small transactions: many places to die at
store = open_store(sys.argv[1])
print("begins", flush=True)
store.keep(*sample(id="mine"))
print("kept", flush=True)
"""
PUSHER = """
import sys, time
from kernbench_graph.opening import open_store
from tests.conformance.graph_records import sample
store, number, end = open_store(sys.argv[1]), 0, time.monotonic() + float(sys.argv[3])
while number < 2 or time.monotonic() < end:
    store.keep(*sample(id=f"{sys.argv[2]}-{number:04}"))
    number += 1
print(number)
assert store.notes == [], store.notes
"""
ASKER = """
import sys, time
from kernbench_graph.opening import open_store
from tests.conformance.graph_records import sample
uses = sample()[0].tables["Use"].num_rows
store, seen, asked, end = open_store(sys.argv[1]), 0, 0, time.monotonic() + float(sys.argv[3])
while asked < 2 or time.monotonic() < end:
    ids = [run["id"] for run in store.runs()]
    assert len(ids) >= seen, "a run vanished"
    seen, asked = len(ids), asked + 1
    if ids:
        hops = "MATCH (:Run {id: $run})-[:SENT]->()-[h:HOP]->() RETURN count(h) AS n"
        rows = store.query(hops, run=ids[-1]).rows
        assert rows == [(12,)], rows
        assert store.load(ids[0]).tables["Hop"].num_rows == 12
        used = store.query("MATCH (r:Run)-[:USED]->(p) RETURN r.id AS id, count(p) AS n").rows
        assert len(used) >= seen and {n for _, n in used} == {uses}, used
print(asked)
"""
LEFT = "MATCH (n) WHERE NOT n:KernbenchDatabase RETURN count(n) AS n"


def start(script: str, *arguments: object) -> Process:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "graph")])}
    command = [sys.executable, "-c", script, *map(str, arguments)]
    return Process(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def push_seconds(url: str) -> float:
    """How long a whole push takes on this machine now; the first one also makes constraints and indexes."""
    taken = []
    for _ in range(3):
        with start(PUSH, url) as pusher:
            assert pusher.stdout is not None
            assert pusher.stdout.readline() == "begins\n"
            begun = time.monotonic()
            assert pusher.stdout.readline() == "kept\n"
            taken.append(time.monotonic() - begun)
            pusher.communicate()
        with open_store(url) as store:
            store.remove("mine")
    return min(taken)


def kill_pushers(url: str, times: int) -> int:
    """Kill a pusher at random times of its push; return at how many of them it had begun and not ended.

    At least ``times`` kills, and more while none has struck in the middle.
    """
    chance, half, kills = random.Random(times), 0, 0
    within_s = push_seconds(url)
    while kills < times or (not half and kills < 6 * times):
        kills += 1
        with start(PUSH, url) as pusher:
            assert pusher.stdout is not None
            assert pusher.stdout.readline() == "begins\n"
            time.sleep(chance.random() * within_s)
            pusher.kill()
            printed, _ = pusher.communicate()
        server = Neo4jServer(parse(url), url)
        rows = server.read(lambda tx: tx.run("MATCH (k:KernbenchRun) RETURN k.state AS state").data())
        neo4j_removal.clean(server)  # as the next push does
        with open_store(url) as store:
            if [row["state"] for row in rows] == ["kept"]:
                assert store.query(
                    "MATCH (:Run {id: $run})-[:SENT]->()-[h:HOP]->() RETURN count(h) AS n", run="mine"
                ).rows == [(12,)]
                store.remove("mine")
            else:
                assert "kept" not in printed
                half += len(rows)
                assert store.runs() == []
        assert server.read(lambda tx: tx.run(LEFT).single(strict=True)["n"]) == 0
        server.close()
    with start(PUSH, url) as pusher:
        assert pusher.communicate()[0] == "begins\nkept\n"
    with open_store(url) as store:
        assert [run["id"] for run in store.runs()] == ["mine"]
        assert dict(store.load("mine").tables) == canonical_tables("run", sample()[0].tables, "run")
    return half


def test_killed_pushers_leave_nothing_and_the_next_push_completes(neo4j_url: str) -> None:
    assert kill_pushers(neo4j_url, 3) > 0


@pytest.mark.slow
def test_pushers_killed_at_twenty_points(neo4j_url: str) -> None:
    assert kill_pushers(neo4j_url, 20) > 4


def many_at_once(url: str, each: int, seconds: float) -> None:
    askers = [start(ASKER, url, number, seconds) for number in range(each)]
    pushers = [start(PUSHER, url, f"p{number}", seconds) for number in range(each)]
    # All are waited for before the first is judged: those of a failed test would go on during the next.
    ended = [process.communicate(timeout=seconds * 5 + 120) for process in (*pushers, *askers)]
    assert [errors for _, errors in ended] == [""] * 2 * each
    assert [process.returncode for process in (*pushers, *askers)] == [0] * 2 * each
    pushed = sum(int(printed) for printed, _ in ended[:each])
    with open_store(url) as store:
        assert len(store.runs()) == pushed
        whole = "MATCH (r:Run)-[:USED]->(p) WITH r, count(p) AS n WHERE n = $uses RETURN count(r) AS n"
        uses = sample()[0].tables["Use"].num_rows
        assert store.query(whole, {"uses": uses}).rows == [(pushed,)]


def test_pushers_and_askers_at_once(neo4j_url: str) -> None:
    many_at_once(neo4j_url, 3, 3)


@pytest.mark.slow
def test_eight_pushers_and_eight_askers_for_eight_seconds(neo4j_url: str) -> None:
    many_at_once(neo4j_url, 8, 8)


def test_pushing_the_same_again_changes_nothing(neo4j_url: str, neo4j_server: Running) -> None:
    everything = "MATCH (n) OPTIONAL MATCH (n)-[r]->() RETURN count(DISTINCT n) AS n, count(r) AS r"
    with Neo4jStore(neo4j_url) as store:
        assert store.push(*sample(id="a")) == ("a", True)
        before = seen(neo4j_server, everything)
        assert before[0][1] > 50
        assert store.push(*sample(id="a")) == ("a", False)
        assert seen(neo4j_server, everything) == before
        with pytest.raises(StoreError, match="already"):
            store.push(*sample(id="a", bench="other"))
        assert len(store.runs()) == 1


def test_a_run_is_removed_in_small_lots_where_its_nodes_have_many_relationships(
    neo4j_url: str, neo4j_server: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    lots: list[int] = []
    write = Neo4jServer.write

    def counted(self: Neo4jServer, work: Any) -> Any:
        made = write(self, work)
        lots.append(made if isinstance(made, int) else 0)
        return made

    with Neo4jStore(neo4j_url) as store:
        store.keep(*sample(id="a"))
        store.keep(*sample(id="b"))
        monkeypatch.setattr(neo4j_removal, "RELATIONSHIPS_AT_ONCE", 3)
        monkeypatch.setattr(Neo4jServer, "write", counted)
        store.remove("a")
        assert lots.count(1) > 4  # otherwise a lot for each label
        left = "MATCH (n) WHERE n.id STARTS WITH 'a' OR n.owner STARTS WITH 'run/a' RETURN count(n) AS n"
        assert seen(neo4j_server, left) == [(0,)]
        assert store.query("MATCH (:Run {id: $run})-->(n) RETURN count(n) AS n", run="b").rows[0][0] > 10


def test_lanes_leave_no_relationship_of_a_transaction_to_its_node(
    neo4j_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    sweep = neo4j_removal._sweep_nodes
    text = """MATCH (n:Transaction) WHERE n.id STARTS WITH 'a/'
              RETURN count(n) AS there, sum(COUNT { (n)-->() }) AS joined"""

    def counted(server: Neo4jServer) -> list[Any]:
        return server.read(lambda tx: tx.run(text).single(strict=True).values())

    def looked_at(server: Neo4jServer, run_id: str, token: str) -> None:
        found.append(counted(server))
        sweep(server, run_id, token)

    found: list[list[Any]] = []

    with Neo4jStore(neo4j_url) as store:
        store.keep(*sample(id="a"))
        there, before = counted(store._server)
        monkeypatch.setattr(neo4j_removal, "IN_A_LANE", 2)
        monkeypatch.setattr(neo4j_removal, "_sweep_nodes", looked_at)
        store.remove("a")
    assert found == [[there, 0]]
    assert there > 0
    assert before > 10


def test_a_removal_that_ends_in_the_middle_of_its_lanes_is_completed_by_the_next(
    neo4j_url: str, neo4j_server: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = Neo4jServer.write
    begun = threading.Lock()
    lots: list[str] = []

    def ending(self: Neo4jServer, work: Any) -> Any:
        name = threading.current_thread().name
        if name.startswith("kernbench-remove"):
            with begun:
                lots.append(name)
                if len(lots) > 2:
                    raise StoreError("no more")
        return run(self, work)

    with Neo4jStore(neo4j_url) as store:
        store.keep(*sample(id="a"))
        store.keep(*sample(id="b"))
        joined = "MATCH (:Run {id: $run})-[:SENT]->(:Transaction)-[r]->() RETURN count(r) AS n"
        before = store.query(joined, run="b").rows
        monkeypatch.setattr(neo4j_removal, "IN_A_LANE", 2)
        monkeypatch.setattr(Neo4jServer, "write", ending)
        with pytest.raises(StoreError, match="no more"):
            store.remove("a")
        assert [found["id"] for found in store.runs()] == ["b"]
        monkeypatch.setattr(Neo4jServer, "write", run)
        left = "MATCH (n) WHERE n.id STARTS WITH 'a/' OR n.id = 'a' OR n.owner = 'run/a' RETURN count(n) AS n"
        assert seen(neo4j_server, left)[0][0] > 10
        monkeypatch.setattr(neo4j_removal, "is_dead", lambda *_: True)
        neo4j_removal.clean(store._server)
        assert seen(neo4j_server, left) == [(0,)]
        assert store.query(joined, run="b").rows == before
        assert before[0][0] > 10


def test_a_lane_of_a_removal_that_was_given_up_deletes_nothing_more(
    neo4j_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another process takes the removal over, and the id is another run's by the time the lanes go on."""
    part = neo4j_removal._part_transactions

    def late(server: Neo4jServer, run_id: str, token: str) -> None:
        monkeypatch.setattr(neo4j_removal, "_part_transactions", part)
        with monkeypatch.context() as patched:
            patched.setattr(neo4j_removal, "is_dead", lambda *_: True)
            with Neo4jStore(neo4j_url) as other:
                other.keep(*sample(id="a"))
        part(server, run_id, token)

    joined = "MATCH (:Run {id: $run})-[:SENT]->(:Transaction)-[r]->() RETURN count(r) AS n"
    with Neo4jStore(neo4j_url) as store:
        for name in ("a", "b"):
            store.keep(*sample(id=name))
        before = store.query(joined, run="b").rows
        monkeypatch.setattr(neo4j_removal, "_part_transactions", late)
        store.remove("a")
        assert sorted(found["id"] for found in store.runs()) == ["a", "b"]
        assert store.query(joined, run="a").rows == before
        assert before[0][0] > 10


def test_a_push_that_was_given_up_can_do_no_harm(neo4j_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is taken for dead, cleaned away, and wakes again."""
    fill = neo4j_push.Push.fill

    def slow(self: neo4j_push.Push, *arguments: object) -> None:
        monkeypatch.setattr(neo4j_removal, "is_dead", lambda *_: True)
        neo4j_removal.clean(self._server)
        fill(self, *arguments)  # type: ignore[arg-type]

    with Neo4jStore(neo4j_url) as store:
        store.keep(*sample(id="first"))
        monkeypatch.setattr(neo4j_push.Push, "fill", slow)
        with pytest.raises(StoreError, match="was given up"):
            store.keep(*sample(id="a"))
        assert [run["id"] for run in store.runs()] == ["first"]


def test_a_lane_stops_where_the_push_was_given_up(neo4j_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What its other lane has begun is over before the run's rest is removed."""
    batches, lanes = neo4j_push.run_batches_in, set[str]()

    def late(tx: Any, found: Any) -> None:
        lanes.add(threading.current_thread().name)
        if len(lanes) > 1:
            raise StoreError("no more")
        batches(tx, found)
        while len(lanes) < 2:
            time.sleep(0.01)

    monkeypatch.setattr(neo4j_push, "ROWS_AT_ONCE", 2)
    monkeypatch.setattr(neo4j_push, "run_batches_in", late)
    with Neo4jStore(neo4j_url) as store:
        with pytest.raises(StoreError, match="no more"):
            store.keep(*sample(id="a"))
        assert store.runs() == []
        push = neo4j_push.Push(store._server, "b", "none", "full", 0)
        assert push.claim() is None
        push.give_up()
        for lane in range(LANES):
            with pytest.raises(StoreError, match="was given up"):
                push._once(lambda tx: tx.run("CREATE (:Left)").consume(), lane)
        left = store._server.read(lambda tx: tx.run(LEFT).single(strict=True)["n"])
        assert left == 0


@pytest.mark.slow
def test_a_server_that_goes_away_mid_push(
    tmp_path: Path, neo4j_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with shared_server(tmp_path / "own") as server:
        monkeypatch.setenv(PASSWORD, server.password)
        monkeypatch.setattr("kernbench_graph.stores.neo4j.server.RETRY_S", 1.0)
        store = open_store(server.url)
        store.keep(*sample(id="first"))
        fill = neo4j_push.Push.fill

        def interrupted(self: neo4j_push.Push, *arguments: object) -> None:
            os.kill(server.pid, signal.SIGKILL)
            fill(self, *arguments)  # type: ignore[arg-type]

        monkeypatch.setattr(neo4j_push.Push, "fill", interrupted)
        with pytest.raises(StoreError, match="no Neo4j server answers") as caught:
            store.keep(*sample(id="a"))
        assert "\n" not in str(caught.value)
        with pytest.raises(StoreError, match="no Neo4j server answers"):
            store.runs()
        store.close()
        with pytest.raises(StoreError, match="docker compose up -d, or make neo4j"):
            open_store(server.url)


def test_wrong_credentials_never_show(
    neo4j_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = os.environ[PASSWORD]
    monkeypatch.setenv(PASSWORD, "not-this-one")
    with pytest.raises(StoreError, match="refuses the user or password") as caught:
        open_store(neo4j_url)
    assert "not-this-one" not in str(caught.value)
    monkeypatch.delenv(PASSWORD)
    with pytest.raises(StoreError, match=f"needs {USER} and {PASSWORD}"):
        open_store(neo4j_url)
    (tmp_path / "auth").write_text(f"neo4j:{right}\n", encoding="utf-8")
    monkeypatch.setenv(AUTH_FILE, str(tmp_path / "auth"))
    open_store(neo4j_url).close()
    (tmp_path / "auth").write_text("secret-without-colon", encoding="utf-8")
    with pytest.raises(StoreError, match="form user:password") as caught:
        open_store(neo4j_url)
    assert "secret" not in str(caught.value)
    with pytest.raises(StoreUrlError, match="credentials in the URL") as url_error:
        open_store("neo4j://me:secret@host")
    assert "secret" not in str(url_error.value)
