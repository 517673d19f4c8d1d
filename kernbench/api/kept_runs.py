"""Work on kept runs: list with what changed, tag, thin out, remove, copy from store to store."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from kernbench.analysis.configuration import differences
from kernbench.api.open_runs import open_run
from kernbench.api.open_runs import runs as all_runs
from kernbench.api.recording import tags_text
from kernbench.api.result import Run
from kernbench.api.stores import Store, borrowed, keeper, run_id
from kernbench.api.team import age, is_older
from kernbench.errors import UsageError
from kernbench.support.hints import did_you_mean
from kernbench.support.pgraph import GraphStore, RunNotFoundError, RunRecord


def listed(
    bench: str | None = None, store: Store = None, *, tag: str | None = None, project: str | None = None
) -> list[dict[str, Any]]:
    """The kept runs, oldest first: each one's :attr:`Run.info` and what is ``changed`` from the one before.

    With ``bench`` only runs of that bench; with ``tag`` only those that have it, and at least one must
    (``RunNotFoundError``); with ``project`` as for :func:`kernbench.runs`.

    ``changed`` compares with the run before of the same bench: texts such as ``m=128`` or
    ``topology cube.pes=4``, empty where nothing was configured differently, None for a bench's first run.
    """
    with borrowed(store) as opened:
        wanted = None if tag is None else set(tagged(tag, opened, project))
        latest: dict[str, Run] = {}
        rows = []
        for run in _runs(opened, bench, project):
            changed = None
            if before := latest.get(run.bench):
                rows_changed = differences(before.properties, run.properties, opened)
                changed = list(dict.fromkeys(map(_text, rows_changed)))  # those of source lines are one
            if wanted is None or run.id in wanted:
                rows.append({**run.info, "changed": changed})
            latest[run.bench] = run
        return rows


def _runs(store: GraphStore, bench: str | None = None, project: str | None = None) -> list[Run]:
    """The runs of the project, oldest first; of a bench, where one is named."""
    return [run for run in all_runs(store, project=project) if bench in (None, run.bench)]


def _text(row: dict[str, Any]) -> str:
    if row["what"] == "source":
        return "source"
    prefix = "" if row["what"] in ("parameter", "version", "device", "exact") else f"{row['what']} "
    return f"{prefix}{row['key']}={row['after']}"


def tagged(tag: str, store: Store = None, project: str | None = None) -> list[str]:
    """The ids of all runs that have a tag, oldest first; ``RunNotFoundError`` where none has it."""
    with borrowed(store) as opened:
        kept = _runs(opened, project=project)
        if found := [run.id for run in kept if tag in run.tags]:
            return found
        tags = sorted({one for run in kept for one in run.tags})
        there = did_you_mean(tag, tags) if tags else "no run in this store has a tag"
        raise RunNotFoundError(f"no run has the tag '{tag}'; {there}")


def tag(run: str, add: Sequence[str] = (), remove: Sequence[str] = (), store: Store = None) -> list[str]:
    """Add and remove tags of a run; return those that it has then. ``UsageError`` for an empty tag."""
    if any(not text.strip() for text in add):
        raise UsageError("a tag is empty; give it a name")
    tags_text(add)
    with borrowed(store) as opened:
        kept = open_run(run, opened)
        if missing := [text for text in remove if text not in kept.tags]:
            raise UsageError(f"run '{kept.id}' has no tag '{missing[0]}'; it has {kept.tags or 'none'}")
        return opened.change_tags(kept.id, add, remove)


def prune(
    keep: int | None = None,
    bench: str | None = None,
    tagged: bool = False,
    dry_run: bool = False,
    store: Store = None,
    *,
    older_than: str | None = None,
    project: str | None = None,
) -> list[str]:
    """Remove runs of a project that are old.

    Args:
        keep: the newest so many runs of each bench stay.
        bench: only runs of that bench.
        tagged: remove runs with a tag, too; else they stay, and do not count.
        dry_run: remove nothing.
        store: where the runs are.
        older_than: younger runs stay, such as ``30d``, ``12h`` or ``8w``.
        project: as for :func:`kernbench.runs`.

    Returns:
        The ids of what is removed, oldest first.

    Raises:
        UsageError: neither ``keep`` nor ``older_than`` is given, or one of them is wrong.
    """
    if keep is None and older_than is None:
        raise UsageError("say what stays: give keep, older_than or both")
    if keep is not None and keep < 0:
        raise UsageError(f"keep is {keep}; it must be 0 or more")
    old = None if older_than is None else age(older_than)
    with borrowed(store) as opened:
        left: dict[str, int] = {}
        gone: list[str] = []
        for run in reversed(_runs(opened, bench, project)):
            if run.tags and not tagged:
                continue
            left[run.bench] = left.get(run.bench, 0) + 1
            is_old = old is None or is_older(str(run.properties["started_at"]), old)
            if is_old and left[run.bench] > (keep or 0):
                gone.append(run.id)
        gone.reverse()
        for one in [] if dry_run else gone:
            opened.remove(one)
        return gone


def upgrade(store: Store = None) -> list[str]:
    """Bring runs that an older KernBench kept to this version; return the ids of those that changed."""
    with borrowed(store) as opened:
        return opened.upgrade()


def remove(refs: Iterable[str], store: Store = None) -> list[str]:
    """Remove runs; return their ids. Nothing is removed unless all of them exist (``RunNotFoundError``)."""
    with borrowed(store) as opened:
        ids = list(dict.fromkeys(run_id(opened, ref) for ref in refs))
        for one in ids:
            opened.remove(one)
        return ids


def copy_runs(
    refs: Iterable[str], source: Store, target: Store, detail: str = "full"
) -> list[dict[str, Any]]:
    """Copy runs with their topologies to another store: ``run_id``, and ``copied`` or not.

    Without ``refs``, all of them. A run that the target has is left alone; copying again changes nothing.
    A server holds them as a graph in ``detail``, as for :func:`kernbench.run`.
    """
    with borrowed(source) as here, borrowed(target) as there:
        keeper(there, detail)
        ids = [run_id(here, ref) for ref in refs] or [str(info["id"]) for info in here.runs()]
        known = {str(info["id"]) for info in there.runs()}
        return [
            {"run_id": one, "copied": one not in known and _copy_one(one, here, there, detail)}
            for one in dict.fromkeys(ids)
        ]


def move_new_run(one: str, source: Store, target: Store) -> None:
    """Move a run that ``target`` does not have yet, with its topology."""
    with borrowed(source) as here, borrowed(target) as there:
        _copy_one(one, here, there, "full")
        here.remove(one)


def _copy_one(one: str, here: GraphStore, there: GraphStore, detail: str) -> bool:
    record = here.load(one)
    topology = here.load_topology(str(record.info["topology"]))
    there.keep(RunRecord(record.info, record.tables), topology, detail)
    for name, tables in here.added(one).items():
        there.add(one, name, tables)
    return True
