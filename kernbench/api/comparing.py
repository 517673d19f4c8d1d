"""Comparison of two kept runs: what was configured differently, then what got slower, where, by how much."""

from __future__ import annotations

from itertools import zip_longest
from math import fsum
from typing import Any

from kernbench.analysis.configuration import differences
from kernbench.analysis.path.model_time import launch_name
from kernbench.analysis.windows.chosen_window import Chosen, ChosenWindow
from kernbench.analysis.windows.estimate_bounds import repeated
from kernbench.api.open_runs import open_run
from kernbench.api.result import Run
from kernbench.api.shown import Found
from kernbench.api.stores import Store, borrowed
from kernbench.draw.content import Flat
from kernbench.errors import UsageError
from kernbench.support.bounds import check_number

_IDENTITY = ("run_id", "bench", "topology", "params", "version", "status", "started_at")
_FIGURES = ("name", "before", "after", "change_ns", "change", "slower")
_COMPARED = ("busy_ns_before", "busy_ns_after", "wait_ns_before", "wait_ns_after")
_CLOSE_NS = 1e-6
"""A difference of less is rounding."""


class Comparison(Found):
    """Two runs side by side: see :func:`compare`."""

    shown_by = "comparison:content"

    def flat(self) -> Flat:
        """The figures."""
        return _FIGURES, [[row[name] for name in _FIGURES] for row in self["figures"]]


def compare(
    before: str,
    after: str,
    store: Store = None,
    threshold: float = 0.05,
    top: int = 10,
    *,
    launch: Chosen = "all",
    from_ns: float | None = None,
    to_ns: float | None = None,
    any_bench: bool = False,
) -> Comparison:
    """Compare two runs, ``before`` and ``after``: their configurations first, then their times.

    ``threshold`` is the share of the time before by which something may grow without being ``slower``.
    ``launch``, ``from_ns`` and ``to_ns`` choose a window of each run (:meth:`kernbench.Run.window`), by
    default the launches; causes and resources are those of the window. Gives

    - ``before``, ``after``: ``run_id bench topology params version status started_at`` of each;
      ``same_config``;
    - ``configured``: what was configured differently, ``what key before after`` (see
      :func:`kernbench.analysis.configuration.differences`);
    - ``window``: its name; ``figures``: ``sim_ns``, with launches ``latency_ns`` and ``kernels_ns``, the time
      of periods that were not simulated and the latency of each launch, and before them the length of a
      ``window`` that was chosen, each with ``name before after change_ns change slower`` (``change`` is a
      share; None where nothing was there before), and of a launch its ``launch``;
    - ``causes``: the critical path's ns by cause, ``cause before after change_ns``, largest change first;
    - ``locations``: the ``top`` parts whose time on the critical path changed most, ``location before after
      change_ns``: what the faster run no longer waits for, and what it waits for instead;
    - ``resources``: the ``top`` components and links whose busy or waiting time grew most: ``resource kind
      busy_ns_before busy_ns_after wait_ns_before wait_ns_after change_ns``;
    - ``threshold`` and ``slower``: whether any figure is.

    ``UsageError`` for runs of two benches, or where one of them stopped before its end, unless ``any_bench``.
    """
    check_number("threshold", threshold)
    window = ChosenWindow.of(launch, from_ns, to_ns)
    with borrowed(store) as opened:
        old, new = open_run(before, opened), open_run(after, opened)
        if old.bench != new.bench and not any_bench:
            raise UsageError(
                f"run '{old.id}' is of '{old.bench}' and run '{new.id}' of '{new.bench}', two different "
                "benches; use --any (any_bench=True) to compare them anyway"
            )
        for run in () if any_bench else (old, new):
            if run.info["status"] == "partial":
                raise UsageError(
                    f"run '{run.id}' is partial: it was stopped at {run.info['sim_ns']:g} ns, so less time"
                    " says nothing; compare runs that have ended, or pass --any (any_bench=True)"
                )
        figures = [
            _change(key, getattr(old, key), getattr(new, key), threshold)
            for key in ("sim_ns", "latency_ns", "kernels_ns")
            if None not in (getattr(old, key), getattr(new, key))
        ]
        if window != ChosenWindow():
            lengths = [run.window(window).ns for run in (old, new)]
            figures.insert(0, _change("window", lengths[0], lengths[1], threshold))
        for a, b in zip_longest(repeated(old.properties), repeated(new.properties)):
            one = b or a
            assert one is not None
            lasted = [0.0 if each is None else each.end - each.begin for each in (a, b)]
            name = f"{one.times} more of {one.name}"
            change = _change(name, lasted[0], lasted[1], threshold)
            # What only one of them has not simulated is in the launches of the other.
            figures.append({**change, "slower": change["slower"] and a is not None})
        for number, (a, b) in enumerate(zip(old.launches, new.launches, strict=False)):
            name = f"launch {number} ({launch_name(b)})"
            change = _change(name, float(a["latency_ns"]), float(b["latency_ns"]), threshold)
            figures.append({**change, "launch": number})
        paths = [run.critical_path(window) for run in (old, new)]
        return Comparison(
            {
                "before": _identity(old),
                "after": _identity(new),
                "same_config": old.info["config_hash"] == new.info["config_hash"],
                "configured": differences(old.properties, new.properties, opened),
                "window": new.window(window).name,
                "figures": figures,
                "causes": _on_path("cause", *(path.by_cause() for path in paths)),
                "locations": [
                    row
                    for row in _on_path("location", *(path.by_location() for path in paths))[:top]
                    if abs(row["change_ns"]) > _CLOSE_NS
                ],
                "resources": _resources(old, new, window)[:top],
                "threshold": threshold,
                "slower": any(figure["slower"] for figure in figures),
            }
        )


def _identity(run: Run) -> dict[str, Any]:
    info = run.info
    return {key: info[key] for key in _IDENTITY}


def _change(name: str, before: float, after: float, threshold: float) -> dict[str, Any]:
    # A difference that is rounding alone is none, whatever the threshold.
    slower = after - before > max(threshold * before, _CLOSE_NS)
    return {
        "name": name,
        "before": before,
        "after": after,
        "change_ns": after - before,
        "change": (after - before) / before if before > 0 else None,
        "slower": slower,
    }


def _on_path(by: str, before: dict[str, float], after: dict[str, float]) -> list[dict[str, Any]]:
    rows = []
    for one in {**before, **after}:
        was, now = before.get(one, 0.0), after.get(one, 0.0)
        rows.append({by: one, "before": was, "after": now, "change_ns": now - was})
    return sorted(rows, key=lambda row: (-abs(row["change_ns"]), row[by]))


def _resources(old: Run, new: Run, window: ChosenWindow) -> list[dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    for when, run in (("before", old), ("after", new)):
        used = run.use(window)
        for resource, kind, busy, wait in zip(
            used["resource"], used["kind"], used["busy_ns"], used["wait_ns"], strict=True
        ):
            nothing = dict.fromkeys(_COMPARED, 0.0)
            row = found.setdefault(str(resource), {"resource": str(resource), "kind": str(kind), **nothing})
            row[f"busy_ns_{when}"], row[f"wait_ns_{when}"] = float(busy), float(wait)
    for row in found.values():
        row["change_ns"] = fsum(
            max(0.0, row[f"{what}_ns_after"] - row[f"{what}_ns_before"]) for what in ("busy", "wait")
        )
    slower = [row for row in found.values() if row["change_ns"] > _CLOSE_NS]
    return sorted(slower, key=lambda row: (-row["change_ns"], row["resource"]))
