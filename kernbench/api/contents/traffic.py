"""A run of traffic on every screen: its totals, the busiest links and other parts, and its flows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from kernbench.api.contents import parts
from kernbench.api.traffic_runs import TrafficRun
from kernbench.draw.cells import number
from kernbench.draw.content import Content, Grid, columns_of

_KIND = columns_of("kind links used mean_utilisation max_utilisation bytes wait_ns")


def content(run: TrafficRun, top: int = 10) -> Content:
    """The ``top`` busiest links, other parts, and flows."""
    totals, found = run.totals, run.summary(top)
    facts = [
        ("run", run.id or "not kept"),
        ("topology", run.topology),
        ("flows", str(len(run.flows))),
        ("makespan", f"{number(totals['makespan_ns'])} ns"),
        ("bytes", str(totals["total_bytes"])),
        ("bandwidth", f"{number(totals['bandwidth_gbs'])} GB/s"),
        ("path peak", _peak(totals, "peak_path_gbs")),
        ("fair peak", _peak(totals, "peak_fair_gbs")),
    ]
    kinds = [row for row in run.link_kinds if row["used"]]
    few = len(run.flows) <= top
    heading = "Flows" if few else "Flows that end last; '--format csv' has all in their order"
    flows = run.flows if few else sorted(run.flows, key=lambda flow: -flow["end_ns"])
    grids = [
        replace(parts.grid(found["busiest_links"], "links"), first=top),
        Grid("kinds", "Links by kind", _KIND, kinds, "no link was used"),
        replace(parts.grid(found["busiest_engines"], "engines, memories and routers"), first=top),
        Grid("flows", heading, columns_of(" ".join(run.flat()[0])), flows, "no flows", first=top),
    ]
    return Content(grids, "nothing was moved", facts=facts)


def _peak(totals: Mapping[str, Any], key: str) -> str:
    return f"{number(totals[key])} GB/s, {totals['bandwidth_gbs'] / totals[key]:.1%} of it reached"
