"""``kernbench runs rm``."""

from __future__ import annotations

import click

from kernbench.cli.group import Command
from kernbench.cli.options import opened, store_option


@click.command(cls=Command, examples=["kernbench runs rm last"])
@click.argument("runs", nargs=-1, required=True)
@store_option
def command(runs: tuple[str, ...], store: str | None) -> None:
    """Remove RUNS and print the id of each. Nothing is removed unless all of them exist."""
    with opened(store) as kept_in:
        for run_id in dict.fromkeys(kept_in.resolve(run) for run in runs):
            kept_in.remove(run_id)
            print(run_id)
