"""``kernbench traffic``."""

from __future__ import annotations

from typing import Any

import click

import kernbench as kb
from kernbench.cli import completion, options
from kernbench.cli.group import Command
from kernbench.cli.output import emit, emit_content, format_option
from kernbench.cli.progress import running


@click.command(
    cls=Command,
    examples=[
        "kernbench traffic pattern:transpose bytes=16384",
        "kernbench traffic pattern:neighbour --topology minimal --format json",
        "kernbench traffic --list",
    ],
)
@options.settings("FILE|pattern:NAME [NAME=VALUE]...", completion.patterns)
@click.option("--list", "list_all", is_flag=True, help="List the patterns, their formulas and parameters.")
@options.topology
@options.changes
@click.option(
    "--top", type=click.IntRange(min=1), default=10, show_default=True, metavar="N",
    help="Number of busiest links, of other parts, and of flows to show.",
)  # fmt: skip
@options.instruments
@options.kept
@options.check
@options.timeout
@options.project
@options.store
@format_option
def command(
    words: tuple[str, ...],
    list_all: bool,
    topology: str | None,
    settings: dict[str, str],
    top: int,
    check: bool,
    no_trace: bool,
    store: str | None,
    fmt: str,
    **same: Any,
) -> None:
    """Run the flows of FILE, or of a built-in pattern, concurrently; print when each started and ended.

    FILE is YAML, JSON or CSV: a list of flows with the keys src (a PE, host or an M_CPU), dst (an HBM slice,
    an SRAM or a TCM), bytes and, optionally, op (write or read), start_ns, count, period_ns, offset, name.
    JSON may also be an event trace of tt-metal's profiler, as tt-npe reads it, for --topology wormhole. The
    run is saved under the bench name 'traffic' and can be queried like any other.
    """
    file = options.at_most_one(words, "the flows")
    if (file is None) != list_all:
        raise click.UsageError("give one of FILE, pattern:NAME and --list")
    if file is None:
        _list(fmt)
        return
    with running() as progress:
        run = kb.traffic(
            file,
            topology,
            params=settings,
            store=store,
            trace=not no_trace,
            progress=progress,
            check=check or None,
            **same,
        )
    from kernbench.api.contents.traffic import content

    emit_content(fmt, lambda: run.summary(top), lambda: content(run, top), run.flat)


def _list(fmt: str) -> None:
    patterns = kb.traffic_patterns()
    rows = [
        (p["name"], p["formula"], " ".join(f"{q['name']}={q['default']}" for q in p["params"]))
        for p in patterns
    ]
    emit(fmt, {"patterns": patterns}, ("name", "formula", "params"), rows)
