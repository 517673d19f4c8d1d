"""An evaluation on every screen: its tables, the points that moved, and the files that were written."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kernbench.api.sweeps.evaluator import Evaluated
from kernbench.draw.content import SHARE, Column, Content, Grid, column

_MOVED = (
    Column("moved"),
    Column("change", SHARE, signed=True),
    *map(column, ("before_ns", "after_ns", "bench", "params", "topology", "before", "after")),
)
_SHOWN = 30
"""Rows of a table that are shown; all are in its CSV file."""


def of_evaluation(found: Evaluated) -> Content:
    """Its tables, then its notes and files."""
    tables = {name: rows for name, rows in found.tables.items() if rows}
    grids = [Grid(name, name, [*map(column, rows[0])], rows, first=_SHOWN) for name, rows in tables.items()]
    below = [f"note: {note}" for note in found.notes] + found.files
    if found.moved is not None:
        moved = [{**row, "params": params_text(row["params"])} for row in found.moved if row["moved"]]
        grids.append(Grid("moved", "against the baseline", _MOVED, moved, first=_SHOWN))
        below.insert(0, f"{len(moved)} of {len(found.moved)} points moved")
    text = "\n".join(below)
    return Content(grids, text, note=text)


def params_text(params: Mapping[str, Any]) -> str:
    """``m=16 n=32``."""
    return " ".join(f"{key}={value}" for key, value in params.items())
