"""A query's time limit is the client's as well as the server's, which obeys late, or not at all."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from kernbench_graph import running
from kernbench_graph.errors import QueryTimeoutError, StoreError
from kernbench_graph.opening import open_store
from kernbench_graph.store import GraphStore
from kernbench_graph.stores.neo4j import server as connections

from tests.conformance.graph_records import sample
from tests.neo4j_server import Running

pytestmark = pytest.mark.neo4j
OF_RUN = "MATCH (r:Run {id: $run}) RETURN r.id AS id"
DEAF = {
    "a regular expression": f"{OF_RUN}, '{'a' * 24}b' =~ '((a+)+)+$' AS found",
    "a long reduce": f"{OF_RUN}, reduce(s = 0, x IN range(1, 200000000) | s + x) AS sum",
}
"""Queries within which the server does not look whether they have been ended."""


@pytest.fixture
def store(neo4j_url: str) -> Iterator[GraphStore]:
    with open_store(neo4j_url) as opened:
        opened.keep(*sample(id="a"))
        assert opened.query(OF_RUN, run="a").rows == [("a",)]
        yield opened


@pytest.mark.parametrize("text", DEAF.values(), ids=DEAF)
def test_a_server_that_does_not_obey_is_left_behind(store: GraphStore, text: str) -> None:
    with pytest.raises(QueryTimeoutError, match=r"stopped after 0\.3 s"):
        store.query(text, run="a", timeout_s=0.3)
    assert [query.doing for query in store.queries.listed()] == [running.STOPPING]
    assert store.query(OF_RUN, run="a").rows == [("a",)]


def await_stop(pid: int) -> None:
    """Wait until all threads of a process that was sent SIGSTOP stand still."""
    stats = [*Path(f"/proc/{pid}/task").glob("*/stat")]  # empty where there is no /proc
    until = time.monotonic() + 10.0
    while any(stat.exists() and stat.read_text().rpartition(")")[2].split()[0] != "T" for stat in stats):
        assert time.monotonic() < until
        time.sleep(0.01)


def test_a_server_that_is_stopped_is_left_behind(
    store: GraphStore, neo4j_url: str, neo4j_server: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "_CONNECT_S", 0.3)
    os.kill(neo4j_server.pid, signal.SIGSTOP)
    try:
        await_stop(neo4j_server.pid)
        with pytest.raises(QueryTimeoutError, match=r"stopped after 0\.3 s"):
            store.query(OF_RUN, run="a", timeout_s=0.3)
        with pytest.raises(StoreError, match="no Neo4j server answers there"):
            open_store(neo4j_url)
    finally:
        os.kill(neo4j_server.pid, signal.SIGCONT)
    for thread in threading.enumerate():
        if thread.name.startswith("query "):
            thread.join(30)
    assert store.query(OF_RUN, run="a").rows == [("a",)]
