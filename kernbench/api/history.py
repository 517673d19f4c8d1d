"""Work on kept runs: compare two, tag, thin out, copy from store to store."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from kernbench.api.result import Run
from kernbench.api.stores import Store, borrowed, open_run
from kernbench.api.stores import runs as all_runs
from kernbench.errors import UsageError
from kernbench.pgraph import GraphStore, RunRecord

_FIGURES = ("sim_ns", "latency_ns")


def compare(
    before: str, after: str, store: Store = None, threshold: float = 0.05, top: int = 10
) -> dict[str, Any]:
    """What got slower from run ``before`` to run ``after``, where, and by how much.

    ``threshold`` is the share of the time before by which something may grow without being ``slower``. Gives

    - ``before``, ``after``: ``run_id bench topology params version started_at`` of each, ``same_config``;
    - ``figures``: the run's ``sim_ns`` and ``latency_ns`` and the latency of each launch, each with ``name
      before after change_ns change slower`` (``change`` is a share; None where nothing was there before);
    - ``causes``: the critical path's ns by cause, ``cause before after change_ns``, largest change first;
    - ``resources``: the ``top`` components and links whose busy or waiting time grew most: ``resource kind
      busy_ns_before busy_ns_after wait_ns_before wait_ns_after change_ns``;
    - ``threshold`` and ``slower``: whether any figure is.
    """
    with borrowed(store) as opened:
        old, new = open_run(before, opened), open_run(after, opened)
        figures = [
            _change(name, float(old.info[name]), float(new.info[name]), threshold) for name in _FIGURES
        ]
        for number, (a, b) in enumerate(zip(old.launches, new.launches, strict=False)):
            name = f"launch {number} ({b['kernel']})"
            figures.append(_change(name, float(a["latency_ns"]), float(b["latency_ns"]), threshold))
        return {
            "before": _identity(old),
            "after": _identity(new),
            "same_config": old.info["config_hash"] == new.info["config_hash"],
            "figures": figures,
            "causes": _causes(old, new),
            "resources": _resources(old, new)[:top],
            "threshold": threshold,
            "slower": any(figure["slower"] for figure in figures),
        }


def tag(run: str, add: Sequence[str] = (), remove: Sequence[str] = (), store: Store = None) -> list[str]:
    """Add and remove tags of a run; return those that it has then. ``UsageError`` for an empty tag."""
    if any(not text.strip() for text in add):
        raise UsageError("a tag is empty; give it a name")
    with borrowed(store) as opened:
        kept = open_run(run, opened)
        if missing := [text for text in remove if text not in kept.tags]:
            raise UsageError(f"run '{kept.id}' has no tag '{missing[0]}'; it has {kept.tags or 'none'}")
        tags = list(dict.fromkeys([*kept.tags, *add]))
        tags = [text for text in tags if text not in remove]
        if tags != kept.tags:
            opened.set_tags(kept.id, tags)
        return tags


def prune(
    keep: int, bench: str | None = None, tagged: bool = False, dry_run: bool = False, store: Store = None
) -> list[str]:
    """Remove all but the newest ``keep`` runs of each bench; return the ids, oldest first.

    Runs with a tag stay and do not count, unless ``tagged``. ``bench`` limits it to that bench's runs.
    """
    if keep < 0:
        raise UsageError(f"keep is {keep}; it must be 0 or more")
    with borrowed(store) as opened:
        left: dict[str, int] = {}
        gone: list[str] = []
        for run in reversed(all_runs(opened)):
            if (run.tags and not tagged) or bench not in (None, run.bench):
                continue
            left[run.bench] = left.get(run.bench, 0) + 1
            if left[run.bench] > keep:
                gone.append(run.id)
        gone.reverse()
        for run_id in [] if dry_run else gone:
            opened.remove(run_id)
        return gone


def copy_runs(refs: Iterable[str], source: Store, target: Store) -> list[dict[str, Any]]:
    """Copy runs with their topologies to another store: ``run_id``, and ``copied`` or not.

    Without ``refs``, all of them. A run that the target has is left alone; copying again changes nothing.
    """
    with borrowed(source) as here, borrowed(target) as there:
        ids = [here.resolve(ref) for ref in refs] or [str(info["id"]) for info in here.runs()]
        known = {str(info["id"]) for info in there.runs()}
        return [
            {"run_id": run_id, "copied": run_id not in known and _copy_one(run_id, here, there)}
            for run_id in dict.fromkeys(ids)
        ]


def _copy_one(run_id: str, here: GraphStore, there: GraphStore) -> bool:
    record = here.load(run_id)
    there.keep(RunRecord(record.info, record.tables), here.load_topology(str(record.info["topology"])))
    return True


def _identity(run: Run) -> dict[str, Any]:
    info = run.info
    return {key: info[key] for key in ("run_id", "bench", "topology", "params", "version", "started_at")}


def _change(name: str, before: float, after: float, threshold: float) -> dict[str, Any]:
    # A difference that is rounding alone is none, whatever the threshold.
    slower = after - before > max(threshold * before, 1e-6)
    return {
        "name": name,
        "before": before,
        "after": after,
        "change_ns": after - before,
        "change": (after - before) / before if before > 0 else None,
        "slower": slower,
    }


def _causes(old: Run, new: Run) -> list[dict[str, Any]]:
    before, after = (run.critical_path().by_cause() for run in (old, new))
    rows = [
        {
            "cause": cause,
            "before": before.get(cause, 0.0),
            "after": after.get(cause, 0.0),
            "change_ns": after.get(cause, 0.0) - before.get(cause, 0.0),
        }
        for cause in {**before, **after}
    ]
    return sorted(rows, key=lambda row: (-abs(row["change_ns"]), row["cause"]))


def _resources(old: Run, new: Run) -> list[dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    for when, run in (("before", old), ("after", new)):
        used = run.used
        for resource, kind, busy, wait in zip(
            used["resource"], used["kind"], used["busy_ns"], used["wait_ns"], strict=True
        ):
            row = found.setdefault(
                str(resource),
                {
                    "resource": str(resource),
                    "kind": str(kind),
                    "busy_ns_before": 0.0,
                    "busy_ns_after": 0.0,
                    "wait_ns_before": 0.0,
                    "wait_ns_after": 0.0,
                },
            )
            row[f"busy_ns_{when}"], row[f"wait_ns_{when}"] = float(busy), float(wait)
    for row in found.values():
        row["change_ns"] = sum(
            max(0.0, row[f"{what}_ns_after"] - row[f"{what}_ns_before"]) for what in ("busy", "wait")
        )
    slower = [row for row in found.values() if row["change_ns"] > 0]
    return sorted(slower, key=lambda row: (-row["change_ns"], row["resource"]))
