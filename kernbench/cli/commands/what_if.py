"""``kernbench what-if``: what a run would take on a machine that is faster in places."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

import kernbench as kb
from kernbench.cli import options
from kernbench.cli.group import Command
from kernbench.cli.output import emit_result, format_option, say
from kernbench.cli.progress import running
from kernbench.errors import UsageError

if TYPE_CHECKING:
    from kernbench.support.pgraph import GraphStore

_TRIED = 3
"""How many of the candidates are run, unless the user says otherwise."""


@click.command(
    cls=Command,
    examples=[
        "kernbench what-if",
        "kernbench what-if --locations 0 --measure 5",
        "kernbench what-if last --speed kind:pcie=2 --speed sip0.cube0.pe0.pe_gemm=free",
        "kernbench what-if --speed kind:router_mesh.width=2",
        "kernbench what-if last --launch 0 --speed kind:router=2 --no-rerun --format json",
    ],
)
@options.run
@click.option(
    "--speed", "speeds", multiple=True, metavar="WHERE=FACTOR|free",
    help="Make WHERE this many times as fast, or free (infinitely fast): a component, a link a->b, "
    "kind:NAME, wire:NAME, a group such as sip0.cube3, or several of these joined by ' + '. Links get FACTOR "
    "times the bandwidth and 1/FACTOR of the delay, WHERE.width or WHERE.delay one of them. May be repeated.",
)  # fmt: skip
@options.topo
@options.faults
@options.launch
@click.option("--no-rerun", is_flag=True, help="Only estimate; run nothing.")
@click.option("--bench", metavar="NAME", help="The bench to run, if RUN was of a Python function.")
@click.option(
    "--code", multiple=True, metavar="FILE",
    help="Allow this Python file or module that RUN names to be executed again: its bench, components, "
    "arbiters or algorithms; may be repeated.",
)  # fmt: skip
@click.option(
    "--locations", type=click.IntRange(min=0), default=10, show_default=True, metavar="N",
    help="Without --speed: how many single components and links to list, in addition to all kinds.",
)  # fmt: skip
@click.option(
    "--measure", type=click.IntRange(min=0), metavar="N",
    help="Without --speed: how many candidates to also run, twice as fast; these runs are not "
    f"saved. [default: {_TRIED}, or none with --no-rerun]",
)  # fmt: skip
@options.timeout
@options.store
@format_option
def command(
    run: str,
    speeds: tuple[str, ...],
    topo: dict[str, str],
    launch: str,
    no_rerun: bool,
    bench: str | None,
    code: tuple[str, ...],
    locations: int,
    measure: int | None,
    store: str | None,
    fmt: str,
) -> None:
    """Show how long RUN would take on a machine with some parts faster: an estimate, then a real run.

    Without --speed, lists candidates, the largest saving first: the estimated time with each kind, and each
    of the slowest locations on the critical path, twice as fast and infinitely fast (free). An estimate
    re-times the critical path only; once it is shorter, other paths and queues may dominate. So the first
    candidates are also run: measured_saved_ns is what that saved. With --speed, the same bench or traffic is
    run on the changed machine and saved with the tag what-if. Without RUN it is about the newest run without
    that tag, so that one change after the other is of the same machine; 'last' is the newest of all. Changes
    with --topo cannot be estimated, only run.
    """
    asked = run if options.given(click.get_current_context(), "run") else None
    changes = options.assignments("--speed", speeds, "WHERE=FACTOR, such as kind:router=2, or WHERE=free")
    with options.opened(store) as kept_in:
        if not changes and not topo:
            how = {"launch": launch, "locations": locations, "bench": bench, "code": code}
            _list(asked, kept_in, 0 if no_rerun else measure, fmt, how)
            return
        if measure is not None:
            raise UsageError("--measure is for the list; with --speed the change is run anyway")
        with running() as progress, progress.during("estimating"):
            try:
                found = kb.what_if(
                    asked, changes, kept_in, not no_rerun,
                    launch=launch, bench=bench, topo=topo, code=code, progress=progress,
                )  # fmt: skip
            except UsageError as error:
                places = tuple(f"'{place.strip()}" for where in changes for place in where.split("+"))
                raise UsageError(f"--speed {error}" if str(error).startswith(places) else error) from None
    emit_result(fmt, found)


def _list(run: str | None, store: GraphStore, measure: int | None, fmt: str, how: Mapping[str, Any]) -> None:
    """Print the candidates; ``measure``: how many of them to run, None for some if that is possible."""
    unable = None
    with running() as progress, progress.during("estimating"):
        try:
            tried = _TRIED if measure is None else measure
            found = kb.what_if_candidates(run, store, measure=tried, progress=progress, **how)
        except UsageError as error:
            if measure is not None:
                raise
            unable = error
            found = kb.what_if_candidates(run, store, **how)
    emit_result(fmt, found)
    if fmt == "table" and unable is not None:
        say(f"nothing was run: {unable}")
