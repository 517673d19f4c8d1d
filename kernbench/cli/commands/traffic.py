"""``kernbench traffic``."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import click

import kernbench as kb
from kernbench.cli import completion, options
from kernbench.cli.group import Command
from kernbench.cli.output import (
    emit,
    format_option,
    number,
    print_csv,
    print_grid,
    print_json,
    say,
)
from kernbench.cli.progress import running
from kernbench.draw.content import Grid, columns_of

_FLOW = ("name", "src", "dst", "op", "bytes", "offset", "count", "start_ns", "end_ns", "bandwidth_gbs",
         "wait_ns", "peak_path_gbs", "peak_fair_gbs")  # fmt: skip
_KIND = ("kind", "links", "used", "mean_utilisation", "max_utilisation", "bytes", "wait_ns")


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
    where = options.topology_file(topology)
    with running() as progress:
        run = kb.traffic(
            file,
            where,
            params=settings,
            store=store,
            trace=not no_trace,
            progress=progress,
            check=check or None,
            **same,
        )
    if fmt == "json":
        print_json(run.summary(top))
    elif fmt == "csv":
        print_csv(_FLOW, [[flow[column] for column in _FLOW] for flow in run.flows])
    else:
        _print_for_people(run, top)


def _list(fmt: str) -> None:
    patterns = kb.traffic_patterns()
    rows = [
        (p["name"], p["formula"], " ".join(f"{q['name']}={q['default']}" for q in p["params"]))
        for p in patterns
    ]
    emit(fmt, {"patterns": patterns}, ("name", "formula", "params"), rows)


def _print_for_people(run: kb.TrafficRun, top: int) -> None:
    totals = run.totals
    for name, value in (
        ("run", run.id or "not kept"),
        ("topology", run.topology),
        ("flows", len(run.flows)),
        ("makespan", f"{number(totals['makespan_ns'])} ns"),
        ("bytes", totals["total_bytes"]),
        ("bandwidth", f"{number(totals['bandwidth_gbs'])} GB/s"),
        ("path peak", _peak(totals, "peak_path_gbs")),
        ("fair peak", _peak(totals, "peak_fair_gbs")),
    ):
        say(f"{name:<13} {value}")
    from kernbench.api.contents import parts

    kinds = [row for row in run.link_kinds if row["used"]]
    few = len(run.flows) <= top
    heading = "Flows" if few else "Flows that end last; '--format csv' has all in their order"
    flows = run.flows if few else sorted(run.flows, key=lambda flow: -flow["end_ns"])
    for grid in (
        replace(parts.grid(run.summary(top)["busiest_links"], "links"), first=top),
        Grid("kinds", "Links by kind", columns_of(" ".join(_KIND)), kinds, "no link was used"),
        replace(parts.grid(run.summary(top)["busiest_engines"], "engines, memories and routers"), first=top),
        Grid("flows", heading, columns_of(" ".join(_FLOW)), flows, "no flows", first=top),
    ):
        print_grid(replace(grid, in_summary=None))


def _peak(totals: dict[str, Any], key: str) -> str:
    return f"{number(totals[key])} GB/s, {totals['bandwidth_gbs'] / totals[key]:.1%} of it reached"
