"""What can be reached from a component, and how far it is along the simulator's routes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kernbench.api.deriving.asked import Asked, Rows
from kernbench.errors import RoutingError


def rows(asked: Asked, params: Mapping[str, Any]) -> Rows:
    """``component weight hops ns`` per component that is reached."""
    routed = asked.routed
    found: Rows = []
    for node in routed.graph.nodes():
        if not node.properties["impl"] or params["kind"] not in ("", node.properties["kind"]):
            continue
        try:
            route = routed.route(params["src"], node.id, params["traffic"])
        except RoutingError:
            continue
        ns = routed.latency_ns(route)
        found.append({"component": node.id, "weight": route.weight, "hops": len(route.links), "ns": ns})
    return found
