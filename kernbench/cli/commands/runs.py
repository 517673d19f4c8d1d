"""``kernbench runs``: list, tag, copy and remove kept runs."""

from __future__ import annotations

from typing import Any

import click

from kernbench.api import kept_runs
from kernbench.api.kept_runs import copy_runs, listed
from kernbench.cli import completion, options
from kernbench.cli.group import Command, Entry, LazyGroup
from kernbench.cli.output import emit, emit_list, format_option
from kernbench.errors import UsageError
from kernbench.support.pgraph import GraphStore

_HERE = "kernbench.cli.commands"
_COLUMNS = ("run_id", "bench", "params", "topology", "latency_ns", "verified", "status", "changed",
            "started_at", "tags")  # fmt: skip

command = LazyGroup(
    "runs",
    help="List, tag, copy and remove runs.",
    entries={
        "list": Entry(f"{_HERE}.runs:list_runs", "List the runs, oldest first."),
        "tag": Entry(f"{_HERE}.runs:tag", "Add tags to a run, or remove them."),
        "export": Entry(f"{_HERE}.runs:export", "Copy runs to another store."),
        "import": Entry(f"{_HERE}.runs:import_", "Copy runs from another store."),
        "prune": Entry(f"{_HERE}.runs:prune", "Remove old runs, of each bench or project."),
        "rm": Entry(f"{_HERE}.runs:rm", "Remove runs."),
        "upgrade": Entry(f"{_HERE}.runs:upgrade", "Bring runs of an older KernBench to this version."),
    },
    examples=["kernbench runs list"],
    elsewhere={"compare": "compare", "show": "show"},
)


@click.command(
    "list", cls=Command, examples=["kernbench runs list", "kernbench runs list --bench qkv-gemm --format csv"]
)
@click.option("--bench", metavar="NAME", help="Only runs of this bench.")
@click.option("--tag", metavar="TAG", help="Only runs that have this tag.")
@options.project
@options.store
@format_option
def list_runs(bench: str | None, tag: str | None, store: str | None, fmt: str) -> None:
    """List the saved runs, oldest first: parameters, time, and what changed since the run before.

    'changed' compares with the run before of the same bench. Commands accept a run's id, a unique
    prefix of it, a tag, 'last' for the newest run, or 'last~2' for two runs before that.
    """
    with options.opened(store) as kept_in:
        kept = listed(bench, kept_in, tag=tag)
    from kernbench.api.contents.runs import grid

    rows = grid(kept).rows if fmt == "table" else kept
    columns = (*_COLUMNS, "user", "project") if any(row["project"] for row in kept) else _COLUMNS
    emit(fmt, {"runs": kept}, columns, [[row[column] for column in columns] for row in rows])


_every_option = click.option(
    "--tag", metavar="TAG", help="All runs with this tag; a tag given as one of RUNS means its newest run."
)


def _with_tagged(runs: tuple[str, ...], tag: str | None, store: GraphStore) -> tuple[str, ...]:
    """The runs that are named, and all that have the tag."""
    return runs if tag is None else (*runs, *kept_runs.tagged(tag, store))


@click.command(
    "tag",
    cls=Command,
    examples=["kernbench runs tag last baseline", "kernbench runs tag last --remove baseline"],
)
@click.argument("run", shell_complete=completion.runs)
@click.argument("tags", nargs=-1)
@click.option("--remove", multiple=True, metavar="TAG", help="Remove this tag; may be repeated.")
@options.store
@format_option
def tag(run: str, tags: tuple[str, ...], remove: tuple[str, ...], store: str | None, fmt: str) -> None:
    """Add TAGS to RUN and print its tags, one a line."""
    with options.opened(store) as kept_in:
        now = kept_runs.tag(run, tags, remove, kept_in)
    emit_list(fmt, "tags", "tag", now)


@click.command(
    "prune",
    cls=Command,
    examples=[
        "kernbench runs prune --keep 10 --dry-run",
        "kernbench runs prune --project attention --older-than 30d --dry-run",
    ],
)
@click.option("--keep", type=click.IntRange(min=0), help="Newest runs of each bench to keep.")
@click.option("--older-than", metavar="TIME", help="Keep younger runs: 30d, 12h or 8w.")
@click.option("--bench", metavar="NAME", help="Only runs of this bench.")
@click.option("--tagged", is_flag=True, help="Also remove tagged runs; they count towards --keep.")
@click.option("--dry-run", is_flag=True, help="Remove nothing, only print what would be removed.")
@options.project
@options.store
@format_option
def prune(
    keep: int | None,
    older_than: str | None,
    bench: str | None,
    tagged: bool,
    dry_run: bool,
    store: str | None,
    fmt: str,
) -> None:
    """Remove old runs, and print the id of each.

    Give --keep, --older-than, or both: then what is removed is old by both. Runs that have a tag stay.
    """
    if keep is None and older_than is None:
        raise click.UsageError("say what stays: give --keep, --older-than or both")
    with options.opened(store) as kept_in:
        removed = kept_runs.prune(keep, bench, tagged, dry_run, kept_in, older_than=older_than)
    emit_list(fmt, "runs", "run_id", removed)


@click.command("rm", cls=Command, examples=["kernbench runs rm last"])
@click.argument("runs", nargs=-1, shell_complete=completion.runs)
@_every_option
@options.store
@format_option
def rm(runs: tuple[str, ...], tag: str | None, store: str | None, fmt: str) -> None:
    """Remove RUNS and print the id of each. Nothing is removed unless all of them exist."""
    if not runs and tag is None:
        raise click.UsageError("name the runs to remove, or give --tag for all with that tag")
    with options.opened(store) as kept_in:
        removed = kept_runs.remove(_with_tagged(runs, tag, kept_in), kept_in)
    emit_list(fmt, "runs", "run_id", removed)


@click.command("upgrade", cls=Command, examples=["kernbench runs upgrade"])
@options.store
@format_option
def upgrade(store: str | None, fmt: str) -> None:
    """Bring runs that an older KernBench saved to this version, and print the id of each.

    No record is changed. A server rebuilds the graphs of these runs one by one; a folder works out the facts
    that runs lack. If interrupted, call it again.
    """
    with options.opened(store) as kept_in:
        done = kept_runs.upgrade(kept_in)
    emit_list(fmt, "runs", "run_id", done)


def _copy_command(name: str, option: str, text: str, *, outward: bool) -> click.Command:
    """The command ``name``, whose ``option`` names the other store; ``text`` is the first line of its help.

    ``outward`` copies go to that store, others come from it.
    """
    more = "Runs that are already there are left alone."
    examples = [f"kernbench runs {name} {option} archive"]

    @click.command(name, cls=Command, help=f"{text}\n\n{more}", examples=examples)
    @click.argument("runs", nargs=-1, shell_complete=completion.runs)
    @click.option(
        option, "other_url", required=True, metavar="URL",
        help=f"Where to copy them {'to' if outward else 'from'}: a folder or a store URL.",
    )  # fmt: skip
    @_every_option
    @options.detail
    @options.store
    @format_option
    def copy(
        runs: tuple[str, ...], other_url: str, tag: str | None, detail: str, store: str | None, fmt: str
    ) -> None:
        with options.opened(store) as kept_in, options.opened(other_url) as other:
            source, target = (kept_in, other) if outward else (other, kept_in)
            copied: list[dict[str, Any]] = copy_runs(_with_tagged(runs, tag, source), source, target, detail)
            if not copied:
                raise UsageError(f"the store '{source.url}' holds no runs; there is nothing to copy")
        emit(fmt, {"runs": copied}, ("run_id", "copied"), [(row["run_id"], row["copied"]) for row in copied])

    return copy


export = _copy_command(
    "export",
    "--to",
    "Copy RUNS, by default all, from the store to the one at --to, with their topologies.",
    outward=True,
)
import_ = _copy_command(
    "import",
    "--from",
    "Copy RUNS, by default all, from the store at --from into this one, with their topologies.",
    outward=False,
)
