"""``kernbench run``."""

from __future__ import annotations

from typing import Any

import click

import kernbench as kb
from kernbench.cli import options
from kernbench.cli.group import Command
from kernbench.cli.output import format_option
from kernbench.cli.progress import running
from kernbench.cli.run_report import print_run
from kernbench.errors import KernBenchError, nothing_checked


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
@click.option(
    "--strict-device", is_flag=True, help="Refuse what the host would carry out of a PyTorch model."
)
@options.instruments
@options.details
@options.kept
@options.check
@options.project
@options.store
@format_option
def command(
    bench: str,
    topology: str | None,
    verify_data: bool,
    verify_ops: bool,
    settings: dict[str, str],
    check: bool,
    details: bool,
    no_trace: bool,
    store: str | None,
    fmt: str,
    **same: Any,
) -> None:
    """Run BENCH and print its times, its busiest links and engines, and the id of the saved run.

    BENCH may be a script, a Python file that imports torch: it is executed as it is, and NAME=VALUE becomes
    its argument --NAME=VALUE. PyTorch's Inductor writes such files.

    A run that fails or is interrupted is not saved; with --keep-partial, its finished transactions and
    operations are, with status partial. A run with wrong results, or in which --verify-data or --check finds
    a race, is saved: its trace tells which operation wrote the first wrong value. Exits 1 in all these cases,
    130 when interrupted.
    """
    try:
        with running() as progress:
            run = kb.run(
                bench,
                topology,
                "ops" if verify_ops else verify_data,
                params=settings,
                trace=not no_trace,
                check=check or None,
                store=store,
                progress=progress.of_run,
                **same,
            )
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
