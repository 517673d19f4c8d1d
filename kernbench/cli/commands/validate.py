"""``kernbench validate``."""

from __future__ import annotations

import click

from kernbench.cli import completion, options
from kernbench.cli.group import Command
from kernbench.cli.output import emit, emit_result, format_option
from kernbench.cli.progress import running


@click.command(
    cls=Command,
    examples=[
        "kernbench validate gemm",
        "kernbench validate gemm --format json",
        "kernbench validate gemm --plot gemm.png --strict",
        "kernbench validate h100 --short",
        "kernbench validate --list",
    ],
)
@click.argument("names", nargs=-1, metavar="[TABLE]...", shell_complete=completion.tables)
@click.option("--list", "listing", is_flag=True, help="List the tables.")
@click.option("--strict", is_flag=True, help="Exit with status 1 if a row exceeds its limit.")
@click.option("--short", is_flag=True, help="Measure a sample of the fast cases; the default without TABLE.")
@click.option("--all", "everything", is_flag=True, help="Also measure cases that take minutes; resumes.")
@click.option("--plot", metavar="F.png", callback=options.ends_in(".png"), help="Also draw the rows.")
@options.timeout
@format_option
def command(
    names: tuple[str, ...],
    listing: bool,
    strict: bool,
    short: bool,
    everything: bool,
    plot: str | None,
    fmt: str,
) -> None:
    """Compare the model with published references: silicon, other simulators, kept records.

    Each row has the reference's figure, ours, the deviation and its limit. A row is predicted, or fitted (a
    parameter was chosen to match it). It is within the limit, outside, outside with a reason that accounts
    for a deviation of that size, or not modelled yet. Without TABLE, all tables are measured, in about four
    minutes. Cases with many loop iterations are skipped; --short samples the others by a hash of their names.
    The last lines count what was measured. --all saves each figure in the store's folder: run it again after
    Ctrl-C and it resumes.
    """
    from kernbench.draw.figures import drawing
    from kernbench.validation import tables, validate

    if listing:
        known = tables()
        rows = [(name, table.title, table.about) for name, table in known.items()]
        payload = [{"name": name, "title": title, "about": about} for name, title, about in rows]
        return emit(fmt, {"tables": payload}, ("name", "title", "about"), rows)
    if short and everything:
        raise click.UsageError("--short leaves out cases that --all measures; give one of them")
    if plot is not None:
        drawing.require()
    with running() as progress:
        report = validate(*names, short=short or None, everything=everything, progress=progress.of_pieces)
    if plot is not None:
        report.plot(plot)
    emit_result(fmt, report)
    if strict and report.missed:
        first = report.missed[0]
        raise click.ClickException(
            f"{len(report.missed)} of {len(report.rows)} rows do not keep their limit; "
            f"the first, {first.table}: {first.row}: {first.verdict}"
        )
    return None
