"""Output to stdout: a table for people, one JSON value or CSV for programs, always the same facts."""

from __future__ import annotations

import csv
import json
import math
import os
import re
import shutil
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

import click

from kernbench.cli.table import table
from kernbench.pgraph import GraphNode, GraphPath, GraphRelationship, plain_entities

Function = TypeVar("Function", bound=Callable[..., Any])
Row = Sequence[Any]

_PERCENT = re.compile(r"[-+]?\d+(\.\d+)?%")


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


def emit_list(fmt: str, key: str, column: str, texts: Sequence[str]) -> None:
    """Print texts: for people and their shells one a line and nothing above; as JSON under ``key``."""
    if fmt == "table":
        for text in texts:
            print(text)
    else:
        emit(fmt, {key: list(texts)}, (column,), [(text,) for text in texts])


def fold(columns: Sequence[str], rows: Sequence[Row]) -> tuple[list[str], list[Row]]:
    """Fold neighbouring rows that differ only in the numbers of their names; a column ``alike`` counts them.

    Nothing is folded, and no column added, where no two rows are alike. Times within 1e-9 are equal.
    """
    folded: list[Row] = []
    counts: list[int] = []
    last = None
    for row in rows:
        key = tuple(_alike(cell) for cell in row)
        if key == last:
            counts[-1] += 1
        else:
            folded.append(row)
            counts.append(1)
        last = key
    if len(folded) == len(rows):
        return list(columns), list(rows)
    return [*columns, "alike"], [[*row, count] for row, count in zip(folded, counts, strict=True)]


def _alike(cell: Any) -> Any:
    """A cell as far as it tells rows apart that are not symmetric."""
    if isinstance(cell, str):
        return re.sub(r"\d+", "#", cell)
    return round(cell, 9) if isinstance(cell, float) else cell


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
    shown = [[_shown(cell) for cell in row] for row in rows]
    numeric = [any(_is_number(row[index]) for row in shown) for index in range(len(columns))]
    cells = [[_printable(_table_cell(cell)) for cell in row] for row in shown]
    on_terminal = sys.stdout.isatty()
    made = table(columns, cells, numeric, shutil.get_terminal_size().columns if on_terminal else None)
    bold = on_terminal and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    for line in made.head:
        print(f"\x1b[1m{line}\x1b[0m" if bold else line)
    for line in made.body:
        print(line)


def plain(value: Any) -> Any:
    """``value`` with nothing in it but what JSON knows."""
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if _is_entity(value):
        return plain(plain_entities(value))
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    return str(value)


def _shown(value: Any) -> Any:
    """A cell of a table: as :func:`plain`, but nodes, relationships and paths as patterns."""
    if _is_entity(value):
        return str(value)
    if isinstance(value, list | tuple) and any(_is_entity(item) for item in value):
        return f"[{', '.join(str(_shown(item)) for item in value)}]"
    return plain(value)


def _is_entity(value: Any) -> bool:
    """Whether ``value`` is a node, a relationship or a path."""
    return isinstance(value, GraphNode | GraphRelationship | GraphPath)


def number(value: float | None) -> str:
    """A figure for people: at most three digits after the point, none that say nothing."""
    if value is None:
        return "-"
    if abs(value) < 1e-9:
        return "0"  # rounding; no time or share of the model is that small
    text = f"{value:.3f}".rstrip("0").rstrip(".")
    return text if text not in {"0", "-0"} or value == 0 else f"{value:.3g}"


def _is_number(value: Any) -> bool:
    if isinstance(value, str):
        return _PERCENT.fullmatch(value) is not None
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


def _printable(text: str) -> str:
    """``text`` with control characters, which a terminal would obey, written out."""
    return text if text.isprintable() else "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


def _csv_cell(value: Any) -> Any:
    if isinstance(value, bool):
        return "true" if value else "false"
    return json.dumps(value, ensure_ascii=False) if isinstance(value, list | dict) else value
