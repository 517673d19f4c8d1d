"""A described tab as one table of a terminal: its tables one below the other, sentences over several rows."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from kernbench.draw.content import Column, Content, Grid
from kernbench.tui.models.table import ShownTable

_PROSE = 36
"""Characters of a line of prose: with the other columns and a scrollbar beside it, 80."""
_BY, _NAME = Column("by"), Column("name")


def table_of(content: Content) -> ShownTable:
    """The table; a column ``by`` says to which of several each row belongs, and ``name`` which it is."""
    if len(content.grids) == 1:
        return grid_table(content.grids[0], content.empty)
    named = [
        ([_NAME if column.name == grid.label else column for column in grid.columns], grid)
        for grid in content.grids
    ]
    columns = list(dict.fromkeys(column for known, _ in named for column in known))
    rows = (
        {"by": grid.key, "name": row.get(grid.label), **line}
        for _, grid in named
        for row in grid.rows
        for line in _lines(row, columns)
    )
    return ShownTable.of_dicts(rows, [_BY, *columns], content.empty)


def grid_table(grid: Grid, empty: str = "") -> ShownTable:
    """A described table as it is."""
    rows = (line for row in grid.rows for line in _lines(row, grid.columns))
    return ShownTable.of_dicts(rows, grid.columns, grid.empty or empty)


def _lines(row: Mapping[str, Any], columns: Sequence[Column]) -> Iterator[Mapping[str, Any]]:
    """A row, and below it what is left of its sentences, without figures."""
    told = {c.name: textwrap.wrap(str(row[c.name]), _PROSE) for c in columns if c.prose and row.get(c.name)}
    yield {**row, **{name: lines[0] for name, lines in told.items()}}
    nothing = dict.fromkeys(row, "")
    for name, lines in told.items():
        yield from ({**nothing, name: text} for text in lines[1:])
