"""Tables where there is room for few rows, on the page, and what is cut out of windows."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

import kernbench as kb
from kernbench.analysis.windows.chosen_window import ChosenWindow
from kernbench.analysis.windows.time_window import Window
from kernbench.api import comparing
from kernbench.api.pictures import diagram_frames
from kernbench.draw.content import SHARE, Column, Content, Grid
from kernbench.draw.timeline.model import TimelineRow
from kernbench.page import tables, times

NAME, NS = Column("name"), Column("ns", "ns")


def grid(rows: int, **how: Any) -> Grid:
    return Grid("g", "G", (NAME, NS), [{"name": f"n{row}", "ns": float(row)} for row in range(rows)], **how)


@pytest.mark.parametrize(
    ("rows", "first", "most", "shown"),
    [(8, None, None, 8), (8, 6, None, 6), (8, 6, 5, 5), (8, None, 5, 5), (3, 6, 5, 3)],
)
def test_few_rows_are_the_first_and_the_rest_is_counted(
    rows: int, first: int | None, most: int | None, shown: int
) -> None:
    _, found, left = grid(rows, first=first).few(most)
    assert found == [[f"n{row}", float(row)] for row in range(shown)]
    assert left == rows - shown


def test_a_summary_shows_five_rows() -> None:
    shown = Content([grid(9, first=7)], "")
    assert [f"n{row}" in shown.html(summary=True) for row in range(9)] == [True] * 5 + [False] * 4
    assert [f"n{row}" in shown.html() for row in range(9)] == [True] * 7 + [False] * 2


def test_rows_beyond_what_the_page_takes_are_counted() -> None:
    for count, cut in ((10_000, 0), (10_001, 1), (10_250, 250)):
        found = tables.table(["name"], [[f"n{row}"] for row in range(count)])
        assert (len(found["rows"]), found["cut"]) == (count - cut, cut)


def test_a_change_has_its_sign() -> None:
    signed, plain = Column("change", SHARE, signed=True), Column("share", SHARE)
    assert [signed.text(value) for value in (0.087, -0.087)] == ["+8.7%", "-8.7%"]
    assert plain.text(0.087) == "8.7%"


def test_a_bar_of_several_is_filled_as_far_as_they_cover_it() -> None:
    begin, end = np.array([0.0, 3.0, 20.0]), np.array([1.0, 4.0, 30.0])
    zeros = np.zeros(3, np.int64)
    row = TimelineRow("p", "l", begin, end, zeros, zeros, ("", "", ""), zeros, ("", "", ""), "op")
    joined = times._row(row, 5.0, {})
    assert (joined["count"], joined["begin"], joined["end"]) == ([2, 1], [0.0, 20.0], [4.0, 30.0])
    assert joined["filled"] == [0.5, 1.0]


def test_frames_between_launches_are_left_out() -> None:
    run = cast(kb.Run, SimpleNamespace(window=lambda *_: Window("w", ((0, 2), (8, 10)))))
    assert [(one.from_ns, one.to_ns) for one in diagram_frames(run, 5)] == [(0, 2), (8, 10)]


def test_a_part_that_gained_and_lost_is_ranked_by_what_it_lost() -> None:
    """``busy`` and ``wait`` of two parts before and after: the first works less and waits more."""

    def of(busy: list[float], wait: list[float]) -> kb.Run:
        used = {"resource": ["a", "b"], "kind": ["k", "k"], "busy_ns": busy, "wait_ns": wait}
        return cast(kb.Run, SimpleNamespace(use=lambda _: used))

    rows = comparing._resources(of([100.0, 0.0], [0.0, 0.0]), of([10.0, 20.0], [50.0, 0.0]), ChosenWindow())
    assert [(row["resource"], row["change_ns"]) for row in rows] == [("a", 50.0), ("b", 20.0)]
