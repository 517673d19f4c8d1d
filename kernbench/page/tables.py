"""Tables of the page: columns with units, rows, remarks, and what of it can be drawn as a graph."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from kernbench.draw.cells import is_number, plain, text
from kernbench.draw.colours import CAUSES
from kernbench.draw.content import BARS, SHARE, Column, Content, Grid, column
from kernbench.draw.targets import sort_of

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

    A column has ``name title leads bar colours``; ``leads`` is the sort of thing that its cells name, such as
    ``resource`` or ``transaction``, or empty; ``bar`` says whether shares are drawn, and ``colours`` those of
    its cells' texts, if any. ``cut`` is how many rows were left out for being too many to send.
    """
    known = [column(one) if isinstance(one, str) else one for one in columns]
    given = [list(row) for row in rows]
    return {
        "columns": [
            {"name": c.name, "title": c.title, "leads": sort_of(c.name) or "",
             "bar": c.unit == SHARE and not c.signed, "colours": dict(CAUSES) if c.name == "cause" else None}
            for c in known
        ],
        "rows": [[cell(c, value) for c, value in zip(known, row, strict=True)] for row in given[:_SHOWN]],
        "notes": list(notes),
        "empty": empty,
        "cut": max(len(given) - _SHOWN, 0),
    }  # fmt: skip


def grid_table(grid: Grid, empty: str = "") -> dict[str, Any]:
    """A table as it is described."""
    columns, rows, _ = grid.few()
    return table(columns, rows, empty=grid.empty or empty)


def content(shown: Content) -> dict[str, Any]:
    """A tab: ``title facts wrong said note choice opens grids``.

    Each grid has ``key heading note pairs only_bars table drawn``; ``pairs`` are ``[name, share, text]``.
    """
    return {
        "title": shown.title,
        "facts": [list(pair) for pair in shown.facts],
        "wrong": list(shown.wrong),
        "said": list(shown.said),
        "note": shown.note,
        "choice": shown.choice,
        "opens": shown.opens,
        "grids": [
            {
                "key": grid.key,
                "heading": grid.heading,
                "pairs": _pairs(grid),
                "note": grid.note,
                "only_bars": grid.only_bars and len(grid.rows) <= BARS,
                "table": grid_table(grid, shown.empty),
                "drawn": grid.drawn,
            }
            for grid in shown.grids
        ],
    }


def _pairs(grid: Grid) -> list[list[Any]]:
    """What is drawn as bars."""
    of = next((one for one in grid.columns if one.name == grid.bars), Column(""))
    unit = f" {of.unit}" if of.unit != "pJ" else ""
    return [[n, v / grid.total if grid.total > 0 else 0.0, f"{of.text(v)}{unit}"] for n, v in grid.pairs()]


def cell(of: Column, value: Any) -> Any:
    """A cell as JSON: a number or text that is read as it is, else a number or nothing with its text."""
    given = plain(value) if value is None or is_number(value) or hasattr(value, "tolist") else text(value)
    read = of.text(value)
    return given if isinstance(given, str | int) and str(given) == read else [given, read]
