"""Tables and their filters: order, words, comparisons, export, where rows lead."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pytest

from kernbench.draw.content import SHARE, Column
from kernbench.draw.targets import Target, targets_of
from kernbench.errors import UsageError
from kernbench.support.pgraph import GraphNode, GraphPath
from kernbench.tui.models.table import ShownTable
from kernbench.tui.widgets.rows import _shorten

COLUMNS = (Column("transaction"), Column("kind"), Column("wait_ns", "ns"), Column("share", SHARE))
ROWS = [
    (0, "dma_read", 2.5, 0.5),
    (1, "dma_write", 0.0, 0.25),
    (2, "Ack", 2.5, 0.0),
    (12, "dma_read", 9.0, 1.0),
]


def arrow() -> ShownTable:
    names = [column.name for column in COLUMNS]
    return ShownTable.of_arrow(
        pa.table(dict(zip(names, map(list, zip(*ROWS, strict=True)), strict=True))), COLUMNS
    )


BOTH = pytest.mark.parametrize("table", [arrow(), ShownTable.of_rows(ROWS, COLUMNS)], ids=["arrow", "lists"])


def shown(table: ShownTable) -> list[object]:
    return [table.value(row, "transaction") for row in range(len(table))]


@BOTH
@pytest.mark.parametrize(
    ("words", "left"),
    [
        ("", [0, 1, 2, 12]),
        ("dma", [0, 1, 12]),
        ("DMA read", [0, 12]),
        ("ack", [2]),
        ("kind=dma_read", [0, 12]),
        ("kind=dma*", [0, 1, 12]),
        ("kind!=dma_read", [1, 2]),
        ("wait_ns>2.4 wait_ns<=2.5", [0, 2]),
        ("transaction=12", [12]),
        ("wait_ns>=9", [12]),
        ("share<0.3", [1, 2]),
        ("nothing", []),
    ],
)
def test_filters(table: ShownTable, words: str, left: list[int]) -> None:
    assert shown(table.filtered(words)) == left
    assert shown(table.filtered(words).filtered("")) == [0, 1, 2, 12]


@BOTH
def test_wrong_filters_say_what_to_write(table: ShownTable) -> None:
    with pytest.raises(UsageError, match=r"no column 'wait' here; did you mean 'wait_ns'"):
        table.filtered("wait>1")
    with pytest.raises(UsageError, match="write wait_ns>100"):
        table.filtered("wait_ns>much")


@BOTH
def test_sorting_is_stable_and_survives_a_filter(table: ShownTable) -> None:
    assert shown(table.sorted("wait_ns", descending=True)) == [12, 0, 2, 1]
    assert shown(table.sorted("wait_ns", descending=False)) == [1, 0, 2, 12]
    assert shown(table.sorted("wait_ns", descending=True).filtered("dma")) == [12, 0, 1]
    assert shown(table.filtered("dma").sorted("transaction", descending=True)) == [12, 1, 0]


@BOTH
def test_cells_are_rounded_and_exports_are_not(table: ShownTable) -> None:
    assert table.cells(0) == ["0", "dma_read", "2.5", "50.0%"]
    some = table.filtered("read")
    assert some.exported("csv").splitlines() == [
        "transaction,kind,wait_ns,share",
        "0,dma_read,2.5,0.5",
        "12,dma_read,9.0,1.0",
    ]
    assert json.loads(some.exported("json"))[1] == {
        "transaction": 12, "kind": "dma_read", "wait_ns": 9.0, "share": 1.0,
    }  # fmt: skip


def test_missing_values_come_last_either_way() -> None:
    table = ShownTable.of_rows([(1, None), (2, "b"), (3, "a")], (Column("transaction"), Column("kind")))
    assert shown(table.sorted("kind", descending=False)) == [3, 2, 1]
    assert shown(table.sorted("kind", descending=True)) == [2, 3, 1]


def test_rows_equal_by_symmetry_fold_with_a_count() -> None:
    rows = [("pe0.pe_gemm", 2.0), ("pe1.pe_gemm", 2.0), ("pe2.pe_math", 2.0), ("pe3.pe_gemm", 2.0)]
    folded = ShownTable.of_rows(rows, (Column("resource"), Column("ns", "ns"))).folded()
    assert [folded.record(row) for row in range(len(folded))] == [
        {"resource": "pe0.pe_gemm", "ns": 2.0, "count": 3},
        {"resource": "pe2.pe_math", "ns": 2.0, "count": 1},
    ]


def test_a_wide_cell_far_down_widens_its_column() -> None:
    names = pa.table({"kind": ["x"] * 1000 + ["a long name"], "ns": np.arange(1001.0) * 1e6})
    table = ShownTable.of_arrow(names, (Column("kind"), Column("ns", "ns")))
    assert table.layout() == [(len("a long name"), False), (len("1000000000"), True)]


def test_rows_lead_to_what_their_cells_name() -> None:
    assert targets_of({"waiter": 3, "holder": 4, "resource": "a->b", "op": -1, "launch": 0}) == [
        Target("transaction", 3), Target("transaction", 4), Target("resource", "a->b"), Target("launch", 0),
    ]  # fmt: skip
    assert targets_of({"what": "operation", "number": 7, "location": ""}) == [Target("operation", 7)]
    assert targets_of({"by": "location", "name": "x"}) == [Target("resource", "x")]
    assert targets_of({"by": "cause", "name": "link"}) == []
    node = GraphNode(("Op",), {"id": "r/op/5", "number": 5})
    other = GraphNode(("Use", "Router"), {"id": "u", "resource": "sip0.cube0.r0c0"})
    assert targets_of({"p": GraphPath((node, other), ()), "n": 3}) == [
        Target("operation", 5), Target("resource", "sip0.cube0.r0c0"),
    ]  # fmt: skip


def test_parts_that_differ_near_their_end_differ_when_they_are_short_of_room() -> None:
    cut = {_shorten(f"card0.asic.tile{x}_2.core.pe_dma", 28) for x in range(6)}
    assert len(cut) == 6
    assert {len(one) for one in cut} == {28}
    assert _shorten("sip0.cube0.r0c0->sip0.cube0.pe0.pe_dma", 21) == "sip0.cube0…pe0.pe_dma"
