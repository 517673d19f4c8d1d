"""Regressions of an evaluation: its points against those of an earlier one, which go by their tag."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from kernbench.api.open_runs import runs as all_runs
from kernbench.api.result import Run
from kernbench.errors import UsageError
from kernbench.support.pgraph import GraphStore

_CLOSE_NS = 1e-6
"""A difference of less is rounding."""


def baselines(tag: str, store: GraphStore, names: Sequence[str]) -> dict[str, Run]:
    """The newest run with a tag for each configuration; ``UsageError`` where no run has that tag.

    A run must have one of the tags ``names`` as well: those of the evaluation.
    """
    found = {
        key_of(run): run
        for run in all_runs(store, project="")
        if tag in run.tags and set(names) & set(run.tags)
    }
    if not found:
        raise UsageError(
            f"no run of this evaluation has the tag '{tag}'; make a baseline first, with --tag {tag} "
            "instead of --against"
        )
    return found


def key_of(run: Run) -> str:
    """Equal for runs of one configuration, whatever the versions of the bench, topology and KernBench.

    Bench, parameters, the topology's name and what was changed of it, the device, and whether ranks and
    periods that are alike were all simulated.
    """
    again = run.properties.get("again") or {}
    how = [again.get("topo", {}), again.get("device"), again.get("exact", False)]
    return json.dumps([run.bench, run.params, run.topology, *how], sort_keys=True)


def compare_runs(runs: Iterable[Run], before: dict[str, Run], threshold: float) -> list[dict[str, Any]]:
    """Rows ``bench params topology before_ns after_ns change moved before after``, the largest change first.

    ``moved``: ``slower`` or ``faster`` by more than ``threshold``, a share; ``new`` for a point without a
    baseline, ``gone`` for a baseline without a point, whose ``change`` is None; else empty.
    """
    rows: dict[str, dict[str, Any]] = {}
    for run in runs:
        old = before.get(key_of(run))
        rows[key_of(run)] = _row(old, run, threshold)
    for key, old in before.items():
        if key not in rows:
            rows[key] = _row(old, None, threshold)
    return sorted(rows.values(), key=lambda row: (row["moved"] == "", -abs(row["change"] or 0.0)))


def _row(old: Run | None, new: Run | None, threshold: float) -> dict[str, Any]:
    shown = new or old
    assert shown is not None
    before, after = (None if run is None else run.time_ns for run in (old, new))
    change, moved = None, "gone" if new is None else "new"
    if before is not None and after is not None:
        change = (after - before) / before if before > 0 else 0.0
        large = abs(after - before) > max(threshold * before, _CLOSE_NS)
        moved = ("slower" if after > before else "faster") if large else ""
    return {
        "bench": shown.bench,
        "params": shown.params,
        "topology": shown.topology,
        "before_ns": before,
        "after_ns": after,
        "change": change,
        "moved": moved,
        "before": old.id if old else "",
        "after": new.id if new else "",
    }
