"""What ``runs export`` and ``runs import`` share: copying runs between the store and another one."""

from __future__ import annotations

import click

from kernbench import api
from kernbench.cli.group import Command
from kernbench.cli.options import opened, store_option
from kernbench.cli.output import emit, format_option
from kernbench.errors import UsageError


def copy_command(name: str, option: str, text: str, *, outward: bool) -> click.Command:
    """The command ``name``, whose ``option`` names the other store; ``text`` is the first line of its help.

    ``outward`` copies go to that store, others come from it.
    """

    @click.command(
        name, cls=Command, help=f"{text}\n\n{_MORE}", examples=[f"kernbench runs {name} {option} archive"]
    )
    @click.argument("runs", nargs=-1)
    @click.option(
        option, "other_url", required=True, metavar="URL",
        help=f"Where to copy them {'to' if outward else 'from'}: a folder or a store URL.",
    )  # fmt: skip
    @store_option
    @format_option
    def command(runs: tuple[str, ...], other_url: str, store: str | None, fmt: str) -> None:
        with opened(store) as kept_in, opened(other_url) as other:
            source, target = (kept_in, other) if outward else (other, kept_in)
            copied = api.copy_runs(runs, source, target)
            if not copied:
                raise UsageError(f"the store '{source.url}' holds no runs; there is nothing to copy")
        emit(fmt, {"runs": copied}, ("run_id", "copied"), [(row["run_id"], row["copied"]) for row in copied])

    return command


_MORE = "A run that is there already is left alone. JSON has runs: run_id and copied of each."
