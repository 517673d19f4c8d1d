"""The page of an evaluation: its facts, notes, tables and pictures, as notebooks show them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from kernbench.draw.content import Content, Grid, column
from kernbench.export.html import files


def page(
    title: str,
    facts: Mapping[str, str],
    tables: Mapping[str, Sequence[Mapping[str, Any]]],
    pictures: Sequence[Path],
    notes: Sequence[str] = (),
) -> str:
    """The page: ``facts`` as lines under the title, then notes, tables and PNG pictures."""
    grids = [Grid(name, name, [column(key) for key in rows[0]], [*map(_texts, rows)])
             for name, rows in tables.items() if rows]  # fmt: skip
    shown = Content(grids, "no rows", title=title, facts=list(facts.items()), said=notes)
    images = "".join(files.picture(file.stem, file.read_bytes()) for file in pictures)
    return files.still(title, shown.html() + images)


def _texts(row: Mapping[str, Any]) -> dict[str, Any]:
    """Parameters of a point on one line."""
    return {
        key: " ".join(f"{n}={one}" for n, one in value.items()) if isinstance(value, Mapping) else value
        for key, value in row.items()
    }
