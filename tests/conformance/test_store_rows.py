"""Rows of DRAM in the graph of a run of the simulator: how transactions found them, on every store."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from kernbench_graph.records import RunRecord
from kernbench_graph.store import GraphStore

import kernbench as kb
from tests.conformance.rows_oracle import ROWS

DRAM = {"cube.hbm.model": "dram", "cube.hbm.pseudo_channels": 2}
PITCH = 1 << 14
"""Bytes from one load of the kernel to the next: another row of the same banks."""


def far_apart(a: Any, out: Any, tl: Any) -> None:
    total = tl.load(a, (64,))
    for i in range(1, 12):
        total = total + tl.load(a + i * PITCH, (64,))
    tl.store(out, total)


def bench(torch: Any) -> None:
    a = torch.from_numpy(np.ones(12 * PITCH // 2, dtype=np.float16))
    out = torch.zeros(64, dtype="f16")
    torch.launch("far", far_apart, a, out)


@pytest.fixture
def kept(store: GraphStore) -> tuple[GraphStore, RunRecord]:
    with kb.open_store("memory:") as source:
        run = kb.run(bench, "minimal", topo=DRAM, store=source)
        record = source.load(run.id)
        store.keep(record, source.load_topology(run.info["topology_id"]))
    return store, record


@pytest.mark.daily("embedded")
def test_loads_far_apart_find_other_rows_open(kept: tuple[GraphStore, RunRecord]) -> None:
    store, record = kept
    for name, oracle in ROWS.items():
        rows = kb.ask(name, record.info["id"], store).rows
        assert [tuple(row) for row in rows] == oracle(
            record, store.load_topology(record.info["topology"]), {}
        )
        assert rows
    line, transactions, _, _, conflicts, row_ns, _ = next(
        row for row in kb.ask("memory/row-waits", record.info["id"], store).rows if row[0]
    )
    assert (transactions, line.partition(":")[0]) == (11, "test_store_rows.py")
    assert conflicts >= 10
    assert row_ns > 10 * 20.0  # tRCD alone is 20 ns


def test_what_each_transaction_found_adds_up_to_the_run(kept: tuple[GraphStore, RunRecord]) -> None:
    store, record = kept
    text = """MATCH (r:Run {id: $run})-[all_of:FOUND_ROWS]->(u:Use)
              MATCH (r)-[:SENT]->(t:Transaction)-[f:FOUND_ROWS]->(u)
              RETURN u.resource, all_of.conflicts, sum(f.conflicts), all_of.hits, sum(f.hits)"""
    for engine in store.engines:
        rows = store.query(text, run=record.info["id"], engine=engine).rows
        assert len(rows) == 2
        assert all(row[1] == row[2] and row[3] == row[4] for row in rows)


def test_rows_and_refreshes_are_causes_on_the_critical_path() -> None:
    found = kb.run(bench, "minimal", topo=DRAM, store="memory:").critical_path()
    causes = found.by_cause()
    assert causes["row"] > 10 * 20.0
    assert causes.get("unexplained", 0.0) == 0.0
    assert sum(causes.values()) == pytest.approx(found.ns, abs=1e-6)
