"""The links and components that lie on every way between two sets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kernbench.api.deriving.asked import Asked, Rows
from kernbench.routing import Traffic
from kernbench.routing.loss import single_points


def rows(asked: Asked, params: Mapping[str, Any]) -> Rows:
    """``seq id`` per point, in the order of passing."""
    graph, traffic = asked.routed.graph, Traffic(str(params["traffic"]))
    points = single_points(graph, str(params["src"]), str(params["dst"]), traffic)
    return [{"seq": seq, "id": point} for seq, point in enumerate(points, 1)]
