"""``kernbench evaluate``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

import kernbench as kb
from kernbench.cli import completion, options
from kernbench.cli.group import Command
from kernbench.cli.output import emit, format_option, number, print_csv, print_json, print_table, remark, say
from kernbench.cli.progress import running
from kernbench.draw.content import SHARE, Column

if TYPE_CHECKING:
    from kernbench.api.sweeps.evaluator import Evaluated

_MOVED = ("moved", "change", "before_ns", "after_ns", "bench", "params", "topology", "before", "after")
_SHOWN = 30
"""Rows of a table that are printed; all are in its CSV file."""


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
            topology=options.topology_file(topology),
            store=kept_in,
            against=against,
            threshold=threshold,
            progress=progress.of_pieces,
            **same,
        )
    _print(fmt, found)
    if found.failed:
        first = found.failed[0]
        shown = " ".join(f"{key}={value}" for key, value in first["params"].items())
        count = f"{len(found.failed)} of {len(found.points)} points failed"
        raise click.ClickException(f"{count}; the first, {first['bench']} {shown}: {first['error']}")
    if found.regressed:
        names = "; ".join(_movement(row) for row in found.regressed[:5])
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


def _movement(row: dict[str, Any]) -> str:
    shown = " ".join(f"{key}={value}" for key, value in row["params"].items())
    if row["moved"] == "gone":
        return f"{row['bench']} {shown} is gone"
    times = f"{number(row['before_ns'])} -> {number(row['after_ns'])} ns"
    return f"{row['bench']} {shown} {times} ({row['change']:+.1%})"


def _print(fmt: str, found: Evaluated) -> None:
    if fmt == "json":
        print_json(found.as_dict())
    elif fmt == "csv":
        rows: list[dict[str, Any]] = next(iter(found.tables.values()), [])
        print_csv(list(rows[0]) if rows else [], [list(row.values()) for row in rows])
    else:
        for name, table in found.tables.items():
            if table:
                say(name)
                print_table(list(table[0]), [list(row.values()) for row in table[:_SHOWN]])
                say(f"{len(table) - _SHOWN} more rows in {name}.csv\n" if len(table) > _SHOWN else "")
        if found.moved is not None:
            moved = [row for row in found.moved if row["moved"]]
            if moved:
                columns = [Column(name, SHARE, signed=True) if name == "change" else name for name in _MOVED]
                print_table(columns, [[_cell(row[name]) for name in _MOVED] for row in moved[:_SHOWN]])
            say(f"{len(moved)} of {len(found.moved)} points moved\n")
        for note in found.notes:
            say(f"note: {note}")
        for file in found.files:
            say(file)
        for point in found.failed:
            remark(f"{point['bench']} {point['params']}: {point['error']}")


def _cell(value: Any) -> Any:
    return " ".join(f"{key}={item}" for key, item in value.items()) if isinstance(value, dict) else value
