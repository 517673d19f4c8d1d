"""``kernbench list``: the benches that come with the package."""

from __future__ import annotations

from typing import Any

import click

from kernbench.cli.group import Command
from kernbench.cli.output import emit, format_option


@click.command(cls=Command, examples=["kernbench list", "kernbench list --format json"])
@format_option
def command(fmt: str) -> None:
    """List the benches: index, name, description and parameters.

    'run --bench' takes the index instead of a name. Indexes change when benches are added.
    """
    from kernbench.api.running import benches as all_benches

    benches = all_benches()
    rows = [
        (b["index"], b["name"], b["description"], " ".join(map(_assignment, b["params"]))) for b in benches
    ]
    emit(fmt, {"benches": benches}, ("index", "name", "description", "params"), rows)


def _assignment(param: dict[str, Any]) -> str:
    return f"{param['name']}={param['default']}"
