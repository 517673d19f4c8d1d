"""``kernbench figures``."""

from __future__ import annotations

import sys
from collections.abc import Callable

import click

from kernbench import api
from kernbench.cli.group import Command
from kernbench.cli.options import Function, topology_file, topology_option
from kernbench.cli.output import emit, format_option
from kernbench.cli.progress import Progress


def _bytes(option: str, default: int, text: str) -> Callable[[Function], Function]:
    return click.option(option, type=click.IntRange(min=1), default=default, show_default=True, help=text)


@click.command(cls=Command, examples=["kernbench figures --out figures --topology minimal"])
@click.option(
    "--out", metavar="DIR", required=True, help="Folder for the figures (PNG) and their numbers (CSV)."
)
@topology_option
@_bytes("--latency-bytes", api.LATENCY_BYTES, "Bytes of a transfer whose time is taken apart.")
@_bytes("--bandwidth-bytes", api.BANDWIDTH_BYTES, "Bytes of each transfer whose bandwidth is measured.")
@format_option
def command(out: str, topology: str | None, latency_bytes: int, bandwidth_bytes: int, fmt: str) -> None:
    """Measure PE DMA transfers, alone and contending, near and far; draw where their time goes.

    Writes dma_latency and dma_bandwidth, each as PNG and CSV. Needs matplotlib: the extra kernbench[figures].
    """
    with Progress() as progress:
        made = api.figures(
            out,
            topology_file(topology),
            latency_bytes=latency_bytes,
            bandwidth_bytes=bandwidth_bytes,
            progress=progress,
        )
    for item in made["left_out"]:
        print(f"kernbench: note: left out '{item['scenario']}': {item['why']}", file=sys.stderr)
    emit(fmt, made, ("file",), [(file,) for file in made["files"]])
