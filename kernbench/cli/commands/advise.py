"""``kernbench advise``: what to change next."""

from __future__ import annotations

import click

import kernbench as kb
from kernbench.cli import options
from kernbench.cli.group import Command
from kernbench.cli.output import emit, format_option, number, say
from kernbench.cli.progress import Progress
from kernbench.cli.source_links import link_lines


@click.command(
    cls=Command,
    examples=["kernbench advise", "kernbench advise last~1 --launch 0", "kernbench advise --format json"],
)
@options.run
@click.option(
    "--launch", metavar="N|all", default="all", show_default=True, help="One launch, or all of them."
)
@click.option(
    "--least", type=click.FloatRange(0.0, 1.0), default=0.01, show_default=True, metavar="SHARE",
    help="Leave out advice that saves less than this share of the time, 0 to 1.",
)  # fmt: skip
@options.queries
@options.timeout
@options.store
@format_option
def command(
    run: str, launch: str, least: float, queries: tuple[str, ...], store: str | None, fmt: str
) -> None:
    """Recommend what to change next for RUN: the largest saving first, each with its evidence.

    Savings are estimates from the critical path, and two of them may overlap: make one change, run again,
    and ask for advice again. 'kernbench query RULE' shows the rows behind a rule. Rules are questions
    whose file has the key 'advice'; --queries adds a folder with your own.
    """
    from kernbench.api.contents.advice import EMPTY, share_of

    with options.opened(store) as kept_in, Progress() as progress, progress.during("looking for advice"):
        found = kb.advise(run, kept_in, launch=launch, least=least, queries=queries)
        link_lines(kb.open_run(found["run_id"], kept_in))
    shown = found.content()
    if fmt != "table":
        (grid,) = shown.grids
        return emit(fmt, found, grid.names, grid.values())
    of, *more = shown.said
    say("\n".join([of if found["advice"] else f"{of}; {EMPTY}", *more]))
    for one in found["advice"]:
        say(f"\nsaves about {number(one['saves_ns'])} ns ({share_of(one)})  [{one['rule']}]")
        say(one["advice"] + (f"\nin the model: {one['model']}" if one["model"] else ""))
    return None
