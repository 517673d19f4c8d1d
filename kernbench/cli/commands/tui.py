"""``kernbench tui``."""

from __future__ import annotations

import sys

import click

from kernbench.cli import completion
from kernbench.cli.group import Command
from kernbench.cli.options import RUN_HELP, opened, store_option


@click.command(cls=Command, examples=["kernbench tui", "kernbench tui last"])
@click.argument("given", metavar="[RUN]", required=False, shell_complete=completion.runs)
@click.option("--run", "named", metavar="RUN", help=RUN_HELP, shell_complete=completion.runs)
@store_option
def command(given: str | None, named: str | None, store: str | None) -> None:
    """Browse kept runs in the terminal: launches, critical path, waits, topology, questions, comparison.

    Opens RUN, or the list of all runs. Every row leads on with Enter; ? shows the keys. Nothing is written.
    Needs the extra: pip install 'kernbench[tui]'.
    """
    from kernbench.tui.start import browse, require

    if given is not None and named is not None:
        raise click.UsageError(f"the run is given twice, as '{given}' and as --run {named}; give it once")
    require()
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise click.UsageError("the terminal UI needs a terminal; 'kernbench runs show' prints a run")
    with opened(store) as kept_in:
        browse(kept_in, given or named)
