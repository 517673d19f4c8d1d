"""``kernbench runs show``."""

from __future__ import annotations

import click

from kernbench import api
from kernbench.cli.group import Command
from kernbench.cli.options import opened, store_option
from kernbench.cli.output import format_option
from kernbench.cli.run_report import print_run


@click.command(cls=Command, examples=["kernbench runs show last"])
@click.argument("run")
@store_option
@format_option
def command(run: str, store: str | None, fmt: str) -> None:
    """Show what is known of one run: its settings, times, launches and busiest resources."""
    with opened(store) as kept_in:
        print_run(fmt, api.open_run(run, kept_in))
