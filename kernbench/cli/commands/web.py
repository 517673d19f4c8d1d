"""``kernbench web``."""

from __future__ import annotations

import click

from kernbench.cli import completion
from kernbench.cli.group import Command
from kernbench.cli.options import RUN_HELP, opened, store_option

_PORT = 8765


@click.command(
    cls=Command,
    examples=["kernbench web", "kernbench web last --port 0 --no-open"],
)
@click.argument("given", metavar="[RUN]", required=False, shell_complete=completion.runs)
@click.option("--run", "named", metavar="RUN", help=RUN_HELP, shell_complete=completion.runs)
@click.option(
    "--port", type=click.IntRange(0, 65535), default=_PORT, show_default=True, metavar="N",
    help="Where to listen; 0 for any port that is free.",
)  # fmt: skip
@click.option(
    "--host", metavar="ADDRESS", default="127.0.0.1", show_default=True,
    help="The address to listen at. With any other than the loopback one, such as 0.0.0.0, everybody in the "
    "network can read all runs of the store.",
)  # fmt: skip
@click.option("--open/--no-open", "open_browser", default=True, show_default=True, help="Open the browser.")
@store_option
def command(
    given: str | None, named: str | None, port: int, host: str, open_browser: bool, store: str | None
) -> None:
    """Browse kept runs in the browser: machine, timeline, critical path, questions, comparison.

    Serves one page until Ctrl-C, on this machine alone. It shows RUN, by default the last, and leads to all
    others of the store. Nothing is written to the store.
    """
    from kernbench.web.start import serve

    if given is not None and named is not None:
        raise click.UsageError(f"the run is given twice, as '{given}' and as --run {named}; give it once")

    def say(url: str) -> None:
        click.echo(f"serving {url} until Ctrl-C")

    with opened(store) as kept_in:
        serve(kept_in, given or named, host=host, port=port, open_browser=open_browser, say=say)
