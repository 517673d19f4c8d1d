"""``kernbench runs rm``."""

from __future__ import annotations

import click

from kernbench.cli.group import Command
from kernbench.cli.options import opened, store_option
from kernbench.cli.output import emit_list, format_option


@click.command(cls=Command, examples=["kernbench runs rm last"])
@click.argument("runs", nargs=-1, required=True)
@store_option
@format_option
def command(runs: tuple[str, ...], store: str | None, fmt: str) -> None:
    """Remove RUNS and print the id of each. Nothing is removed unless all of them exist.

    JSON has runs: the ids.
    """
    with opened(store) as kept_in:
        gone = list(dict.fromkeys(kept_in.resolve(run) for run in runs))
        for run_id in gone:
            kept_in.remove(run_id)
    emit_list(fmt, "runs", "run_id", gone)
