"""``kernbench runs list``."""

from __future__ import annotations

import click

from kernbench import api
from kernbench.cli.group import Command
from kernbench.cli.options import opened, store_option
from kernbench.cli.output import emit, format_option

_COLUMNS = ("run_id", "bench", "topology", "sim_ns", "verified", "status", "started_at", "tags")


@click.command(
    cls=Command, examples=["kernbench runs list", "kernbench runs list --bench qkv-gemm --format csv"]
)
@click.option("--bench", metavar="NAME", help="Only runs of this bench.")
@store_option
@format_option
def command(bench: str | None, store: str | None, fmt: str) -> None:
    """List the kept runs, oldest first.

    Wherever a run is asked for, a part of its id that no other run starts with will do, as will 'last'
    for the newest and 'last~2' for the one two before it.
    """
    with opened(store) as kept_in:
        kept = [run.info for run in api.runs(kept_in) if bench in (None, run.bench)]
    rows = [[row[column] for column in _COLUMNS] for row in kept]
    if fmt == "table":
        rows = [[*row[:-2], _time(row[-2]), ", ".join(row[-1])] for row in rows]
    emit(fmt, {"runs": kept}, _COLUMNS, rows)


def _time(iso: str) -> str:
    """``2026-01-31 23:59:59`` (UTC, as all times here): what people need of it."""
    return iso[:19].replace("T", " ")
