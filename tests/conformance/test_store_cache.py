"""The cache before memory in the graph of a run of the simulator, on every store."""

from __future__ import annotations

from typing import Any

import pytest
from kernbench_graph.records import RunRecord
from kernbench_graph.store import GraphStore

import kernbench as kb
import kernbench.triton as triton
import kernbench.triton.language as tl
from tests.advice_pairs import PAIRS
from tests.conformance.cache_oracle import CACHED

PAIR = next(pair for pair in PAIRS if pair.rule == "cache-misses")


@pytest.fixture
def kept(store: GraphStore) -> tuple[GraphStore, RunRecord]:
    with kb.open_store("memory:") as source:
        run = kb.run(PAIR.worse, PAIR.topology, topo=dict(PAIR.topo), store=source)
        record = source.load(run.id)
        store.keep(record, source.load_topology(run.info["topology_id"]))
    return store, record


@pytest.mark.daily("embedded")
def test_what_misses_is_told_by_line_and_tensor(kept: tuple[GraphStore, RunRecord]) -> None:
    store, record = kept
    for name, oracle in CACHED.items():
        rows = kb.ask(name, record.info["id"], store).rows
        assert [tuple(row) for row in rows] == oracle(
            record, store.load_topology(record.info["topology"]), {}
        )
        assert rows
    (line, tensor, transactions, _, misses, again, *_), *_ = kb.ask(
        "memory/cache-misses", record.info["id"], store
    ).rows
    assert (line.partition(":")[0], tensor, transactions) == ("advice_pairs.py", "x0", 48)
    assert (
        misses >= again > 36 * 2048 // 256
    )  # all rounds but the first, whose rows the host wrote through it


@pytest.mark.daily("embedded")
def test_reads_that_share_a_turn_are_told_and_cost_nothing_at_the_cache(store: GraphStore) -> None:
    """Every PE reads the same rows of one slice: those that came while the cache was reading them."""
    cache = {"memory.cache.capacity": 1 << 18, "memory.cache.gbs": 8.0, "memory.cache.coalesce": 4}
    keys = {"memory.interleave": "package", **cache}

    def reads(x: Any) -> None:
        for _ in range(3):
            tl.load(x + tl.arange(0, 1024))

    def bench(torch: Any) -> None:
        triton.jit(reads)[(4,)](torch.empty(1024, dtype="f16"))

    with kb.open_store("memory:") as source:
        run = kb.run(bench, "minimal", topo=keys, store=source, check=True)
        spent = {row["name"]: row["dynamic_pj"] for row in run.energy(by="kind")["rows"]}
        record = source.load(run.id)
        store.keep(record, source.load_topology(run.info["topology_id"]))
    (moved,) = [row for row in record.tables["CacheUse"].to_pylist() if row["txn"] < 0]
    assert 0 < moved["coalesced"] <= moved["hits"] + moved["merged"]
    (read,) = [row["bytes"] for row in record.tables["Use"].to_pylist() if row["kind"] == "memory_cache"]
    asked = sum(row["bytes"] for row in record.tables["Transaction"].to_pylist() if row["kind"] == "dma_read")
    assert read + moved["coalesced_bytes"] == asked
    dealt = [row["bytes"] for row in record.tables["Dealt"].to_pylist() if row["resource"].endswith(".cache")]
    assert sum(dealt) == read
    assert spent["memory_cache"] == pytest.approx(1.75 * read)
    for name, oracle in CACHED.items():
        found = kb.ask(name, record.info["id"], store)
        assert [tuple(row) for row in found.rows] == oracle(
            record, store.load_topology(record.info["topology"]), {}
        )
        assert sum(row[found.columns.index("coalesced")] for row in found.rows) == moved["coalesced"]


def test_what_each_transaction_made_of_it_adds_up_to_the_run(kept: tuple[GraphStore, RunRecord]) -> None:
    store, record = kept
    text = """MATCH (r:Run {id: $run})-[all_of:FOUND_CACHED]->(u:Use)
              MATCH (r)-[:SENT]->(t:Transaction)-[f:FOUND_CACHED]->(u)
              RETURN u.resource, all_of.misses, sum(f.misses), all_of.hits, sum(f.hits)"""
    for engine in store.engines:
        ((_, *counts),) = store.query(text, run=record.info["id"], engine=engine).rows
        assert counts[0] == counts[1] > 0
        assert counts[2] == counts[3]


def test_hits_and_misses_are_causes_on_the_critical_path() -> None:
    for keys, missed in ((PAIR.topo, True), (PAIR.better_topo, False)):
        run = kb.run(PAIR.worse, PAIR.topology, topo=dict(keys or {}), store="memory:")
        path = run.critical_path()
        causes = path.by_cause()
        assert causes.get("cache_hit", 0.0) > 0.0
        assert (causes.get("cache_miss", 0.0) > path.ns / 4) is missed
        assert "hbm" not in causes
        assert causes.get("unexplained", 0.0) == 0.0


def test_bytes_behind_a_cache_cost_what_memory_moved() -> None:
    for keys in (PAIR.topo, PAIR.better_topo):
        run = kb.run(PAIR.worse, PAIR.topology, topo=dict(keys or {}), store="memory:")
        spent = {row["name"]: row["dynamic_pj"] for row in run.energy(by="kind")["rows"]}
        (moved,) = [row for row in run.tables["CacheUse"].to_pylist() if row["txn"] < 0]
        passed = sum(row["bytes"] for row in run.tables["Use"].to_pylist() if row["kind"] == "memory_cache")
        assert spent["memory_cache"] == pytest.approx(1.75 * passed)
        assert spent.get("hbm_ctrl", 0.0) == pytest.approx(
            31.36 * (moved["fetched_bytes"] + moved["written_bytes"])
        )
