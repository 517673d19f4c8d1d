"""The op log's order and its archive tables."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from kernbench.engine.program.operations import Op, Operand, Region
from kernbench.errors import KernBenchError
from kernbench.values.oplog import OpLog

DOT = Op(
    4,
    "gemm",
    "dot",
    (Operand((2, 3), "f16", handle=1), Operand((3, 5), "f16", handle=2)),
    Operand((2, 5), "f32", handle=3),
    component="sip0.cube0.pe0.pe_gemm",
    launch=2,
    nbytes=62,
    t_ready=1.5,
    t_start=2.0,
    t_end=7.25,
    transactions=[11, 12, 11],
)
TILE = Op(2, "tile", "GEMM", component="sip0.cube0.pe0.pe_gemm", parent=4, stage="GEMM", transactions=[13])


def filled() -> OpLog:
    log = OpLog()
    log.append(DOT, [(2, "stage"), (99, "handle")])
    log.append(TILE, [(4, "issue")])
    return log


def test_operations_stay_in_report_order_and_are_found_by_id():
    log = filled()
    assert [op.id for op in log] == [4, 2]
    assert (len(log), log[0].id, log.find(3)) == (2, 4, None)
    found = log.find(4)
    for field in ("kind", "name", "component", "launch", "nbytes", "t_ready", "t_start", "t_end", "source"):
        assert getattr(found, field) == getattr(DOT, field)
    assert (found.inputs, found.output, found.transactions) == (DOT.inputs, DOT.output, [11, 12])
    assert found.after == [(2, "stage"), (99, "handle")]
    tile = log.find(2)
    assert (tile.parent, tile.stage, tile.inputs, tile.output, tile.transactions) == (
        4,
        "GEMM",
        (),
        None,
        [13],
    )
    assert list(log.dependencies()) == [(4, 2, "stage"), (4, 99, "handle"), (2, 4, "issue")]


def test_an_operation_is_reported_once():
    log = filled()
    with pytest.raises(
        KernBenchError, match=r"op 2 \(tile/GEMM on sip0.cube0.pe0.pe_gemm\) was reported twice"
    ):
        log.append(TILE)
    assert len(log) == 2


def test_op_table_has_a_row_per_operation_tiles_included():
    table = filled().tables()["Op"]
    assert list(table) == [
        *("number", "kind", "name", "stage", "component", "launch", "parent", "bytes"),
        *("m", "k", "n", "flops", "dtype", "t_ready", "t_start", "t_end", "source", "label"),
    ]
    assert {k: list(v) for k, v in table.items()} == {
        "number": [4, 2],
        "kind": ["gemm", "tile"],
        "name": ["dot", "GEMM"],
        "stage": ["", "GEMM"],
        "component": ["sip0.cube0.pe0.pe_gemm"] * 2,
        "launch": [2, -1],
        "parent": [-1, 4],
        "bytes": [62, 0],
        "m": [2, 0],
        "k": [3, 0],
        "n": [5, 0],
        "flops": [60, 0],
        "dtype": ["f32", ""],
        "t_ready": [1.5, 0.0],
        "t_start": [2.0, 0.0],
        "t_end": [7.25, 0.0],
        "source": ["", ""],
        "label": ["dot 2x3 3x5 -> 2x5 f32", "GEMM"],
    }
    assert [table[c].dtype for c in ("number", "launch", "parent", "bytes")] == [np.dtype(np.int64)] * 4
    assert [table[c].dtype for c in ("t_ready", "t_start", "t_end")] == [np.dtype(np.float64)] * 3


def test_dependencies_without_a_second_end_are_left_out():
    table = filled().tables()["DependsOn"]
    assert (list(table["op"]), list(table["on"]), table["hazard"]) == ([4, 2], [2, 4], ["stage", "issue"])
    assert table["op"].dtype == table["on"].dtype == np.int64


def test_a_transaction_is_moved_once_per_operation():
    table = filled().tables()["Awaited"]
    assert (list(table["op"]), list(table["txn"])) == ([4, 4, 2], [11, 12, 13])


def test_an_empty_log_gives_empty_typed_tables():
    tables = OpLog().tables()
    assert all(len(column) == 0 for table in tables.values() for column in table.values())
    assert (
        tables["Op"]["number"].dtype
        == tables["Awaited"]["txn"].dtype
        == tables["DependsOn"]["on"].dtype
        == np.int64
    )


def test_the_label_of_a_scalar_says_so():
    log = OpLog()
    log.append(Op(1, "math", "sum", (Operand((), "f32", handle=1),)))
    assert log.tables()["Op"]["label"] == ["sum scalar"]


def test_operands_are_kept_with_their_bytes():
    log = OpLog()
    where = (Region(4096, 6), Region(8192, 6))
    log.append(Op(1, "memory", "dma_read", (Operand((2, 3), "f16", address=77, regions=where),)))
    log.append(DOT)
    assert {k: list(v) for k, v in log.operand_table().items()} == {
        "op": [1, 4, 4, 4],
        "position": [0, 0, 1, -1],
        "handle": [-1, 1, 2, 3],
        "address": [77, -1, -1, -1],
        "shape": ["2x3", "2x3", "3x5", "2x5"],
        "dtype": ["f16", "f16", "f16", "f32"],
    }
    assert {k: list(v) for k, v in log.region_table().items()} == {
        "op": [1, 1],
        "position": [0, 0],
        "addr": [4096, 8192],
        "bytes": [6, 6],
    }
    assert log[0].inputs[0].regions == where


def test_a_part_of_an_operation_that_never_finished_stands_for_itself():
    log = OpLog()
    log.append(TILE)
    assert list(log.tables()["Op"]["parent"]) == [-1]


def test_an_operation_takes_little_memory():
    count = 20_000
    tracemalloc.start()
    try:
        log = OpLog()
        for number in range(count):
            log.append(
                Op(
                    number,
                    "tile",
                    "fetch",
                    component="sip0.cube0.pe0.pe_fetch_store",
                    stage="FETCH",
                    nbytes=64,
                ),
                [(number - 1, "stage")],
            )
        kept, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert kept / count < 300
