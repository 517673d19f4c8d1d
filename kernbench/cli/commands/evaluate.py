"""``kernbench evaluate``."""

from __future__ import annotations

from typing import Any

import click

import kernbench as kb
from kernbench.cli import completion, options
from kernbench.cli.group import Command
from kernbench.cli.output import emit, emit_result, format_option, number, remark
from kernbench.cli.progress import running


@click.command(
    cls=Command,
    examples=[
        "kernbench evaluate --list",
        "kernbench evaluate milestone-1h-gemm shapes=32x128x32 --topology minimal --tag base",
        "kernbench evaluate milestone-1h-gemm shapes=32x128x32 --topology minimal "
        "--against base --threshold 2%",
    ],
)
@options.settings("NAME [PARAM=VALUE]...", completion.evaluations)
@click.option("--list", "listing", is_flag=True, help="List the evaluations and their parameters.")
@click.option("--out", metavar="DIR", help="Folder for the results.  [default: evaluation-NAME]")
@options.topology
@options.topo
@options.executor
@options.tag
@click.option("--against", metavar="TAG", help="Run every point, and compare with the runs of this tag.")
@click.option(
    "--threshold", default="2%", show_default=True, callback=options.share, metavar="SHARE",
    help="How much slower than --against a point may be; above it the exit status is 1.",
)  # fmt: skip
@click.option("--fresh", is_flag=True, help="Also run points that are in the store.")
@options.exact
@options.timeout
@options.project
@options.store
@format_option
def command(
    words: tuple[str, ...],
    listing: bool,
    out: str | None,
    settings: dict[str, str],
    topology: str | None,
    against: str | None,
    threshold: float,
    store: str | None,
    fmt: str,
    **same: Any,
) -> None:
    """Run the evaluation NAME, or file.py[:name]; write tables, figures and one page into a folder.

    Each point is a saved run with the tag evaluate-NAME. Points in the store are not run again, so the same
    command completes an evaluation that was stopped. With MILESTONE_FAST=1 nothing is run, and the results
    come from the saved points. Exits 1 when a point fails or, with --against, got slower.

    CSV has the first table. Figures need matplotlib, the extra 'figures'; the rest does not.
    """
    if listing:
        return _list(fmt)
    name = options.at_most_one(words, "the evaluation")
    if name is None:
        raise click.UsageError("name an evaluation; 'kernbench evaluate --list' shows them")
    with running() as progress, options.opened(store) as kept_in:
        found = kb.evaluate(
            name,
            out,
            params=settings,
            topology=topology,
            store=kept_in,
            against=against,
            threshold=threshold,
            progress=progress.of_pieces,
            **same,
        )
    emit_result(fmt, found)
    from kernbench.api.contents.evaluation import params_text

    if found.failed:
        first = found.failed[0]
        at = f"{first['bench']} {params_text(first['params'])}"
        for point in found.failed if fmt == "table" else ():
            remark(f"{point['bench']} {point['params']}: {point['error']}")
        count = f"{len(found.failed)} of {len(found.points)} points failed"
        raise click.ClickException(f"{count}; the first, {at}: {first['error']}")
    if found.regressed:
        names = "; ".join(_movement(row, params_text(row["params"])) for row in found.regressed[:5])
        more = f"; {len(found.regressed) - 5} more" if len(found.regressed) > 5 else ""
        raise click.ClickException(
            f"against '{against}', threshold {number(100 * threshold)}%, {len(found.regressed)} points "
            f"moved: {names}{more}"
        )
    return None


def _list(fmt: str) -> None:
    from kernbench.api.sweeps.evaluating import evaluations

    known = evaluations()
    rows = [(one["name"], one["description"], ", ".join(p["name"] for p in one["params"])) for one in known]
    emit(fmt, {"evaluations": known}, ("name", "description", "parameters"), rows)


def _movement(row: dict[str, Any], shown: str) -> str:
    if row["moved"] == "gone":
        return f"{row['bench']} {shown} is gone"
    times = f"{number(row['before_ns'])} -> {number(row['after_ns'])} ns"
    return f"{row['bench']} {shown} {times} ({row['change']:+.1%})"
