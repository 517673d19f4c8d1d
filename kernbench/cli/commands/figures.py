"""``kernbench figures``."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from kernbench import api
from kernbench.cli import completion
from kernbench.cli.group import Command
from kernbench.cli.options import (
    Function,
    opened,
    store_option,
    topology_file,
    topology_option,
    window_options,
)
from kernbench.cli.output import emit, format_option, remark
from kernbench.cli.progress import Progress
from kernbench.errors import UsageError


def _bytes(option: str, default: int, text: str) -> Callable[[Function], Function]:
    return click.option(option, type=click.IntRange(min=1), default=default, show_default=True, help=text)


@click.command(
    cls=Command,
    examples=[
        "kernbench figures --out figures --topology minimal",
        "kernbench figures --out figures --run last --launch 0",
    ],
)
@click.option(
    "--out", metavar="DIR", required=True, help="Folder for the figures (PNG) and their numbers (CSV)."
)
@topology_option
@_bytes("--latency-bytes", api.LATENCY_BYTES, "Bytes of a transfer whose time is taken apart.")
@_bytes("--bandwidth-bytes", api.BANDWIDTH_BYTES, "Bytes of each transfer whose bandwidth is measured.")
@click.option(
    "--run", metavar="RUN", help="Draw this run instead: its roofline, its links over time, its timeline.",
    shell_complete=completion.runs,
)  # fmt: skip
@window_options
@store_option
@format_option
def command(
    out: str,
    topology: str | None,
    latency_bytes: int,
    bandwidth_bytes: int,
    run: str | None,
    launch: str,
    from_ns: float | None,
    to_ns: float | None,
    store: str | None,
    fmt: str,
) -> None:
    """Measure PE DMA transfers, alone and contending, near and far; draw where their time goes.

    Writes dma_latency and dma_bandwidth, each as PNG and CSV; with --run roofline, links and timeline, as
    PNG. A roofline is left out where nothing multiplied matrices, or of a part of a launch. Needs matplotlib:
    the extra kernbench[figures].
    """
    if run is not None:
        with opened(store) as kept_in:
            made = _of_run(api.open_run(run, kept_in), out, launch, from_ns, to_ns)
        emit(fmt, made, ("file",), [(file,) for file in made["files"]])
        return
    with Progress() as progress:
        made = api.figures(
            out,
            topology_file(topology),
            latency_bytes=latency_bytes,
            bandwidth_bytes=bandwidth_bytes,
            progress=progress,
        )
    for item in made["left_out"]:
        remark(f"left out '{item['scenario']}': {item['why']}")
    emit(fmt, made, ("file",), [(file,) for file in made["files"]])


def _of_run(
    run: api.Run, out: str, launch: str, from_ns: float | None, to_ns: float | None
) -> dict[str, Any]:
    run.window(launch, from_ns, to_ns)  # there is no such launch: an error, before anything is left out
    files, left_out = [], []
    for name in api.RUN_FIGURES:
        try:
            figure = run.figure(name, launch, from_ns, to_ns)
        except UsageError as error:
            left_out.append({"figure": name, "why": str(error)})
            remark(f"left out '{name}': {error}")
        else:
            files.append(api.save_figure(figure, Path(out) / f"{name}.png"))
    if not files:
        raise UsageError(left_out[-1]["why"])
    return {"run_id": run.id, "files": files, "left_out": left_out}
