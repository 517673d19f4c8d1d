"""``kernbench timeline``."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from typing import Any

import click

import kernbench as kb
from kernbench.analysis.windows.chosen_window import ChosenWindow
from kernbench.cli import options
from kernbench.cli.group import Command
from kernbench.cli.output import format_option, print_csv, print_json, say

_BARS = ("place", "count", "begin", "end", "category", "name", "number", "source")
_PIPE_COLUMNS = 110
"""Characters of a line where stdout is not a terminal."""


@click.command(
    cls=Command,
    examples=[
        "kernbench timeline",
        "kernbench timeline last --launch 0 --links --rows 4",
    ],
)
@options.run
@options.moved("--out", "kernbench export timeline --out {value}")
@options.window
@click.option(
    "--links",
    is_flag=True,
    help="Add links, memories, routers and CPUs.",
)
@click.option("--waits/--no-waits", default=True, show_default=True, help="Add queued operations.")
@click.option(
    "--fold/--no-fold",
    default=True,
    show_default=True,
    help="Show identical PEs and links once.",
)
@click.option(
    "--rows", type=click.IntRange(min=0), default=16, show_default=True,
    help="Number of PEs to show, and of links and other parts; 0: all.",
)  # fmt: skip
@options.store
@format_option
def command(
    run: str,
    window: ChosenWindow,
    links: bool,
    waits: bool,
    fold: bool,
    rows: int,
    store: str | None,
    fmt: str,
) -> None:
    """Show RUN on a timeline: its launches, PEs with their engines, and queued operations.

    Percentages are occupancy: the share of the time in which work was waiting or served. The height of a bar
    is the occupancy in that interval. 'kernbench export timeline' writes an SVG; hover over an operation for
    its name, number and source line.
    """
    with options.opened(store) as kept_in:
        kept = kb.open_run(run, kept_in)
        line = kept.timeline(window, links=links, waits=waits, fold=fold, rows=rows)
    if fmt == "json":
        print_json({"run_id": kept.id, **line.to_dict()})
    elif fmt == "csv":
        print_csv(_BARS, _rows(line.to_dict()))
    else:
        columns = max(shutil.get_terminal_size().columns if sys.stdout.isatty() else _PIPE_COLUMNS, 40)
        say(line.text(columns, ascii_only=not _draws(sys.stdout.encoding)).removesuffix("\n"))


def _rows(line: dict[str, Any]) -> Iterator[tuple[Any, ...]]:
    for group in line["groups"]:
        for row in group["rows"]:
            for bar in row["bars"]:
                yield (row["place"], group["count"], *(bar[name] for name in _BARS[2:]))


def _draws(encoding: str | None) -> bool:
    """Whether bars can be written in an encoding."""
    try:
        "▁█·".encode(encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True
