"""The records' formula for single transfers (ADR-0049 D3, D4) beside what is measured."""

from __future__ import annotations

from math import fsum
from typing import Any

from kernbench.analysis.zero_load import ZeroLoadModel
from kernbench.pgraph import PropertyGraph
from kernbench.routing import Route, Router, Traffic
from kernbench.topology.nodes import HOST_CPU

LARGE = 0.1
"""A difference that needs a reason."""
WAY = "the answer crosses the path too, where the formula ends at the memory"
FLITS = "each link takes a flit before the next link has it, and the slice's channels a burst"
WHOLE = "the PCIe endpoint takes in the whole message before it sends any of it on"


def beside_formula(
    graph: PropertyGraph, src: str, dst: str, op: str, nbytes: int, ours_ns: float
) -> dict[str, Any]:
    """``formula_ns`` of a transfer on an idle machine, the difference of ``ours_ns`` from it, and its parts.

    The formula is the overheads of all components on the way to the memory, the distance, and the bytes at
    the narrowest link's rate. ``way_ns``: overheads and distance beyond it; ``flits_ns``: bytes on links and
    in memory beyond it. ``because`` names the parts where the difference is over 10 %.
    """
    start, traffic = (HOST_CPU, Traffic.HOST_MEMORY) if src == "host" else (f"{src}.pe_dma", Traffic.PE_DMA)
    route = Router(graph).route(start, dst, traffic)
    way = fsum(
        [
            *(float(graph.node(node).properties.get("overhead_ns", 0.0)) for node in route.nodes),
            *(
                float(link.properties["distance_mm"]) * float(graph.properties["ns_per_mm"])
                for link in route.links
            ),
        ]
    )
    drain = nbytes / min(float(link.properties["bw_gbs"]) for link in route.links)
    model = ZeroLoadModel(graph)
    spent = (model.write if op == "write" else model.read)(route, nbytes).end.breakdown()
    flits = fsum([spent["wire"], spent["hbm"], -drain])
    row = {
        "ours_ns": ours_ns,
        "formula_ns": way + drain,
        "difference": ours_ns / (way + drain) - 1.0,
        "way_ns": fsum([*(ns for name, ns in spent.items() if name not in ("wire", "hbm")), -way]),
        "flits_ns": flits,
    }
    return {**row, "because": _because(row, graph, route) if abs(row["difference"]) > LARGE else ""}


def _because(row: dict[str, Any], graph: PropertyGraph, route: Route) -> str:
    """The parts of the difference that matter, the larger first."""
    kinds = [(node, graph.node(node).properties) for node in route.nodes]
    whole = any(p["kind"] == "pcie_ep" and not p.get("cut_through") for _, p in kinds)
    parts = [(row["way_ns"], WAY), (row["flits_ns"], WHOLE if whole else FLITS)]
    extra = row["ours_ns"] - row["formula_ns"]
    named = [
        f"{ns:+.4g} ns: {why}" for ns, why in sorted(parts, reverse=True) if abs(ns) > LARGE * abs(extra)
    ]
    return "; ".join(named)
