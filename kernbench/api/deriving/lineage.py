"""The runs of benches in time order, each with the one before it and the fastest so far."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kernbench.api.deriving.asked import Asked, Rows

WHAT_IF = ".what-if"
"""How names of topologies end that are no machine, but a question about one."""


def rows(asked: Asked, params: Mapping[str, Any]) -> Rows:
    """``run before before_ns best best_ns`` per run that has one before it.

    Runs follow each other that have bench, parameters and the topology's name in common. Failed runs, those
    whose numbers were wrong and, unless their topology is asked for, what-if runs are left out.
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
        line = (bench, str(info["params"]), topology)
        here = (str(info["id"]), float(info["sim_ns"]))
        if line in last:
            found.append(
                {
                    "run": here[0],
                    "before": last[line][0],
                    "before_ns": last[line][1],
                    "best": best[line][0],
                    "best_ns": best[line][1],
                }
            )
        last[line] = here
        best[line] = min(best.get(line, here), here, key=lambda run: run[1])
    return found
