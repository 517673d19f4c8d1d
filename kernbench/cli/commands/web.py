"""``kernbench web``."""

from __future__ import annotations

import click

from kernbench.cli import completion, options
from kernbench.cli.group import Command

_PORT = 8765


@click.command(
    cls=Command,
    examples=["kernbench web", "kernbench web last --port 0 --no-open"],
)
@click.argument("run", metavar="[RUN]", required=False, shell_complete=completion.runs)
@options.moved("--run", "{command} {value}")
@click.option(
    "--port", type=click.IntRange(0, 65535), default=_PORT, show_default=True, metavar="N",
    help="The port to listen on; 0 for any free port.",
)  # fmt: skip
@click.option(
    "--host", metavar="ADDRESS", default="127.0.0.1", show_default=True,
    help="The address to listen on. With an address other than loopback, such as 0.0.0.0, everyone on the "
    "network can read all runs of the store.",
)  # fmt: skip
@click.option("--open/--no-open", "open_browser", default=True, show_default=True, help="Open the browser.")
@options.store
def command(run: str | None, port: int, host: str, open_browser: bool, store: str | None) -> None:
    """Browse kept runs in the browser: machine, timeline, critical path, questions, comparison.

    Serves one page, to this computer only, until Ctrl-C. It shows RUN, by default the last, with links to
    all other runs. The store is not changed.
    """
    from kernbench.page.server.start import serve

    def say(url: str) -> None:
        click.echo(f"serving {url} until Ctrl-C")

    with options.opened(store) as kept_in:
        serve(kept_in, run, host=host, port=port, open_browser=open_browser, say=say)
