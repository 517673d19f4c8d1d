"""Four views of a topology, from the tray to a PE's parts, as boxes and wires that anything can draw.

Projections of the compiled graph alone: equal graphs give equal views.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from kernbench.draw.machine.cube import cube_view
from kernbench.draw.machine.model import Box, Note, Overlay, View, Wire, overlay
from kernbench.draw.machine.pe import pe_view
from kernbench.draw.machine.sip import sip_view
from kernbench.draw.machine.system import system_view
from kernbench.support.pgraph import PropertyGraph

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
