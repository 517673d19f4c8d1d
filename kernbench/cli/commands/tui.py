"""``kernbench tui``."""

from __future__ import annotations

import re

import click

from kernbench.cli import completion, options
from kernbench.cli.group import Command
from kernbench.cli.output import say


def _size(_ctx: click.Context, _param: click.Parameter, text: str) -> tuple[int, int]:
    found = re.fullmatch(r"([1-9]\d{0,2})x([1-9]\d{0,2})", text)
    if found is None:
        raise click.BadParameter(f"'{text}' is not a size; write columns and rows, 1 to 999 each, as 100x30")
    return int(found[1]), int(found[2])


@click.command(
    cls=Command, examples=["kernbench tui", "kernbench tui last", "kernbench tui last --keys t --svg map.svg"]
)
@click.argument("run", metavar="[RUN]", required=False, shell_complete=completion.runs)
@options.moved("--run", "{command} {value}")
@click.option("--svg", metavar="FILE", help="Draw the screen into a file instead; works without a terminal.")
@click.option(
    "--keys", metavar="KEYS", default="", help='With --svg: keys to press first, such as "t tab enter".'
)
@click.option(
    "--size", metavar="COLUMNSxROWS", default="100x30", show_default=True, callback=_size,
    help="With --svg: the size of the screen.",
)  # fmt: skip
@options.store
def command(run: str | None, svg: str | None, keys: str, size: tuple[int, int], store: str | None) -> None:
    """Browse kept runs in the terminal: launches, critical path, waits, topology, questions, comparison.

    Opens RUN, or the list of all runs. Enter opens a row, ? shows the keys. The store is not
    changed.
    """
    from kernbench.tui.start import browse, draw, require_terminal

    if keys and svg is None:
        raise click.UsageError("--keys is for --svg; name a file to draw the screen into")
    if svg is None:
        require_terminal()
    with options.opened(store) as kept_in:
        if svg is None:
            browse(kept_in, run)
        else:
            draw(kept_in, run, keys.split(), size, svg)
            say(f"wrote {svg}")
