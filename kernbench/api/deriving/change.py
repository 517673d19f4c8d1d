"""What a loss changes for the pairs of ends between which a run's transactions went."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kernbench.api.deriving.asked import Asked, Rows
from kernbench.api.deriving.routed import Routed
from kernbench.errors import RoutingError
from kernbench.routing import Traffic
from kernbench.routing.loss import without

_SENDS = {"pe_dma": Traffic.PE_DMA, "m_cpu": Traffic.MCPU_DMA, "host_cpu": Traffic.HOST_MEMORY}
_MOVES = ("dma_read", "dma_write", "host_read", "host_write")


def rows(asked: Asked, params: Mapping[str, Any]) -> Rows:
    """``src dst traffic reachable weight new_weight ns new_ns`` per pair whose route uses what is lost."""
    routed = asked.routed
    rest, gone = without(routed.graph, str(params["lost"]))
    other = Routed(rest)
    ends = ["src", "dst", "kind"]
    groups = asked.tables["Transaction"].group_by(ends).aggregate([]).to_pylist()
    pairs = sorted((row["src"], row["dst"], row["kind"]) for row in groups)
    changed: dict[tuple[str, str, Traffic], dict[str, Any]] = {}
    for src, dst, kind in pairs:
        if kind.startswith("tcm_"):
            continue  # within a PE, where nothing is routed
        sender = str(routed.graph.node(src).properties["kind"])
        traffic = _SENDS.get(sender, Traffic.COMMAND) if kind in _MOVES else Traffic.COMMAND
        try:
            route = routed.router.route(src, dst, traffic)
        except RoutingError:
            continue
        if not gone.intersection(link.id for link in route.links):
            continue
        row: dict[str, Any] = {
            "src": src,
            "dst": dst,
            "traffic": traffic.value,
            "weight": route.weight,
            "ns": routed.latency_ns(route),
        }
        try:
            new = other.router.route(src, dst, traffic)
            row |= {"reachable": True, "new_weight": new.weight, "new_ns": other.latency_ns(new)}
        except RoutingError:
            row |= {"reachable": False, "new_weight": 0.0, "new_ns": 0.0}
        changed[src, dst, traffic] = row
    return list(changed.values())
