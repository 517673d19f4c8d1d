"""Texts of every shape: a server with more runs in it gives what a folder and memory give."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from kernbench_graph.opening import open_store
from kernbench_graph.store import GraphStore

import kernbench as kb
from tests.conformance.test_free_queries import rows

LINES = Path(__file__).with_name("shapes.cypher").read_text(encoding="utf-8").splitlines()
TEXTS = [line for line in LINES if not line.startswith("//")]


@pytest.fixture(scope="module")
def memory() -> Iterator[GraphStore]:
    """A store with three runs on one machine."""
    with open_store("memory:") as store:
        for k in (32, 16, 48):
            kb.run("gemm-single-pe", "minimal", store=store, m=16, k=k, n=16)
        yield store


def differing(store: GraphStore, memory: GraphStore) -> dict[str, object]:
    """Texts that a store with the same runs does not answer as the one in memory, with both answers."""
    ids = [str(run["id"]) for run in memory.runs()]
    for run_id in ids:
        run = memory.load(run_id)
        store.keep(run, memory.load_topology(str(run.info["topology"])))
    found: dict[str, object] = {}
    for text in TEXTS:
        expected, got = (one.query(text, {"b": ids[1]}, run=ids[0]) for one in (memory, store))
        pair = (expected.columns, rows(expected, text)), (got.columns, rows(got, text))
        if pair[0] != pair[1]:
            found[text] = pair
    return found


def test_there_are_sixty() -> None:
    assert len(set(TEXTS)) >= 60


@pytest.mark.slow
def test_a_folder_gives_what_memory_gives(memory: GraphStore, tmp_path: Path) -> None:
    with open_store(tmp_path / "store") as folder:
        folder.computed = memory.computed
        assert differing(folder, memory) == {}


def test_a_server_gives_what_memory_gives(memory: GraphStore, neo4j_url: str) -> None:
    with open_store(neo4j_url) as server:
        server.computed = memory.computed
        assert differing(server, memory) == {}
