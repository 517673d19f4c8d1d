"""``kernbench run``."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from functools import partial as bound
from typing import TYPE_CHECKING, Any

import click

import kernbench as kb
from kernbench.api.stores import borrowed
from kernbench.cli import options
from kernbench.cli.group import Command
from kernbench.cli.output import format_option
from kernbench.cli.progress import running, say_if_interpreted
from kernbench.cli.run_report import print_run
from kernbench.errors import KernBenchError, nothing_checked

if TYPE_CHECKING:
    from kernbench.support.pgraph import GraphStore


@click.command(
    cls=Command,
    examples=[
        "kernbench run qkv-gemm --verify-data",
        "kernbench run gemm-single-pe --topology minimal --format json",
        "kernbench run gemm-single-pe --topology minimal --check --details",
        "kernbench run gemm-single-pe --topo cube.hbm.channel_gbs=64 --topo pe.pe_dma.read_engines=2",
    ],
)
@options.bench
@options.topology
@options.changes
@options.device
@click.option(
    "--verify-data", is_flag=True, help="Compute the results and check them against the bench's reference."
)
@click.option(
    "--verify-ops",
    is_flag=True,
    help="Also check the result of every operation against its inputs, and stop at the first wrong one.",
)
@options.limits
@click.option(
    "--keep-partial", is_flag=True, help="Save the partial results of a run that fails or is interrupted."
)
@options.exact
@options.instruments
@options.details
@click.option("--watch", is_flag=True, help="Show progress in the terminal, then browse the run.")
@options.kept
@options.check
@options.store
@format_option
def command(
    bench: str,
    topology: str | None,
    verify_data: bool,
    verify_ops: bool,
    settings: dict[str, str],
    check: bool,
    watch: bool,
    details: bool,
    no_trace: bool,
    store: str | None,
    fmt: str,
    **same: Any,
) -> None:
    """Run BENCH and print its times, its busiest links and engines, and the id of the saved run.

    BENCH may be a script, a Python file that imports kernbench.torch: it is executed, and NAME=VALUE becomes
    its argument --NAME=VALUE.

    A run that fails or is interrupted is not saved; with --keep-partial, its finished transactions and
    operations are, with status partial. A run with wrong results, or in which --verify-data or --check finds
    a race, is saved: its trace tells which operation wrote the first wrong value. Exits 1 in all these cases,
    130 when interrupted.
    """
    file = options.topology_file(topology)
    start = bound(
        kb.run,
        bench,
        file,
        "ops" if verify_ops else verify_data,
        params=settings,
        trace=not no_trace,
        check=check or None,
        **same,
    )
    # Open until the run is printed; without --watch the run itself keeps the store open.
    with borrowed(store) if watch else nullcontext(store) as kept_in:
        try:
            if watch:
                run = _run_watched(bench, start, kept_in, same["max_ns"])
            else:
                with running() as progress:
                    run = start(store=kept_in, progress=progress.of_run)
        except kb.RunVerificationError as wrong:
            print_run(fmt, wrong.run, details)
            raise
        except (KernBenchError, KeyboardInterrupt) as stopped:
            if (partial := getattr(stopped, "kept_run", None)) is not None:
                print_run(fmt, partial, details)
            raise
        print_run(fmt, run, details)
        if run.nothing_checked:
            raise nothing_checked(run.bench)


def _run_watched(
    bench: str, start: Callable[..., kb.Run], store: GraphStore | str | None, max_ns: float | None
) -> kb.Run:
    """The run, once the user has left the screens that show it as it goes."""
    from kernbench.tui.start import require_terminal, watch

    require_terminal("leave out --watch")
    say_if_interpreted()
    with borrowed(store) as kept_in:
        return watch(bench, lambda progress: start(store=kept_in, progress=progress), kept_in, max_ns=max_ns)
