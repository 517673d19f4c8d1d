"""The op log's order and its archive tables."""

from __future__ import annotations

import numpy as np
import pytest

from kernbench.errors import KernBenchError
from kernbench.replay.oplog import OpLog, label
from kernbench.sim.ops import Op, Operand

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
    assert (len(log), log[0], log.find(2), log.find(3)) == (2, DOT, TILE, None)
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
        *("id", "kind", "name", "stage", "component", "launch", "parent", "bytes"),
        *("t_ready", "t_start", "t_end", "label"),
    ]
    assert {k: list(v) for k, v in table.items()} == {
        "id": [4, 2],
        "kind": ["gemm", "tile"],
        "name": ["dot", "GEMM"],
        "stage": ["", "GEMM"],
        "component": ["sip0.cube0.pe0.pe_gemm"] * 2,
        "launch": [2, -1],
        "parent": [-1, 4],
        "bytes": [62, 0],
        "t_ready": [1.5, 0.0],
        "t_start": [2.0, 0.0],
        "t_end": [7.25, 0.0],
        "label": ["dot 2x3 3x5 -> 2x5 f32", "GEMM"],
    }
    assert [table[c].dtype for c in ("id", "launch", "parent", "bytes")] == [np.dtype(np.int64)] * 4
    assert [table[c].dtype for c in ("t_ready", "t_start", "t_end")] == [np.dtype(np.float64)] * 3


def test_dependencies_without_a_second_end_are_left_out():
    table = filled().tables()["DependsOn"]
    assert (list(table["op"]), list(table["on"]), table["hazard"]) == ([4, 2], [2, 4], ["stage", "issue"])
    assert table["op"].dtype == table["on"].dtype == np.int64


def test_a_transaction_is_moved_once_per_operation():
    table = filled().tables()["Moved"]
    assert (list(table["op"]), list(table["txn"])) == ([4, 4, 2], [11, 12, 13])


def test_an_empty_log_gives_empty_typed_tables():
    tables = OpLog().tables()
    assert all(len(column) == 0 for table in tables.values() for column in table.values())
    assert (
        tables["Op"]["id"].dtype
        == tables["Moved"]["txn"].dtype
        == tables["DependsOn"]["on"].dtype
        == np.int64
    )


def test_the_label_of_a_scalar_says_so():
    assert label(Op(1, "math", "sum", (Operand((), "f32", handle=1),))) == "sum scalar"
