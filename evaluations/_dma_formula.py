"""The records' formula for single transfers (ADR-0049 D3, D4) beside what is measured."""

from __future__ import annotations

from math import fsum
from typing import Any

from kernbench.analysis.routes.zero_load import ZeroLoadModel
from kernbench.support.pgraph import PropertyGraph
from kernbench.workloads.probes.cases import Case

LARGE = 0.1
"""A difference that needs a reason."""
WAY = "the answer crosses the path too, where the formula ends at the memory"
FLITS = "each link takes a flit before the next link has it, and the slice's channels a burst"
WHOLE = "the PCIe endpoint takes in the whole message before it sends any of it on"


def beside_formula(graph: PropertyGraph, case: Case, nbytes: int, ours_ns: float) -> dict[str, Any]:
    """``formula_ns`` of a transfer on an idle machine, the difference of ``ours_ns`` from it, and its parts.

    The formula is the overheads of all components on the way to the memory, the distance, and the bytes at
    the narrowest link's rate. ``way_ns``: overheads beyond it; ``flits_ns``: time on links and in memory
    beyond it. ``because`` names the parts where the difference is over 10 %.
    """
    kinds = [graph.node(node).properties for node in case.route.nodes]
    links = [link.properties for link in case.route.links]
    overheads = fsum(float(of.get("overhead_ns", 0.0)) for of in kinds)
    distance = fsum(float(of["distance_mm"]) for of in links) * float(graph.properties["ns_per_mm"])
    drain = nbytes / min(float(of["bw_gbs"]) for of in links)
    formula = overheads + distance + drain
    spent = case.predict(ZeroLoadModel(graph), nbytes).breakdown()
    row = {
        "ours_ns": ours_ns,
        "formula_ns": formula,
        "difference": ours_ns / formula - 1.0,
        "way_ns": spent["component"] + spent["host"] - overheads,
        "flits_ns": fsum([spent["link"], spent["hbm"], spent["memory"], -distance, -drain]),
    }
    if abs(row["difference"]) <= LARGE:
        return {**row, "because": ""}
    whole = any(of["kind"] == "pcie_ep" and not of.get("cut_through") for of in kinds)
    parts = sorted([(row["way_ns"], WAY), (row["flits_ns"], WHOLE if whole else FLITS)], reverse=True)
    extra = ours_ns - formula
    return {
        **row,
        "because": "; ".join(f"{ns:+.4g} ns: {why}" for ns, why in parts if abs(ns) > LARGE * abs(extra)),
    }
