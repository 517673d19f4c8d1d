"""``kernbench tune``."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from functools import partial
from typing import Any

import click

import kernbench as kb
from kernbench.api.tuning import TUNING_GOALS, Point
from kernbench.cli import options
from kernbench.cli.group import Command
from kernbench.cli.output import emit, format_option, say
from kernbench.cli.progress import running

_COLUMNS = ("kernel", "key", "config", "latency_ns", "launch_ns", "best", "run_id", "error")


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

    JSON has bench, points (kernel, key, config, latency_ns, launch_ns, best, run_id, error; with another goal
    also energy_pj and edp_pj_ns), best_run, and settings: what 'kernbench run BENCH' takes to run with the
    best.
    """
    file = options.topology_file(topology)
    measured: list[Point] = []
    try:
        with running() as progress:
            found = kb.tune(
                bench,
                file,
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
            _print(fmt, kb.Tuning(bench, tuple(measured)), goal)
        raise
    _print(fmt, found, goal)
    if found.untuned:
        raise click.ClickException(f"no configuration of kernel '{found.untuned[0]}' works")


def _print(fmt: str, found: kb.Tuning, goal: str) -> None:
    columns = _COLUMNS if goal == "latency" else (*_COLUMNS[:5], "energy_pj", "edp_pj_ns", *_COLUMNS[5:])
    rows = [_row(fmt, point, goal) for point in sorted(found.points, key=partial(_order, goal=goal))]
    empty = {i for i, name in enumerate(columns) if name in ("key", "error") and not any(r[i] for r in rows)}
    if fmt != "table":
        empty = set()
    shown = [name for i, name in enumerate(columns) if i not in empty]
    emit(fmt, found.as_dict(), shown, [[c for i, c in enumerate(row) if i not in empty] for row in rows])
    if fmt == "table" and found.settings:
        chosen = " ".join(shlex.quote(f"{name}={value}") for name, value in found.settings.items())
        say(f"\nto run with the best: {chosen}")
    if fmt == "table" and found.best_run:
        say(f"the run with the best: {found.best_run} ('last' is the one that was measured last)")


def _order(point: Point, goal: str) -> tuple[str, str, bool, float]:
    """Kernel by kernel and key by key, the best first, those that failed last."""
    cost = point.cost(goal)
    return point.kernel, str(point.key), cost is None, 0.0 if cost is None else round(cost, 6)


def _row(fmt: str, point: Point, goal: str) -> Sequence[object]:
    best = ("*" if point.best else "") if fmt == "table" else point.best
    return (
        point.kernel,
        ", ".join(f"{name}={value}" for name, value in point.key),
        " ".join(f"{name}={value}" for name, value in point.config.items()),
        point.latency_ns,
        point.launch_ns,
        *(() if goal == "latency" else (point.energy_pj, point.cost("edp"))),
        best,
        point.run_id,
        point.error,
    )
