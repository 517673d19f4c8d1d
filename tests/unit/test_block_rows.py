"""Blocks of a grid are nodes of the run: where and when each ran, and what it did."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kernbench as kb
import kernbench.triton as triton
import kernbench.triton.language as tl
from kernbench.analysis.windows.time_window import select
from kernbench.analysis.windows.window_tables import tables_within
from kernbench.host import DPPolicy


@triton.jit
def uneven(p, out, B: tl.constexpr):
    x, y = tl.program_id(0), tl.program_id(1)
    at = (y * 3 + x) * B + tl.arange(0, B)
    total = tl.zeros((B,), tl.float32)
    for _ in range(x + y + 1):
        total += tl.load(p + at)
    tl.store(out + at, total)


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Any:
    data = np.ones(96, np.float32)
    spread = DPPolicy(pe="row_wise", num_cubes=1, num_pes=4)
    return kb.run_kernel(
        uneven[(3, 2)], data, out=data * 0, B=16, dp=spread, residents=2, num_warps=8,
        store=tmp_path_factory.mktemp("blocks"),
    ).run  # fmt: skip


def test_each_block_ran_once_on_a_pe_within_its_launch(ran: kb.Run) -> None:
    rows = ran.cypher(
        "MATCH (:Run {id: $run})-[:LAUNCHED]->(l:Launch)-[:RAN_BLOCK]->(b:Block)-[:ON_PE]->(p:Component) "
        "RETURN b.x AS x, b.y AS y, b.z AS z, p.kind AS kind, b.t_start >= l.t_start AS begun, "
        "b.t_end <= l.t_done AS over, l.grid AS grid, l.num_warps AS warps, l.num_stages AS stages, "
        "l.residents AS residents ORDER BY y, x"
    ).rows
    assert rows == [(x, y, 0, "pe", True, True, "3x2x1", 8, 3, 2) for y in range(2) for x in range(3)]


def test_a_block_lasts_from_its_first_operation_to_its_last(ran: kb.Run) -> None:
    blocks = {row["number"]: row for row in ran.tables["Block"].to_pylist()}
    ops = {row["number"]: row for row in ran.tables["Op"].to_pylist()}
    of: dict[int, list[dict[str, Any]]] = {}
    for row in ran.tables["OfBlock"].to_pylist():
        if row["op"] >= 0:
            of.setdefault(row["block"], []).append(ops[row["op"]])
    assert of.keys() == blocks.keys()
    for number, block in blocks.items():
        assert block["t_start"] == min(op["t_ready"] for op in of[number])
        assert block["t_end"] == max(op["t_end"] for op in of[number])
        assert {op["component"].rpartition(".")[0] for op in of[number]} == {block["pe"]}
        loads = sum(op["name"] == "dma_read" for op in of[number])
        assert loads == block["x"] + block["y"] + 1
    launched = {number for number, op in ops.items() if op["launch"] == 0}
    assert launched == {op["number"] for some in of.values() for op in some}


def test_transactions_are_of_the_block_of_their_operation(ran: kb.Run) -> None:
    rows = ran.tables["OfBlock"].to_pylist()
    block = {row["op"]: row["block"] for row in rows if row["op"] >= 0}
    txns = {row["txn"]: row["block"] for row in rows if row["txn"] >= 0}
    sent = {row["number"]: row["op"] for row in ran.tables["Transaction"].to_pylist()}
    assert txns == {number: block[op] for number, op in sent.items() if op in block}
    assert len(Counter(txns.values())) == 6


def test_the_question_has_the_same_blocks(ran: kb.Run) -> None:
    rows = ran.query("kernel/blocks").rows
    assert sorted((row[1], row[2]) for row in rows) == [(x, y) for x in range(3) for y in range(2)]
    assert [row[6] for row in rows] == sorted((row[6] for row in rows), reverse=True)
    assert sum(row[7] for row in rows) == sum(row["txn"] >= 0 for row in ran.tables["OfBlock"].to_pylist())


def test_a_window_has_the_blocks_of_its_time(ran: kb.Run) -> None:
    first = min(row["t_end"] for row in ran.tables["Block"].to_pylist())
    after = tables_within(ran.tables, select(ran.info, "run", first + 1.0, None))
    blocks = {row["number"] for row in after["Block"].to_pylist()}
    assert 0 < len(blocks) < 6
    ops, txns = ({row["number"] for row in after[name].to_pylist()} for name in ("Op", "Transaction"))
    rows = after["OfBlock"].to_pylist()
    assert rows
    assert all(row["block"] in blocks and (row["op"] in ops or row["txn"] in txns) for row in rows)
    before = tables_within(ran.tables, select(ran.info, "run", 0.0, 1.0))
    assert [before[name].num_rows for name in ("RanAt", "Block", "OfBlock")] == [0, 0, 0]
    assert after["RanAt"].num_rows == ran.tables["RanAt"].num_rows > 0


def test_a_run_without_grids_has_no_blocks(tmp_path: Path) -> None:
    assert kb.run("gemm-single-pe", store=tmp_path, topology="minimal").tables["Block"].num_rows == 0


def test_places_in_the_machine_are_numbers_whatever_parts_are_called(tmp_path: Path) -> None:
    run = kb.run("gemm-single-pe", store=tmp_path, topology="two-kinds")
    rows = run.cypher(
        "MATCH (:Run {id: $run})-[:RAN_ON]->(:Topology)-[:CONTAINS*1..3]->(c:Component) "
        "WHERE c.kind = 'cube' RETURN DISTINCT c.name AS name, c.package AS package, c.chiplet AS chiplet "
        "ORDER BY chiplet"
    ).rows
    assert [row[1:] for row in rows] == [(0, n) for n in range(len(rows))]
    assert not any(name.startswith("sip") for name, _, _ in rows)
