"""``kernbench runs export``."""

from __future__ import annotations

import click

from kernbench import api
from kernbench.cli.group import Command
from kernbench.cli.options import opened, store_option
from kernbench.cli.output import emit, format_option


@click.command(cls=Command, examples=["kernbench runs export last --to archive"])
@click.argument("runs", nargs=-1)
@click.option(
    "--to", "other_url", required=True, metavar="URL", help="Where to copy them to: a folder or a store URL."
)
@store_option
@format_option
def command(runs: tuple[str, ...], other_url: str, store: str | None, fmt: str) -> None:
    """Copy RUNS, by default all, from the store to the one at --to, with their topologies.

    A run that is there already is left alone. JSON has runs: run_id and copied of each.
    """
    with opened(store) as kept_in, opened(other_url) as other:
        copied = api.copy_runs(runs, kept_in, other)
    emit(fmt, {"runs": copied}, ("run_id", "copied"), [(row["run_id"], row["copied"]) for row in copied])
