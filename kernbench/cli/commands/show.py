"""``kernbench show``: a run at a glance, or one of its tabs."""

from __future__ import annotations

import click

import kernbench as kb
from kernbench.analysis.windows.chosen_window import ChosenWindow
from kernbench.cli import options
from kernbench.cli.group import Command
from kernbench.cli.output import emit_content, format_option
from kernbench.cli.run_report import print_run


@click.command(
    cls=Command,
    examples=["kernbench show", "kernbench show last~1 --launch 0", "kernbench show last --tab waits"],
)
@options.run
@click.option("--tab", metavar="TAB", help="Show this tab of the page instead, such as waits.")
@options.details
@options.window
@options.store
@format_option
def command(
    run: str,
    tab: str | None,
    details: bool,
    window: ChosenWindow,
    store: str | None,
    fmt: str,
) -> None:
    """Show one run: its settings, times and launches, where the time went, the busiest resources.

    --tab shows all rows of one tab; JSON has its tables by key, CSV the first one.
    """
    with options.opened(store) as kept_in:
        kept = kb.open_run(run, kept_in)
        if tab is None:
            print_run(fmt, kept, details, window)
            return
        content = kept.screen(tab, window)
    tables = {grid.key: list(grid.rows) for grid in content.grids}
    emit_content(fmt, lambda: {"run_id": kept.id, "tab": tab, **tables}, lambda: content, content.flat)
