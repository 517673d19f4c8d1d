"""What goes to stdout: a table for people, one JSON value or CSV for programs, always the same facts."""

from __future__ import annotations

import csv
import json
import math
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from rich.table import Table

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
        help="How to print: json is one value on one line, csv has a line of column names.",
    )(function)


def emit(
    fmt: str,
    payload: Any,
    columns: Sequence[str],
    rows: Iterable[Row],
    heading: Callable[[], Iterable[str]] = list,
) -> None:
    """Print one result: ``payload`` as JSON, or ``columns`` and ``rows`` as a table or CSV.

    ``heading`` gives lines that come before a table and nowhere else.
    """
    if fmt == "json":
        print_json(payload)
    elif fmt == "csv":
        print_csv(columns, rows)
    else:
        for line in heading():
            print(line)
        print_table(columns, rows)


def print_json(value: Any) -> None:
    """``value`` as one line of JSON. numpy's numbers become JSON's; NaN and infinity become null."""
    print(json.dumps(plain(value), ensure_ascii=False, allow_nan=False))


def print_csv(columns: Sequence[str], rows: Iterable[Row]) -> None:
    """RFC 4180 but with bare newlines; lists and objects are JSON inside their cell."""
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(columns)
    for row in rows:
        writer.writerow([_csv_cell(plain(cell)) for cell in row])


def print_table(columns: Sequence[str], rows: Iterable[Row]) -> None:
    """Aligned columns: fitted to the terminal, or in full width when stdout is a pipe or a file."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    shown = [[plain(cell) for cell in row] for row in rows]
    table = Table(box=None, pad_edge=False, header_style="bold")
    for index, column in enumerate(columns):
        numeric = any(_is_number(row[index]) for row in shown)
        table.add_column(Text(column), justify="right" if numeric else "left", overflow="fold")
    for row in shown:
        table.add_row(*(Text(_table_cell(cell)) for cell in row))
    if sys.stdout.isatty():
        Console(highlight=False).print(table)
    else:
        for line in _unfolded(table):
            print(line)


def _unfolded(table: Table) -> list[str]:
    from rich.console import Console

    console = Console(width=1_000_000, color_system=None, highlight=False)
    with console.capture() as capture:
        console.print(table)
    return [line.rstrip() for line in capture.get().splitlines()]


def plain(value: Any) -> Any:
    """``value`` with nothing in it but what JSON knows."""
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    return str(value)


def number(value: float | None) -> str:
    """A figure for people: at most three digits after the point, none that say nothing."""
    if value is None:
        return "-"
    text = f"{value:.3f}".rstrip("0").rstrip(".")
    return text if text not in {"0", "-0"} or value == 0 else f"{value:.3g}"


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _table_cell(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return number(value)
    if isinstance(value, list | dict):
        return json.dumps(value, ensure_ascii=False)
    return str(value)


def _csv_cell(value: Any) -> Any:
    if isinstance(value, bool):
        return "true" if value else "false"
    return json.dumps(value, ensure_ascii=False) if isinstance(value, list | dict) else value
