"""A described tab as one table of a terminal: its tables one below the other, sentences over several rows."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping
from typing import Any

from kernbench.report.content import Column, Content
from kernbench.tui.models.table import Table

_PROSE = 40
"""Characters of a line of prose: with the other columns beside it, 80."""
_BY = Column("by")


def table_of(content: Content) -> Table:
    """The table; a column ``by`` says to which of several each row belongs."""
    columns = list(dict.fromkeys(column for grid in content.grids for column in grid.columns))
    several = len(content.grids) > 1
    rows = (
        {"by": grid.key, **line}
        for grid in content.grids
        for row in grid.rows
        for line in _lines(row, columns)
    )
    return Table.of_dicts(rows, [_BY, *columns] if several else columns, content.empty)


def _lines(row: Mapping[str, Any], columns: list[Column]) -> Iterator[Mapping[str, Any]]:
    """A row, and below it what is left of its sentences, without figures."""
    told = {c.name: textwrap.wrap(str(row[c.name]), _PROSE) for c in columns if c.prose and row.get(c.name)}
    yield {**row, **{name: lines[0] for name, lines in told.items()}}
    nothing = dict.fromkeys(row, "")
    for name, lines in told.items():
        yield from ({**nothing, name: text} for text in lines[1:])
