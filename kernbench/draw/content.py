"""What a tab holds, as every surface draws it: lines of text, and tables of described columns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape
from typing import Any

from kernbench.draw.cells import fold, is_number, joules, printable, share, shown, text
from kernbench.draw.targets import sort_of
from kernbench.draw.text_table import TextTable, table

SHARE = "share"
"""The unit of shares, 0 to 1, which people read as percentages."""
MARK = "mark"
"""The unit of truth values that people read as a mark."""
_UNITS = {
    **{"ns": "ns", "gbs": "GB/s", "mm": "mm", "pj": "pJ", "bytes": "bytes"},
    **dict.fromkeys(("utilisation", "occupancy", "share", "change"), SHARE),
}
"""By the last word of a column's name, of columns that nothing else describes."""
_NUMBERS = ("launch", "transaction", "operation")
"""Things that are known by their number, -1 for none."""
Flat = tuple[Sequence[str], Iterable[Sequence[Any]]]
"""Column names, and rows of cells."""
BARS = 20
"""Rows of a table that are drawn as bars."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column: its name, and its unit, empty for names and counts."""

    name: str
    unit: str = ""
    signed: bool = False
    """Whether shares that grew have a plus sign."""
    prose: bool = False
    """Whether cells are sentences, which may go on in further lines."""
    quiet: Sequence[Any] = ()
    """Cells that say nothing: people do not see a column that has no others."""

    @property
    def title(self) -> str:
        """The heading; a unit that the name says already is not repeated, nor one that cells have."""
        name = printable(self.name)
        if self.unit == "pJ":
            return name.removesuffix("_pj")
        said = self.unit.lower().replace("/", "") in self.name.split("_")
        return name if self.unit in ("", SHARE, MARK) or said else f"{name} {self.unit}"

    def shown(self, value: Any) -> Any:
        """What stands for a value where people read it: a percentage, an energy with its unit, or itself."""
        if self.unit == MARK:
            return "*" if value else ""
        if not is_number(value):
            return value
        if value == -1 and (sort_of(self.name) in _NUMBERS or self.name in ("route", "hop")):
            return None
        if self.unit == SHARE:
            return share(value, "+" if self.signed else "")
        return joules(value) if self.unit == "pJ" else value

    def text(self, value: Any) -> str:
        """A cell as people read it, the same on every surface."""
        return text(self.shown(value))


def columns_of(names: str) -> tuple[Column, ...]:
    """Columns by their names, which say what is a time, a bandwidth, a length or a share."""

    def unit(name: str) -> str:
        return "ns" if name.startswith("t_") else _UNITS.get(name.rpartition("_")[2], "")

    return tuple(Column(name, unit(name)) for name in names.split())


def column(name: str, quiet: Sequence[Any] = ()) -> Column:
    """One column by its name."""
    known = columns_of(name)[0] if name.split() == [name] else Column(name)
    return replace(known, quiet=quiet)


@dataclass(frozen=True, slots=True)
class Grid:
    """A table: ``rows`` have a value for each column, or lack it."""

    key: str
    heading: str
    columns: Sequence[Column]
    rows: Sequence[Mapping[str, Any]]
    empty: str = ""
    """The text shown when there are no rows; by default that of the whole tab."""
    note: str = ""
    """Caveats."""
    label: str = "name"
    """The column that names rows."""
    bars: str = ""
    """The column whose first rows are drawn as bars, with their ``label``; empty for none."""
    total: float = 0.0
    """What the bars are shares of."""
    only_bars: bool = False
    """Whether bars say all that there is in the rows, so that no table is needed beside them."""
    parts: Sequence[str] = ()
    """Columns that name parts of the machine: rows of symmetric ones are one where there is room for few."""
    first: int | None = None
    """Rows that are shown where there is room for few."""
    in_summary: int | None = 5
    """Rows that summaries show; None for all of :attr:`first`."""
    drawn: Any = None
    """Plain data for a picture of this table, where a surface has one."""

    @property
    def names(self) -> list[str]:
        """Names of the columns."""
        return [column.name for column in self.columns]

    def values(self) -> list[list[Any]]:
        """The rows with a value for each column."""
        return [[row.get(name) for name in self.names] for row in self.rows]

    def few(self, most: int | None = None) -> tuple[list[Column], list[list[Any]], int]:
        """Columns and values where there is room for few, and how many rows are left out.

        Quiet columns that say nothing are left out. Rows of symmetric parts are one, with their ``count``; of
        these the :attr:`first`, and no more than ``most``.
        """
        columns = [
            one
            for one in self.columns
            if not one.quiet or any(row.get(one.name) not in one.quiet for row in self.rows)
        ]
        rows = [[row.get(one.name) for one in columns] for row in self.rows]
        if self.parts:
            names, rows = fold([one.name for one in columns], rows, self.parts)  # type: ignore[assignment]
            columns += [Column(name) for name in names[len(columns) :]]
        shown = rows[: self.first][:most]
        if columns and columns[-1] not in self.columns and all(row[-1] == 1 for row in shown):
            columns, shown = columns[:-1], [row[:-1] for row in shown]
        return columns, shown, len(rows) - len(shown)

    def pairs(self) -> list[list[Any]]:
        """Names and values of the rows that are drawn as bars."""
        return [[row[self.label], row[self.bars]] for row in self.rows[:BARS]] if self.bars else []


def lines(key: str, heading: str, texts: Iterable[str]) -> Grid:
    """Lines of text below a heading: a table of one column without a name."""
    return Grid(key, heading, (Column("", prose=True),), [{"": text} for text in texts])


@dataclass(frozen=True, slots=True)
class Content:
    """Everything that a tab shows of a run; without rows it is ``empty`` that is said."""

    grids: Sequence[Grid]
    empty: str
    said: Sequence[str] = ()
    """Lines above: figures of this run."""
    note: str = ""
    """Caveats."""
    choice: str = ""
    """What is chosen by the table that is looked at; empty where all tables are shown one below the other."""
    opens: str = ""
    """The key of the table that is looked at first; by default the first one's."""
    title: str = ""
    facts: Sequence[tuple[str, str]] = ()
    """Names and texts of what is shown, such as its settings."""
    wrong: Sequence[str] = ()
    """Lines on what is wrong with it."""

    def _repr_html_(self) -> str:
        return self.html()

    def __str__(self) -> str:
        return self.text()

    def text(self) -> str:
        """The whole of it as lines, tables in full width."""
        lines = [f"{name:<13} {told}" for name, told in self.facts] + [*self.wrong, *self.said]
        shown = [grid for grid in self.grids if grid.rows]
        for grid in shown:
            columns, rows, _ = grid.few()
            lines += ["", grid.heading] if grid.heading else []
            made = text_table(columns, rows)
            lines += [*made.head, *made.body]
        lines += [self.note] if shown and self.note else [] if shown else [self.empty]
        return "\n".join(printable(one) for line in lines for one in line.split("\n"))

    def flat(self) -> Flat:
        """The first table, as CSV has it."""
        return self.grids[0].names, self.grids[0].values()

    def html(self, summary: bool = False) -> str:
        """The whole of it for a notebook; as a ``summary`` the first rows of each table."""
        from kernbench.support.pgraph import html_table

        head = f"<h4>{escape(self.title)}</h4>" if self.title else ""
        told = "; ".join(f"{escape(name)} {escape(text)}" for name, text in self.facts)
        head += f"<p>{told}</p>" if told else ""
        lines = "".join(f"<p>{escape(line)}</p>" for line in (*self.wrong, *self.said))
        shown = [grid for grid in self.grids if grid.rows]
        if not shown:
            return head + lines or f"<p>{escape(self.empty)}</p>"
        tables = []
        for grid in shown:
            columns, rows, _ = grid.few(grid.in_summary if summary else None)
            caption = grid.heading if len(self.grids) > 1 else ""
            tables.append(html_table([c.title for c in columns], as_shown(columns, rows), caption))
        return f"{head}{lines}{''.join(tables)}<p>{escape(self.note)}</p>"


def text_table(
    columns: Sequence[Column], rows: Sequence[Sequence[Any]], width: int | None = None
) -> TextTable:
    """A table as lines, ``width`` in characters, None for any."""
    numeric = [any(is_number(row[index]) for row in rows) for index in range(len(columns))]
    cells = [[text(shown(cell)) for cell in row] for row in as_shown(columns, rows)]
    titles = [one.title for one in columns]
    made = table(titles, cells, numeric, width)
    return made if any(titles) else TextTable([], made.body)


def as_shown(columns: Sequence[Column], rows: Iterable[Sequence[Any]]) -> list[list[Any]]:
    """Rows of values, with what stands for them where people read them."""
    return [[column.shown(value) for column, value in zip(columns, row, strict=True)] for row in rows]
