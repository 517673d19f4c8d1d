"""Output to stdout: a table for people, one JSON value or CSV for programs, always the same facts."""

from __future__ import annotations

import csv
import json
import os
import shutil
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TextIO, TypeVar

import click

from kernbench.api.shown import Shows
from kernbench.cli.source_links import linked
from kernbench.draw.cells import csv_cell, printable
from kernbench.draw.cells import fold as fold
from kernbench.draw.cells import number as number
from kernbench.draw.cells import plain as plain
from kernbench.draw.content import Column, Content, Flat, Grid, column, text_table

Function = TypeVar("Function", bound=Callable[..., Any])
Row = Sequence[Any]


def format_option(function: Function) -> Function:
    """The option ``--format table|json|csv``, passed as ``fmt``."""
    return click.option(
        "--format",
        "fmt",
        type=click.Choice(["table", "json", "csv"]),
        default="table",
        show_default=True,
        help="How to print: json is one value on one line (keys: docs/reference/cli.md), csv has a line of "
        "column names.",
    )(function)


def emit(
    fmt: str,
    payload: Any,
    columns: Sequence[str | Column],
    rows: Iterable[Row],
    heading: Callable[[], Iterable[str]] = list,
) -> None:
    """Print one result: ``payload`` as JSON, or ``columns`` and ``rows`` as a table or CSV.

    ``heading`` gives lines that come before a table and nowhere else.
    """
    if fmt == "json":
        print_json(payload)
    elif fmt == "csv":
        print_csv([one.name if isinstance(one, Column) else one for one in columns], rows)
    else:
        for line in heading():
            say(line)
        print_table(columns, rows)


def print_content(content: Content, whole: bool = False, beside: Callable[[], None] | None = None) -> None:
    """What a tab shows, for people: its lines, and the first rows of each table that has any, or all."""
    for name, told in content.facts:
        say(f"{name:<13} {told}")
    for line in (*content.wrong, *content.said):
        say(line)
    below = bool(content.facts or content.wrong or content.said)
    for grid in content.grids:
        below = print_grid(grid, whole, below) or below
    if beside is not None:
        beside()
    if whole:
        say_last(content)


def say_last(content: Content) -> None:
    """What comes below the tables, or what is said in their place."""
    below = content.note if any(grid.rows for grid in content.grids) else content.empty
    if below:
        say(f"\n{below}")


def print_grid(grid: Grid, whole: bool, below: bool) -> bool:
    """The first rows of a table, or all that a tab shows, below its heading. Whether it has any.

    ``below``: something comes before it.
    """
    columns, rows, left = grid.few(None if whole else grid.in_summary)
    if rows:
        if grid.heading:
            say(f"\n{grid.heading}" if below else grid.heading)
        print_table(columns, rows)
        if left:
            say(f"{left} more")
    return bool(rows)


def emit_result(fmt: str, result: Shows, beside: Callable[[], None] | None = None) -> None:
    """Print a result: all of it as JSON or for people, one table of it as CSV.

    ``beside`` draws a picture for people, below the tables.
    """
    emit_content(fmt, result.as_dict, result.content, result.flat, beside)


def emit_content(
    fmt: str,
    payload: Callable[[], Any],
    content: Callable[[], Content],
    flat: Callable[[], Flat],
    beside: Callable[[], None] | None = None,
) -> None:
    """Print what the format needs: ``payload`` as JSON, ``flat`` as CSV, or ``content`` for people."""
    if fmt == "json":
        print_json(payload())
    elif fmt == "csv":
        print_csv(*flat())
    else:
        print_content(content(), whole=True, beside=beside)


def emit_list(fmt: str, key: str, column: str, texts: Sequence[str]) -> None:
    """Print texts: for people and their shells one a line and nothing above; as JSON under ``key``."""
    if fmt == "table":
        for text in texts:
            say(text)
    else:
        emit(fmt, {key: list(texts)}, (column,), [(text,) for text in texts])


def say(text: str = "", *, to: TextIO | None = None) -> None:
    """Print lines for people, by default to stdout, with control characters written out.

    Everything that the command line prints goes through here: users choose names and tags, errors quote
    them, and a terminal would obey the control characters in them.
    """
    lines = "\n".join(map(printable, text.split("\n")))
    print(linked(lines) if to is None else lines, file=to)


def remark(text: str) -> None:
    """Print a remark to stderr, beside the answer."""
    say(f"kernbench: note: {' '.join(text.splitlines())}", to=sys.stderr)


def draw(text: str) -> None:
    """Print lines as they are, with colours or as a file's content; names in them are ``printable``."""
    print(text)


def print_json(value: Any) -> None:
    """``value`` as one line of JSON. numpy's numbers become JSON's; NaN and infinity become null.

    Characters that a terminal would obey are escaped as JSON has it: the value is the same.
    """
    text = json.dumps(plain(value), ensure_ascii=False, allow_nan=False)
    print(
        text if text.isprintable() else "".join(c if c.isprintable() else json.dumps(c)[1:-1] for c in text)
    )


def print_csv(columns: Sequence[str], rows: Iterable[Row]) -> None:
    """RFC 4180 but with bare newlines; lists and objects are JSON inside their cell.

    A program gets texts as they are, a terminal without what it would obey.
    """
    writer = csv.writer(sys.stdout, lineterminator="\n")
    on_terminal = sys.stdout.isatty()
    writer.writerow([printable(name) if on_terminal else name for name in columns])
    for row in rows:
        cells = [csv_cell(plain(cell)) for cell in row]
        writer.writerow([printable(c) if on_terminal and isinstance(c, str) else c for c in cells])


def print_table(columns: Sequence[str | Column], rows: Iterable[Row]) -> None:
    """Aligned columns: fitted to the terminal, or in full width when stdout is a pipe or a file."""
    known = [one if isinstance(one, Column) else column(one) for one in columns]
    on_terminal = sys.stdout.isatty()
    made = text_table(known, list(rows), shutil.get_terminal_size().columns if on_terminal else None)
    bold = on_terminal and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    for line in made.head:
        print(f"\x1b[1m{line}\x1b[0m" if bold else line)
    for line in made.body:
        print(linked(line))
