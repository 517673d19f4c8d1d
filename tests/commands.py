"""The commands of the command line, each with the context that its help is made in."""

from __future__ import annotations

from collections.abc import Iterator

import click

from kernbench.cli.app import app
from kernbench.cli.group import LazyGroup


def commands(
    command: click.Command = app, parent: click.Context | None = None, name: str = "kernbench"
) -> Iterator[click.Context]:
    """The context of ``command`` and of all below it, in order."""
    settings = command.context_settings
    context = click.Context(
        command, info_name=name, parent=parent, terminal_width=96, max_content_width=96, **settings
    )
    yield context
    if isinstance(command, LazyGroup):
        for child in command.list_commands(context):
            found = command.get_command(context, child)
            assert found is not None
            yield from commands(found, context, child)
