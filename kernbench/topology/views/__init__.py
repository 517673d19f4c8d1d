"""Four views of a topology, from the tray to a PE's parts, as boxes and wires that anything can draw.

Projections of the compiled graph alone (ADR-0006 D1): no view needs to be told more than the graph knows,
and equal graphs give equal views.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from kernbench.pgraph import PropertyGraph
from kernbench.topology.views.cube import cube_view
from kernbench.topology.views.model import Box, Note, View, Wire
from kernbench.topology.views.pe import pe_view
from kernbench.topology.views.roles import Overlay, overlay
from kernbench.topology.views.sip import sip_view
from kernbench.topology.views.system import system_view

VIEWS: Mapping[str, Callable[[PropertyGraph, str | None], View]] = MappingProxyType(
    {"system": system_view, "sip": sip_view, "cube": cube_view, "pe": pe_view}
)
"""The views by name, from the outside in. Each takes the graph and the name of the one to show, or None."""

__all__ = [
    "VIEWS",
    "Box",
    "Note",
    "Overlay",
    "View",
    "Wire",
    "cube_view",
    "overlay",
    "pe_view",
    "sip_view",
    "system_view",
]
