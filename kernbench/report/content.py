"""What a tab holds, as every surface draws it: lines of text, and tables of described columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from kernbench.report.cells import printable, share

PERCENT = frozenset({"utilisation", "occupancy", "share", "change"})
"""Columns of shares, 0 to 1, wherever they occur."""
BARS = 20
"""Rows of a table that are drawn as bars."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column: its name, its unit (empty for names and counts), whether shares are shown as percentages."""

    name: str
    unit: str = ""
    percent: bool = False
    prose: bool = False
    """Whether cells are sentences, which may go on in further lines."""

    @property
    def title(self) -> str:
        """The heading; a unit that the name says already is not repeated."""
        name = printable(self.name)
        said = self.unit.lower().replace("/", "") in self.name.split("_")
        return name if self.percent or not self.unit or said else f"{name} {self.unit}"


@dataclass(frozen=True, slots=True)
class Grid:
    """A table: ``rows`` have a value for each column, or lack it."""

    key: str
    heading: str
    columns: Sequence[Column]
    rows: Sequence[Mapping[str, Any]]
    bars: str = ""
    """The column whose first rows are drawn as bars, by the column ``name``; empty for none."""
    total: float = 0.0
    """What the bars are shares of."""
    parts: Sequence[str] = ()
    """Columns that name parts of the machine: rows of symmetric ones are one where there is room for few."""
    first: int | None = None
    """Rows that are shown where there is room for few."""
    drawn: Any = None
    """Plain data for a picture of this table, where a surface has one."""

    @property
    def names(self) -> list[str]:
        """Names of the columns."""
        return [column.name for column in self.columns]

    def cells(self) -> list[list[Any]]:
        """Rows of values, with shares as texts in percent."""
        return [
            [share(row.get(c.name)) if c.percent else row.get(c.name) for c in self.columns]
            for row in self.rows
        ]

    def pairs(self) -> list[list[Any]]:
        """Names and values of the rows that are drawn as bars."""
        return [[row["name"], row[self.bars]] for row in self.rows[:BARS]] if self.bars else []


@dataclass(frozen=True, slots=True)
class Content:
    """Everything that a tab shows of a run; without rows it is ``empty`` that is said."""

    grids: Sequence[Grid]
    empty: str
    said: Sequence[str] = ()
    """Lines above: figures of this run."""
    note: str = ""
    """What is to be known of the figures."""
    choice: str = ""
    """What is chosen by the table that is looked at; empty where all tables are shown one below the other."""

    def html(self) -> str:
        """The whole of it for a notebook."""
        from kernbench.pgraph import html_table

        lines = "".join(f"<p>{escape(line)}</p>" for line in self.said)
        shown = [grid for grid in self.grids if grid.rows]
        if not shown:
            return lines or f"<p>{escape(self.empty)}</p>"
        tables = [
            html_table([c.title for c in grid.columns], grid.cells(), grid.heading if len(shown) > 1 else "")
            for grid in shown
        ]
        return f"{lines}{''.join(tables)}<p>{escape(self.note)}</p>"
