"""``kernbench export``."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import click

import kernbench as kb
from kernbench.analysis.windows.chosen_window import ChosenWindow
from kernbench.api.exporting import Format, formats
from kernbench.cli import completion, options
from kernbench.cli.group import Command
from kernbench.cli.output import emit, format_option

_LIST = "\n".join(f"  {form.name:<9} {form.about}" for form in formats().values())
_HELP = f"""Write RUN for another tool, as FORMAT:

\b
{_LIST}

Unless you choose a window, traces and pictures show the launches, tables and graphs the whole run; with a
window, tables have the rows that overlap it. In Perfetto, time 0 is the window's start; arguments of events
have exact times and the numbers that questions take as parameters: op, transaction, launch.
"""


@click.command(
    cls=Command,
    help=_HELP,
    examples=[
        "kernbench export perfetto",
        "kernbench export perfetto last --launch 0 --links --waits --out links.pftrace",
        "kernbench export csv --out tables",
        "kernbench export timeline --rows 4 --out timeline.svg",
        "kernbench export graphml last --out run.graphml",
    ],
)
@click.argument("given", nargs=-1, metavar="FORMAT [RUN]", shell_complete=completion.exports)
@click.option(
    "--out",
    metavar="PATH",
    help="The file; for tables a folder, for chakra a prefix of files.  [default: the run's id]",
)
@click.option(
    "--links",
    is_flag=True,
    help="perfetto, timeline: add links, memories and other parts.",
)
@click.option("--waits/--no-waits", default=None, help="perfetto, timeline: add waits and queued operations.")
@click.option("--fold/--no-fold", default=None, help="timeline: show identical PEs and links once.")
@click.option(
    "--rows", type=click.IntRange(min=0), help="timeline: number of PEs to show, and of other parts; 0: all."
)
@click.option(
    "--ticks",
    type=click.Choice(["ns", "ps"]),
    help="perfetto: the unit of its timestamps. They are integers, so ns rounds and ps is exact.",
)
@options.window
@options.store
@format_option
@click.pass_context
def command(
    ctx: click.Context,
    /,
    given: tuple[str, ...],
    out: str | None,
    window: ChosenWindow,
    store: str | None,
    fmt: str,
    **_options: Any,
) -> None:
    """Write a run for another tool."""
    run, form = _what(given)
    whole = form.whole and not options.given(ctx, "launch")
    chosen = replace(window, launch="run") if whole else window
    drawing = options.given(ctx, "links", "waits", "fold", "rows", "ticks")
    with options.opened(store) as kept_in:
        kept = kb.open_run(run, kept_in)
        files = kept.export(form.name, out, chosen, **drawing)
        name = kept.window(chosen).name
    payload = {"run_id": kept.id, "to": form.name, "window": name, "files": files}
    emit(fmt, payload, ("file",), [(file,) for file in files], lambda: [f"{kept.bench}, {name}"])


def _what(given: tuple[str, ...]) -> tuple[str, Format]:
    """The run and the format, of up to two words in any order."""
    known = formats()
    form = next((known[word] for word in given if word in known), None)
    runs = list(given)
    if form is None:
        named = f"no format among {' and '.join(map(repr, runs))}; " if runs else ""
        raise click.UsageError(
            f"{named}name a format, such as 'kernbench export perfetto': {', '.join(known)}"
        )
    runs.remove(form.name)
    if len(runs) > 1:
        raise click.UsageError(f"several runs are given, {' and '.join(runs)}; give one")
    return (runs[0] if runs else "last"), form
