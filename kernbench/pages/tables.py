"""Tables of the page: columns with units, rows, remarks, and what of it can be drawn as a graph."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from kernbench.report.cells import plain, text
from kernbench.report.content import BARS, PERCENT, Column, Content, Grid
from kernbench.report.targets import sort_of

_SHOWN = 10_000
"""Rows that are sent; more are counted."""


def table(
    columns: Iterable[Column | str],
    rows: Iterable[Sequence[Any]],
    *,
    empty: str = "nothing here",
    notes: Sequence[str] = (),
) -> dict[str, Any]:
    """A table: ``columns rows notes empty cut``.

    A column has ``name unit percent leads``; ``leads`` is the sort of thing that its cells name, such as
    ``resource`` or ``transaction``, or empty. ``cut`` is how many rows were left out for being too many to
    send.
    """
    known = [Column(one) if isinstance(one, str) else one for one in columns]
    given = [list(row) for row in rows]
    return {
        "columns": [
            {"name": c.name, "unit": c.unit or _unit(c.name), "percent": c.percent or c.name in PERCENT,
             "leads": sort_of(c.name) or ""}
            for c in known
        ],
        "rows": [[cell(value) for value in row] for row in given[:_SHOWN]],
        "notes": list(notes),
        "empty": empty,
        "cut": max(len(given) - _SHOWN, 0),
    }  # fmt: skip


def grid_table(grid: Grid, empty: str = "") -> dict[str, Any]:
    """A table as it is described."""
    columns, rows, _ = grid.few()
    return table(columns, rows, empty=grid.empty or empty)


def content(shown: Content) -> dict[str, Any]:
    """A tab: ``title facts wrong said note choice grids``.

    Each grid has ``key heading note pairs total unit only_bars table drawn``.
    """
    return {
        "title": shown.title,
        "facts": [list(pair) for pair in shown.facts],
        "wrong": list(shown.wrong),
        "said": list(shown.said),
        "note": shown.note,
        "choice": shown.choice,
        "grids": [
            {
                "key": grid.key,
                "heading": grid.heading,
                "pairs": grid.pairs(),
                "total": grid.total,
                "unit": next((c.unit for c in grid.columns if c.name == grid.bars), ""),
                "note": grid.note,
                "only_bars": grid.only_bars and len(grid.rows) <= BARS,
                "table": grid_table(grid, shown.empty),
                "drawn": grid.drawn,
            }
            for grid in shown.grids
        ],
    }


def cell(value: Any) -> Any:
    """A cell as JSON: numbers, truth and None as they are, all else as people read it."""
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float) or hasattr(value, "tolist"):
        return plain(value)
    return text(value)


def _unit(name: str) -> str:
    return "ns" if name == "ns" or name.endswith("_ns") else ""
