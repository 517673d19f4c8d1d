"""``kernbench completion``: the script that makes a shell complete kernbench's arguments."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from kernbench.cli.group import COMPLETE_VARIABLE, Command

_SHELLS = ("bash", "zsh", "fish")


@click.command(
    cls=Command,
    examples=[
        'eval "$(kernbench completion bash)"',
        'eval "$(kernbench completion zsh)"',
        "kernbench completion fish > ~/.config/fish/completions/kernbench.fish",
    ],
)
@click.argument("shell", type=click.Choice(_SHELLS))
def command(shell: str) -> None:
    """Print the completion script for a shell; the examples show how to load it.

    It completes commands, options, benches, questions, runs, topologies and parameters. Put the line of the
    example into ~/.bashrc or ~/.zshrc to load it in every shell.
    """
    from kernbench.cli.app import app

    found = get_completion_class(shell)
    assert found is not None
    completion = found(app, {}, "kernbench", COMPLETE_VARIABLE)
    click.echo(completion.source_template % completion.source_vars())
