"""The steps of the simulator's route between two components."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kernbench.api.deriving.asked import Asked, Rows


def rows(asked: Asked, params: Mapping[str, Any]) -> Rows:
    """``seq link path_weight hops`` per link of the route."""
    route = asked.routed.route(params["src"], params["dst"], params["traffic"], params["via"])
    return [
        {"seq": seq, "link": link.id, "path_weight": route.weight, "hops": len(route.links)}
        for seq, link in enumerate(route.links, 1)
    ]
