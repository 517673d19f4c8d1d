"""``kernbench report``."""

from __future__ import annotations

import click

import kernbench as kb
from kernbench.analysis.windows.chosen_window import ChosenWindow
from kernbench.cli import completion, options
from kernbench.cli.group import Command
from kernbench.cli.output import emit, format_option
from kernbench.cli.progress import Progress


@click.command(
    cls=Command,
    examples=["kernbench report", "kernbench report last --launch 0 --out launch.html"],
)
@options.run
@click.option(
    "--out", metavar="FILE.html", default="report.html", show_default=True, help="The file to write."
)
@click.option(
    "--against", metavar="RUN", shell_complete=completion.runs, help="Compare it with an earlier run."
)
@options.window
@options.timeout
@options.store
@format_option
def command(
    run: str,
    out: str,
    against: str | None,
    window: ChosenWindow,
    store: str | None,
    fmt: str,
) -> None:
    """Write RUN as one self-contained HTML file to share: the page of 'kernbench web' with its data.

    It has the machine with its use over time, the timeline, where the time went, the critical path, waits,
    roofline, and the answers to all questions without a required parameter. It works offline in any browser.
    """
    with options.opened(store) as kept_in, Progress() as progress, progress.during("writing the page"):
        kept = kb.open_run(run, kept_in)
        file = kb.write_report(
            kept, out, kept_in, launch=window, against=against,
            progress=progress.of_pieces,
        )  # fmt: skip
    emit(fmt, {"run_id": kept.id, "files": [file]}, ("file",), [(file,)])
