"""``kernbench compare``."""

from __future__ import annotations

from dataclasses import replace

import click

from kernbench.analysis.windows.chosen_window import ChosenWindow
from kernbench.cli import completion, options
from kernbench.cli.group import Command
from kernbench.cli.output import emit_content, format_option, number, say
from kernbench.draw.content import Content


@click.command(
    cls=Command,
    examples=[
        "kernbench compare last~1 last",
        "kernbench compare last~1 last --threshold 2% --format json",
    ],
)
@click.argument("before", shell_complete=completion.runs)
@click.argument("after", shell_complete=completion.runs)
@click.option(
    "--threshold",
    default="5%",
    show_default=True,
    callback=options.share,
    metavar="SHARE",
    help="How much slower a figure may get; above it the exit status is 1.",
)
@click.option(
    "--any",
    "any_bench",
    is_flag=True,
    help="Also compare runs of two different benches, and partial runs.",
)
@options.window
@click.option(
    "--top",
    type=click.IntRange(min=1),
    default=10,
    show_default=True,
    help="Parts of the path and resources to show.",
)
@options.store
@format_option
def command(
    before: str,
    after: str,
    threshold: float,
    any_bench: bool,
    window: ChosenWindow,
    top: int,
    store: str | None,
    fmt: str,
) -> None:
    """Show how the settings of BEFORE and AFTER differ, then what got slower, where and by how much.

    Exits 1 when the time of the window, of the run or of a launch, or the latency, has grown by more
    than the threshold. Causes and resources cover the launches, or the window that you choose. CSV has the
    figures.
    """
    from kernbench.api.comparing import compare
    from kernbench.api.summary import ALL

    with options.opened(store) as kept_in:
        found = compare(
            before, after, kept_in, threshold, top if fmt == "json" else ALL,
            launch=window, any_bench=any_bench,
        )  # fmt: skip

    def shown() -> Content:
        content = found.content()
        *grids, locations, resources = content.grids
        return replace(content, grids=[*grids, *(replace(one, first=top) for one in (locations, resources))])

    emit_content(fmt, found.as_dict, shown, found.flat)
    if fmt == "table":
        said = "slower" if found["slower"] else "not slower"
        say(f"\n{said}, with a threshold of {number(100 * threshold)}%")
    if found["slower"]:
        click.get_current_context().exit(1)
