"""``kernbench runs tag``."""

from __future__ import annotations

import click

from kernbench import api
from kernbench.cli.group import Command
from kernbench.cli.options import opened, store_option
from kernbench.cli.output import emit_list, format_option


@click.command(
    cls=Command, examples=["kernbench runs tag last baseline", "kernbench runs tag last --remove baseline"]
)
@click.argument("run")
@click.argument("tags", nargs=-1)
@click.option("--remove", multiple=True, metavar="TAG", help="A tag to take away; may be repeated.")
@store_option
@format_option
def command(run: str, tags: tuple[str, ...], remove: tuple[str, ...], store: str | None, fmt: str) -> None:
    """Give RUN the TAGS and print all that it has then, one a line. JSON has tags."""
    with opened(store) as kept_in:
        now = api.tag(run, tags, remove, kept_in)
    emit_list(fmt, "tags", "tag", now)
