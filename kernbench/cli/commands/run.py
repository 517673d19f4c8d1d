"""``kernbench run``."""

from __future__ import annotations

import click

from kernbench import api
from kernbench.cli.group import Command
from kernbench.cli.options import (
    assignments,
    check_option,
    kept_options,
    store_option,
    topology_file,
    topology_option,
)
from kernbench.cli.output import format_option
from kernbench.cli.progress import Progress
from kernbench.cli.run_report import print_run


@click.command(
    cls=Command,
    examples=[
        "kernbench run --bench qkv-gemm --verify-data",
        "kernbench run --bench gemm-single-pe --topology minimal --format json",
        "kernbench run --bench gemm-single-pe --topology minimal --check",
    ],
)
@click.option(
    "--bench", required=True, metavar="NAME", help="Name or index from 'kernbench list', or file.py[:name]."
)
@topology_option
@click.option("--device", default="all", show_default=True, metavar="all|sip:N", help="The SIPs to run on.")
@click.option(
    "--verify-data", is_flag=True, help="Compute the results and check them against the bench's reference."
)
@click.option(
    "--set", "settings", multiple=True, metavar="NAME=VALUE", help="A bench parameter; may be repeated."
)
@kept_options
@check_option
@store_option
@format_option
def command(
    bench: str,
    topology: str | None,
    device: str,
    verify_data: bool,
    settings: tuple[str, ...],
    tags: tuple[str, ...],
    check: bool,
    no_trace: bool,
    store: str | None,
    fmt: str,
) -> None:
    """Run a bench and print its times, its busiest links and engines, and the id its trace is kept under.

    A run that fails or is interrupted is not kept. One whose results are wrong is: its trace tells which
    operation wrote the first wrong value. Exit status 1 in all these cases.
    """
    params = assignments("--set", settings)
    file = topology_file(topology)
    try:
        with Progress() as progress:
            run = api.run(
                bench,
                file,
                verify_data,
                params=params,
                device=device,
                store=store,
                trace=not no_trace,
                tags=tags,
                progress=progress,
                check=check or None,
            )
    except api.RunVerificationError as wrong:
        print_run(fmt, wrong.run)
        raise
    print_run(fmt, run)
