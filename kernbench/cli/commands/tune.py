"""``kernbench tune``."""

from __future__ import annotations

from typing import Any

import click

import kernbench as kb
from kernbench.api.tuning import TUNING_GOALS, Point
from kernbench.cli import options
from kernbench.cli.group import Command
from kernbench.cli.output import emit_result, format_option
from kernbench.cli.progress import running


@click.command(
    cls=Command,
    examples=[
        "kernbench tune scale.py --topology minimal",
        "kernbench tune scale.py --topology minimal n=4096 --verify-data --format csv",
        "kernbench tune scale.py --topology minimal --for energy",
    ],
)
@options.bench
@options.topology
@options.changes
@options.device
@click.option(
    "--for", "goal", type=click.Choice(TUNING_GOALS), default="latency", show_default=True,
    help="What to minimize: latency, energy, or edp, the energy-delay product.",
)  # fmt: skip
@click.option("--verify-data", is_flag=True, help="Reject configurations that compute wrong values.")
@options.tag
@options.exact
@options.limits
@options.project
@options.store
@format_option
def command(
    bench: str,
    topology: str | None,
    goal: str,
    verify_data: bool,
    settings: dict[str, str],
    store: str | None,
    fmt: str,
    **same: Any,
) -> None:
    """Run a bench with each configuration of its kernels and print the best.

    Best means fastest in simulated time, or what --for names.

    It tunes each kernel of the bench that @kb.autotune gives configurations. Each run is saved. A
    configuration that fails is a row with its error; exits 1 when all configurations of a kernel fail. When
    interrupted, it prints what was measured so far.
    """
    measured: list[Point] = []
    try:
        with running() as progress:
            found = kb.tune(
                bench,
                topology,
                verify_data,
                params=settings,
                store=store,
                progress=progress,
                on_point=measured.append,
                goal=goal,
                **same,
            )
    except KeyboardInterrupt:
        if measured:
            emit_result(fmt, kb.Tuning(bench, tuple(measured), goal))
        raise
    emit_result(fmt, found)
    if found.untuned:
        raise click.ClickException(f"no configuration of kernel '{found.untuned[0]}' works")
