"""Derived parameters of ``queries/history``: each run with its predecessor and the fastest one so far."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from kernbench.analysis.configuration import topology_keys
from kernbench.analysis.derived import AskedRun, Rows

PARTIAL = "partial"
"""Status of a run that was stopped and of which a part was kept."""
WHAT_IF = ".what-if"
"""Suffix of the names of topologies that exist only for a what-if question."""


def predecessors(asked: AskedRun, params: Mapping[str, Any]) -> Rows:
    """``run latency_ns before before_ns best best_ns`` per run that has one before it.

    Times are as of :func:`ns`. Runs of one bench with the same parameters, on the same machine, are taken in
    order of time. Failed runs, runs whose values were wrong and, unless their topology is asked for, what-if
    runs are left out.
    """
    last: dict[tuple[str, str, str], tuple[str, float]] = {}
    best: dict[tuple[str, str, str], tuple[str, float]] = {}
    found: Rows = []
    for info in sorted(asked.store.runs(), key=lambda info: (info["started_at"], info["id"])):
        bench, topology = str(info["bench"]), str(info["topology_name"])
        if info["status"] != "ok" or info["verified"] == "no" or params["bench"] not in ("", bench):
            continue
        if params["topology"] != topology and (params["topology"] or topology.endswith(WHAT_IF)):
            continue
        line = (bench, str(info["params"]), str(info["topology"]))
        here = (str(info["id"]), ns(info))
        if line in last:
            found.append(
                {
                    "run": here[0],
                    "latency_ns": here[1],
                    "before": last[line][0],
                    "before_ns": last[line][1],
                    "best": best[line][0],
                    "best_ns": best[line][1],
                }
            )
        last[line] = here
        best[line] = min(best.get(line, here), here, key=lambda run: run[1])
    return found


def configurations(asked: AskedRun, params: Mapping[str, Any]) -> Rows:
    """``params topology topology_id runs best_ns swept`` per configuration of a bench, the fastest first.

    ``best_ns`` is the least time as of :func:`ns`. ``swept`` are the parameters and topology keys in which
    the configurations differ, as JSON. Failed runs and wrong ones are left out.
    """
    found: dict[tuple[str, str, str], list[float]] = {}
    for info in asked.store.runs():
        if info["bench"] == params["bench"] and info["status"] == "ok" and info["verified"] != "no":
            key = (str(info["params"]), str(info["topology_name"]), str(info["topology"]))
            found.setdefault(key, []).append(ns(info))
    topologies = {topology: topology_keys(asked.store, topology) for _, _, topology in found}
    settings = {key: {**topologies[key[2]], **json.loads(key[0] or "{}")} for key in found}
    seen: dict[str, set[str]] = {}
    for name in {name for values in settings.values() for name in values if name != "name"}:
        seen[name] = {json.dumps(values.get(name), sort_keys=True) for values in settings.values()}
    swept = {name for name, values in seen.items() if len(values) > 1}
    rows = [
        {
            "params": key[0],
            "topology": key[1],
            "topology_id": key[2],
            "runs": len(times),
            "best_ns": min(times),
            "swept": json.dumps({name: v for name, v in settings[key].items() if name in swept}),
        }
        for key, times in found.items()
    ]
    order = sorted(rows, key=lambda row: (row["best_ns"], row["params"], row["topology"], row["topology_id"]))
    return order[: params["limit"]]


def ns(info: Mapping[str, Any]) -> float:
    """The time by which runs are compared, in ns: of its launches, or of the whole run where it has none."""
    return float(info["latency_ns"] or info["sim_ns"])
