"""``kernbench doctor``."""

from __future__ import annotations

import click

from kernbench.api.diagnosis import doctor
from kernbench.cli import options
from kernbench.cli.group import Command
from kernbench.cli.output import emit_result, format_option


@click.command(cls=Command, examples=["kernbench doctor"])
@options.store
@format_option
def command(store: str | None, fmt: str) -> None:
    """Print versions, the store backends that are installed, and whether the store works.

    Exits 1 when something that KernBench needs is missing or the store cannot be used.
    """
    report = doctor(store)
    emit_result(fmt, report)
    if not report["ok"]:
        broken = next(check for check in report["checks"] if check["state"] == "failed")
        raise click.ClickException(f"{broken['check']}: {broken['detail']}")
