"""``kernbench runs prune``."""

from __future__ import annotations

import click

from kernbench import api
from kernbench.cli.group import Command
from kernbench.cli.options import opened, store_option
from kernbench.cli.output import emit_list, format_option


@click.command(
    cls=Command,
    examples=["kernbench runs prune --keep 10 --dry-run", "kernbench runs prune --keep 5 --bench qkv-gemm"],
)
@click.option("--keep", type=click.IntRange(min=0), required=True, help="Newest runs of each bench to keep.")
@click.option("--bench", metavar="NAME", help="Only runs of this bench.")
@click.option("--tagged", is_flag=True, help="Count and remove runs with tags as well.")
@click.option("--dry-run", is_flag=True, help="Remove nothing, only say what would go.")
@store_option
@format_option
def command(keep: int, bench: str | None, tagged: bool, dry_run: bool, store: str | None, fmt: str) -> None:
    """Remove all but the newest runs of each bench, and print the id of each that goes.

    Runs that have a tag stay. JSON has runs: the ids.
    """
    with opened(store) as kept_in:
        gone = api.prune(keep, bench, tagged, dry_run, kept_in)
    emit_list(fmt, "runs", "run_id", gone)
