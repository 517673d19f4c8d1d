"""``kernbench sweep``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

import kernbench as kb
from kernbench.cli import completion, options
from kernbench.cli.group import Command
from kernbench.cli.output import emit_result, format_option
from kernbench.cli.progress import running
from kernbench.cli.sweep_chart import draw_chart
from kernbench.errors import nothing_checked
from kernbench.support.sizes import counted

if TYPE_CHECKING:
    from kernbench.api.sweeps.result import SweepPoint


@click.command(
    cls=Command,
    examples=[
        "kernbench sweep gemm-single-pe --topology minimal m=16..64*2",
        "kernbench sweep gemm-single-pe --topology minimal m=16,32 "
        "--topo cube.hbm.channel_gbs=16,32 --jobs 2 --out sweep.parquet --plot sweep.png",
        "kernbench sweep flash-attention --topology minimal block_n=16,32,64 --energy --pareto front.png",
    ],
)
@options.settings("BENCH|FILE.yaml [NAME=VALUES]...", completion.bench_words)
@click.option("--bench", hidden=True, shell_complete=completion.benches)
@options.topologies
@options.changes
@options.device
@click.option("--verify-data", is_flag=True, help="Check the values that each point computes.")
@options.executor
@click.option(
    "--tag", "tags", multiple=True, metavar="TAG",
    help="Tag of the saved runs; may be repeated.  [default: sweep-BENCH]",
)  # fmt: skip
@click.option("--fresh", is_flag=True, help="Also run points that are in the store.")
@click.option(
    "--out", metavar="F.parquet", callback=options.ends_in(".parquet"), help="Also write the rows as Parquet."
)
@click.option(
    "--plot",
    metavar="F.png",
    callback=options.ends_in(".png"),
    help="Draw lines for one key, a heat map for two.",
)
@click.option("--energy", is_flag=True, help="Add the energy and energy-delay product of each point.")
@click.option(
    "--pareto", metavar="F.png", callback=options.ends_in(".png"),
    help="Draw a cost (--against) over latency with the Pareto front.",
)  # fmt: skip
@click.option(
    "--against", metavar="COST", default="energy", show_default=True,
    help="The cost of --pareto: energy, area, or a swept key.",
)  # fmt: skip
@click.option(
    "--phases", type=click.IntRange(1, 1000), default=1, metavar="N",
    help="Where memory is refreshed, run each point at N phases of the refresh; latencies are medians.",
)  # fmt: skip
@options.exact
@options.limits
@options.project
@options.store
@format_option
def command(
    words: tuple[str, ...],
    bench: str | None,
    topologies: tuple[str, ...],
    settings: dict[str, str],
    verify_data: bool,
    tags: tuple[str, ...],
    out: str | None,
    plot: str | None,
    energy: bool,
    pareto: str | None,
    against: str,
    store: str | None,
    fmt: str,
    **same: Any,
) -> None:
    """Run a bench at every combination of values of its parameters, of topology keys and of topologies.

    Values, also in --topo, are lists or ranges that include both ends: 1,2,4 or 8..11 or 8..64+8 or 8..128*2.
    FILE is YAML with bench, topology, device, verify, tags, set, topo, phases, exact and points; options
    override it. Each point is a saved run. Points in the store are not run again, so the same command
    completes a sweep that was stopped. A point that fails is a row with its error; then the exit status is 1.
    """
    file = options.at_most_one(words, "the bench")
    if file is not None and not file.endswith((".yaml", ".yml")):
        if bench is not None:
            raise click.UsageError(
                f"the bench is given twice, as '{file}' and as --bench {bench}; give it once"
            )
        file, bench = None, file
    if file is None and bench is None:
        raise click.UsageError("name a bench, or a .yaml file that describes the sweep")
    if "faults" in same["topo"]:
        same["topo"]["faults"] = [same["topo"]["faults"]]  # the one value of that key
    if pareto is not None and against == "energy" and not energy:
        raise click.UsageError("--pareto draws energy; add --energy, or --against area or a swept key")
    if plot is not None or pareto is not None:
        from kernbench.draw.figures.drawing import require

        require()
    measured: list[SweepPoint] = []
    found = None
    try:
        with running() as progress, options.opened(store) as kept_in:
            found = kb.sweep(
                bench,
                list(topologies) or None,
                verify_data,
                file=file,
                params=settings,
                store=kept_in,
                tags=tags or None,
                progress=lambda standing: progress.of_pieces(standing, measured),
                on_point=measured.append,
                **same,
            )
            found = found.with_energy(kept_in) if energy else found
    except KeyboardInterrupt:
        if measured:
            done = kb.Sweep(bench or "", tuple(sorted(measured, key=lambda point: point.point)))
            emit_result(fmt, done)
        points = counted(len(measured), "point")
        raise KeyboardInterrupt(f"after {points}; the same command completes the sweep") from None
    emit_result(fmt, found, lambda: draw_chart(found))
    if out is not None:
        found.to_parquet(out)
    if plot is not None:
        kb.sweep_figure(found, plot)
    if pareto is not None:
        with options.opened(store) as kept_in:
            from kernbench.api.sweeps.figures import pareto_figure

            pareto_figure(found, pareto, against, kept_in)
    if found.failed:
        raise click.ClickException(_failure(found))
    if verify_data and any(point.verified is None for point in found.points):
        raise nothing_checked(found.bench)


def _failure(found: kb.Sweep) -> str:
    first = found.failed[0]
    count = f"{len(found.failed)} of {len(found.points)} points failed"
    return f"{count}; the first, point {first.point}: {first.error}"
