"""``kernbench why``: what made a run's time."""

from __future__ import annotations

import click

from kernbench import api
from kernbench.cli.group import Command
from kernbench.cli.options import opened, store_option
from kernbench.cli.output import emit, format_option, number

_COLUMNS = ("t_start", "t_end", "ns", "cause", "place", "what")


@click.command(
    cls=Command,
    examples=[
        "kernbench why",
        "kernbench why last --launch 0 --by place",
        "kernbench why --by step --format csv",
    ],
)
@click.argument("run", default="last")
@click.option("--launch", type=click.IntRange(min=0), help="Only this launch, from its common start on.")
@click.option(
    "--by",
    type=click.Choice(["cause", "place", "step"]),
    default="cause",
    show_default=True,
    help="Sum the chain by cause or by component and link, or list its steps.",
)
@store_option
@format_option
def command(run: str, launch: int | None, by: str, store: str | None, fmt: str) -> None:
    """Show what made the time of RUN: the chain of work and waits that ends with it.

    The times add up to the run's, or the launch's, exactly. JSON has run_id, launch, t_start, t_end, ns,
    by_cause, by_place and steps, whatever --by says.
    """
    with opened(store) as kept_in:
        kept = api.open_run(run, kept_in)
        path = kept.critical_path(launch)
        payload = {"run_id": kept.id, "launch": launch, **path.to_dict()}
    total = path.t_end - path.t_start
    if by == "step":
        columns: tuple[str, ...] = _COLUMNS
        rows = [tuple(step[column] for column in _COLUMNS) for step in payload["steps"]]
    else:
        columns = (by, "ns", "share")
        sums = path.by_cause() if by == "cause" else path.by_place()
        rows = [(name, ns, _share(ns, total, fmt)) for name, ns in sums.items()]
    of = f"{kept.bench} on {kept.topology}" + ("" if launch is None else f", launch {launch}")
    emit(fmt, payload, columns, rows, lambda: [f"{of}: {number(total)} ns in {len(path.steps)} steps"])


def _share(ns: float, total: float, fmt: str) -> float | str:
    share = ns / total if total else 0.0
    return f"{share:.1%}" if fmt == "table" else share
