"""``kernbench why``: the critical path of a run."""

from __future__ import annotations

import click

import kernbench as kb
from kernbench.analysis.path.model_time import NONE_OF_MODEL
from kernbench.analysis.windows.chosen_window import ChosenWindow
from kernbench.cli import options
from kernbench.cli.group import Command
from kernbench.cli.output import emit, format_option, number
from kernbench.cli.progress import Progress
from kernbench.cli.source_links import link_lines


@click.command(
    cls=Command,
    examples=[
        "kernbench why",
        "kernbench why last --launch 0 --by location",
        "kernbench why --by line",
        "kernbench why --by step --format csv",
    ],
)
@options.run
@options.window
@click.option(
    "--by",
    type=click.Choice(["cause", "location", "line", "model", "step"]),
    default="cause",
    show_default=True,
    help="Sum the critical path by cause, component and link, source line, or node of a compiled model; "
    "or list its steps.",
)
@options.store
@format_option
def command(run: str, window: ChosenWindow, by: str, store: str | None, fmt: str) -> None:
    """Show the critical path of RUN: the chain of work and waiting that determines its time.

    It covers the launches, or the window that you choose; the steps add up to its time exactly.
    """
    with (
        options.opened(store) as kept_in,
        Progress() as progress,
        progress.during("following the critical path"),
    ):
        kept = kb.open_run(run, kept_in)
        link_lines(kept)
        shown, path = kept.window(window), kept.critical_path(window)
    from kernbench.api.contents import critical_path

    model = critical_path.model_sums(kept, path)
    payload = {"run_id": kept.id, "launch": shown.launch, "window": shown.name, **path.to_dict()}
    payload["by_model"] = model.rows
    grids = {"step": lambda: critical_path.steps(path), "model": lambda: model}
    grid = grids.get(by, lambda: critical_path.sums(path, by))()
    of = f"{kept.bench} on {kept.topology}, {shown.name}"
    count = "1 step" if len(path.steps) == 1 else f"{len(path.steps)} steps"
    said = [f"{of}: {number(path.ns)} ns in {count}"]
    if by == "model" and not kept.of_model:
        said.append(NONE_OF_MODEL)
    emit(fmt, payload, grid.columns, grid.values(), lambda: said)
