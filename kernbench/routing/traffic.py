"""What is routed and by which wires: kinds of traffic, the links each may use, and routes."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from kernbench.pgraph import Edge


class Traffic(StrEnum):
    """Kinds of traffic, as far as they differ in the links that they may use."""

    PE_DMA = "PE_DMA"
    """Reads, writes and queue messages of PE_DMA. Within a cube it keeps to the mesh."""
    MCPU_DMA = "MCPU_DMA"
    """Data moved by an M_CPU."""
    HOST_MEMORY = "HOST_MEMORY"
    """Memory reads and writes by the host."""
    COMMAND = "COMMAND"
    """Launches, mappings and their answers."""


UCIE_KINDS = frozenset({"ucie_internal", "ucie_to_router", "ucie_mesh", "io_to_cube"})
"""Kinds of link that belong to UCIe."""

TRANSIT_KINDS = frozenset(
    {"router", "switch", "ucie_port", "ucie_conn", "io_noc", "io_ucie", "io_ucie_conn", "pcie_ep"}
)
"""Kinds of component that pass on what is not for them; all others are ends of routes."""

_NOTHING: frozenset[str] = frozenset()
_COMMAND = frozenset({"command"})
_PE = frozenset({"pe_internal", "pe_to_router"})


def forbidden(traffic: Traffic, same_cube: bool) -> frozenset[str]:
    """Kinds of link that the traffic may not use (ADR-0051 D2, ADR-0017 D7).

    ``same_cube``: both ends are in one cube.
    """
    if traffic is Traffic.PE_DMA:
        return UCIE_KINDS if same_cube else _COMMAND
    if traffic is Traffic.COMMAND:
        return _NOTHING
    return _PE


@dataclass(frozen=True, slots=True, eq=False)
class Route:
    """A path through the machine. Two routes are the same only if they are one object."""

    nodes: tuple[str, ...]
    """Names of the components passed, both ends included."""
    links: tuple[Edge, ...]
    """Links between them, one fewer than the components."""
    weight: float
    """Sum of the links' routing weights in mm."""
