"""``kernbench export``."""

from __future__ import annotations

from typing import Any

import click

from kernbench import api
from kernbench.cli import completion
from kernbench.cli.group import Command
from kernbench.cli.options import RUN_HELP, opened, store_option, window_until_options
from kernbench.cli.output import emit, format_option

_FILES = {
    "perfetto": ".pftrace",
    "chakra": "",
    "npe": ".npe.json",
    "graphml": ".graphml",
    "gexf": ".gexf",
    "json": ".json",
}
"""How files end by format; tables are a folder of files."""
_GRAPHS = ("graphml", "gexf", "json")
_FORMATS = ("perfetto", "chakra", "csv", "parquet", "npe", *_GRAPHS)
_WHOLE = ("csv", "parquet", *_GRAPHS)
"""Formats that hold the whole run where no window is given."""


@click.command(
    cls=Command,
    examples=[
        "kernbench export perfetto",
        "kernbench export perfetto last --launch 0 --links --waits --out links.pftrace",
        "kernbench export csv --out tables",
        "kernbench export chakra --out trace",
        "kernbench export last --to graphml --out run.graphml",
    ],
)
@click.argument("given", nargs=-1, metavar="[FORMAT] [RUN]", shell_complete=completion.exports)
@click.option("--run", "named", metavar="RUN", help=RUN_HELP, shell_complete=completion.runs)
@click.option(
    "--to",
    type=click.Choice(_FORMATS),
    help="As FORMAT. perfetto: a trace for ui.perfetto.dev; chakra: execution traces, OUT.0.et for SIP 0, "
    "...; csv, parquet: a folder with a file for each table; npe: meshes of routers over time, for "
    "TT-NN Visualizer; graphml, gexf, json: the property graph, for Gephi, yEd, networkx and others.",
)
@click.option(
    "--out",
    metavar="PATH",
    help="The file; for tables the folder; for chakra the start of its names.  [default: the run's id]",
)
@click.option("--links", is_flag=True, help="perfetto: with every crossing of a component or link.")
@click.option(
    "--waits", is_flag=True, help="perfetto: with every wait for another transaction, and for whom it was."
)
@click.option(
    "--ticks",
    type=click.Choice(["ns", "ps"]),
    default="ns",
    show_default=True,
    help="perfetto: what a unit of its timestamps is. They are whole numbers, so ns rounds and ps is exact.",
)
@window_until_options
@click.pass_context
@store_option
@format_option
def command(
    ctx: click.Context,
    given: tuple[str, ...],
    named: str | None,
    to: str | None,
    out: str | None,
    links: bool,
    waits: bool,
    ticks: str,
    launch: str,
    from_ns: float | None,
    to_ns: float | None,
    store: str | None,
    fmt: str,
) -> None:
    """Write RUN for another tool. Traces are of the launches, tables are of the whole run.

    In Perfetto, time 0 is the window's start; arguments of events hold exact times and the numbers that
    questions take: op, transaction, launch. Rows of tables are those that overlap the window.
    """
    run, to = _what(given, named, to)
    chosen = ctx.get_parameter_source("launch") is not click.core.ParameterSource.DEFAULT
    window: dict[str, Any] = {
        "launch": launch if chosen or to not in _WHOLE else "run",
        "from_ns": from_ns,
        "to_ns": to_ns,
    }
    if to != "perfetto" and (links or waits or ticks != "ns"):
        option = "--links" if links else "--waits" if waits else "--ticks"
        raise click.UsageError(f"{option} is for --to perfetto; it has no place with --to {to}")
    with opened(store) as kept_in:
        kept = api.open_run(run, kept_in)
        path = out or f"{kept.id}{_FILES.get(to, f'-{to}')}"
        if to == "perfetto":
            files = kept.to_perfetto(path, **window, links=links, waits=waits, ticks=ticks)
        elif to in _GRAPHS:
            if not path.endswith(f".{to}"):
                raise click.UsageError(f"--out '{path}' does not end in .{to}; give it that ending")
            files = kept.to_graph(path, **window)
        else:
            writers = {
                "csv": kept.to_csv,
                "parquet": kept.to_parquet,
                "chakra": kept.to_chakra,
                "npe": kept.to_npe,
            }
            files = writers[to](path, **window)
        name = kept.window(**window).name
    payload = {"run_id": kept.id, "to": to, "window": name, "files": files}
    emit(fmt, payload, ("file",), [(file,) for file in files], lambda: [f"{kept.bench}, {name}"])


def _what(given: tuple[str, ...], named: str | None, to: str | None) -> tuple[str, str]:
    """The run and the format, of up to two words in any order; with ``--to`` each of them is a run."""
    formats = [] if to else [word for word in given if word in _FORMATS][:1]
    runs = [word for word in given if word not in formats] + ([named] if named else [])
    if len(runs) > 1:
        raise click.UsageError(f"several runs are given, {' and '.join(runs)}; give one")
    if not to and not formats:
        raise click.UsageError(
            f"say what to write, such as 'kernbench export perfetto': {', '.join(_FORMATS)}"
        )
    return (runs[0] if runs else "last"), to or formats[0]
