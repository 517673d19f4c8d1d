"""Tables, windows, spans and maps of the terminal UI, without a terminal and without a run."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pytest

from kernbench.analysis.windows.chosen_window import ChosenWindow
from kernbench.draw.content import Column
from kernbench.errors import UsageError
from kernbench.tui.models.filters import matching
from kernbench.tui.models.mesh import Cell, MeshMap, _join
from kernbench.tui.models.table import ShownTable
from kernbench.tui.models.timeline import TimeSpan, occupancy

COLUMNS = (Column("name"), Column("ns", "ns"))
ROWS = [["Alpha", 3.0], ["beta", 1.0], ["alphabet", None], ["gamma", 3.0]]
LISTED = ShownTable.of_rows(ROWS, COLUMNS)
ARROW = ShownTable.of_arrow(
    pa.table({"name": ["Alpha", "beta", "alphabet", "gamma"], "ns": [3.0, 1.0, 2.0, 3.0]}), COLUMNS
)
COUNTED = {"number": pa.chunked_array([[1, 12, 2]]), "name": pa.chunked_array([["a", None, "A2"]])}


def names(table: ShownTable) -> list[str]:
    return [table.value(row, "name") for row in range(len(table))]


@pytest.mark.parametrize(
    ("words", "left"),
    [
        ("alpha", ["Alpha", "alphabet"]),
        ("alpha bet", ["alphabet"]),
        ("name=ALPHA", ["Alpha"]),
        ("name=alpha*", ["Alpha", "alphabet"]),
        ("name!=alpha*", ["beta", "gamma"]),
        ("ns>1", ["Alpha", "gamma"]),
        ("ns>=1", ["Alpha", "beta", "gamma"]),
        ("ns<3", ["beta"]),
        ("ns<=3", ["Alpha", "beta", "gamma"]),
        ("ns=3", ["Alpha", "gamma"]),
        ("ns=x", []),
        ("", ["Alpha", "beta", "alphabet", "gamma"]),
    ],
)
def test_filters_of_listed_rows(words: str, left: list[str]) -> None:
    assert names(LISTED.filtered(words)) == left


@pytest.mark.parametrize(
    ("words", "left"),
    [
        ("ALPHA", ["Alpha", "alphabet"]),
        ("name=alpha", ["Alpha"]),
        ("name=A*", ["Alpha", "alphabet"]),
        ("ns>=3", ["Alpha", "gamma"]),
        ("ns<2", ["beta"]),
        ("ns!=3", ["beta", "alphabet"]),
    ],
)
def test_filters_of_arrow_columns(words: str, left: list[str]) -> None:
    assert names(ARROW.filtered(words)) == left


def test_a_number_is_found_whole_and_a_missing_text_matches_nothing() -> None:
    assert matching("2", COUNTED).tolist() == [False, False, True]  # and the text A2 has it
    assert matching("1", COUNTED).tolist() == [True, False, False]
    assert matching("name=a", COUNTED).tolist() == [True, False, False]


def test_wrong_filters_name_what_to_write() -> None:
    for words, match in (("nme=1", "there is no column 'nme' here"), ("ns>x", "write ns>100")):
        with pytest.raises(UsageError, match=match):
            LISTED.filtered(words)
    with pytest.raises(UsageError, match="column 'name' has no numbers"):
        ARROW.filtered("name>1")


def test_sorting_keeps_equal_rows_and_puts_missing_ones_last() -> None:
    assert names(LISTED.sorted("ns", descending=False)) == ["beta", "Alpha", "gamma", "alphabet"]
    assert names(LISTED.sorted("ns", descending=True)) == ["Alpha", "gamma", "beta", "alphabet"]
    assert names(ARROW.sorted("ns", descending=True))[-1] == "beta"
    mixed = ShownTable.of_rows([["b"], [2], ["a"], [10]], (Column("name"),))
    assert [mixed.sorted("name", descending=False).value(row, "name") for row in range(4)] == [
        2,
        10,
        "a",
        "b",
    ]


def test_a_filter_is_of_all_rows_and_keeps_the_order() -> None:
    table = LISTED.sorted("ns", descending=False).filtered("alpha").filtered("a")
    assert names(table) == ["beta", "Alpha", "gamma", "alphabet"]
    assert (len(LISTED.filtered("beta")), LISTED.filtered("beta").total) == (1, 4)


def test_what_is_exported_is_what_is_shown_to_nine_digits() -> None:
    table = ShownTable.of_rows([["a", 1 / 3], ["b", None]], COLUMNS)
    assert json.loads(table.exported("json")) == [
        {"name": "a", "ns": 0.333333333},
        {"name": "b", "ns": None},
    ]
    assert table.filtered("b").exported("csv") == "name,ns\nb,\n"


def test_columns_are_as_wide_as_their_cells_and_no_wider_than_a_screen() -> None:
    table = ShownTable.of_rows([["x" * 100, 1.0], ["y", 2.0]], COLUMNS)
    assert table.layout() == [(60, False), (3, True)]
    assert table.filtered("y").layout() == table.layout()


@pytest.mark.parametrize(
    ("text", "window"),
    [
        ("", ChosenWindow()),
        ("2", ChosenWindow("2")),
        ("100..250", ChosenWindow("all", 100.0, 250.0)),
        ("0 100..", ChosenWindow("0", 100.0, None)),
        ("..250 run", ChosenWindow("run", None, 250.0)),
    ],
)
def test_windows_are_read(text: str, window: ChosenWindow) -> None:
    assert ChosenWindow.parse(text) == window
    assert ChosenWindow.parse(str(window)) == window


def test_spans_zoom_and_move_within_another() -> None:
    whole = TimeSpan(0.0, 100.0)
    assert TimeSpan(20.0, 40.0).zoomed(0.5, whole) == TimeSpan(25.0, 35.0)
    assert TimeSpan(0.0, 40.0).zoomed(2.0, whole) == TimeSpan(0.0, 60.0)
    assert TimeSpan(20.0, 40.0).moved(0.5, whole) == TimeSpan(30.0, 50.0)
    assert TimeSpan(70.0, 90.0).moved(5.0, whole) == TimeSpan(80.0, 100.0)
    assert TimeSpan(10.0, 30.0).moved(-5.0, whole) == TimeSpan(0.0, 20.0)
    assert occupancy(np.array([0.0]), np.array([50.0]), whole, 2).tolist() == [1.0, 0.0]
    assert occupancy(np.array([0.0]), np.array([50.0]), TimeSpan(5.0, 5.0), 3).tolist() == [0.0] * 3


def test_only_neighbours_are_joined_on_a_map() -> None:
    cells = {(row, column): Cell(f"{row}{column}", "", 0.0) for row in range(2) for column in range(3)}
    found = _join("m", cells, {
        ((0, 0), (0, 1)): 0.1, ((0, 0), (1, 0)): 0.2, ((0, 0), (0, 2)): 0.9, ((0, 1), (1, 2)): 0.9,
    })  # fmt: skip
    assert (found.across, found.down, found.size) == ({(0, 0): 0.1}, {(0, 0): 0.2}, (2, 3))
    assert MeshMap("", {}).size == (0, 0)
