"""The links that each kind of traffic may use, and routes over them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from kernbench.hardware.kinds import LINK_KINDS, Traffic
from kernbench.support.pgraph import Edge

UCIE_KINDS = frozenset(kind.kind for kind in LINK_KINDS.values() if kind.ucie)
"""Kinds of link that belong to UCIe."""

_PE_KINDS = frozenset({"pe_internal", "pe_to_router"})


@cache
def forbidden(traffic: Traffic, same_cube: bool, *, of_tcm: bool = False) -> frozenset[str]:
    """Kinds of link that the traffic may not use.

    ``same_cube``: both ends are in one cube. ``of_tcm``: an end is the TCM of a PE, which host and
    M_CPU traffic reaches, and leaves, through that PE and so over its links.
    """
    return frozenset(
        kind.kind
        for kind in LINK_KINDS.values()
        if traffic in (kind.barred_within if same_cube else kind.barred_across)
        and not (of_tcm and kind.kind in _PE_KINDS)
    )


@dataclass(slots=True, eq=False)
class Route:
    """A path through the machine, which stays as it is. Two are the same only if they are one object."""

    nodes: tuple[str, ...]
    """Names of the components passed, both ends included."""
    links: tuple[Edge, ...]
    """Links between them, one fewer than the components."""
    weight: float
    """Sum of the links' routing weights."""
    own_back: tuple[str, ...] = ()
    """Names of the components that answers pass on a route of their own; empty: the same ones."""

    @property
    def back(self) -> tuple[str, ...]:
        """Names of the components that answers pass, from ``nodes[-1]`` to ``nodes[0]``."""
        return self.own_back or self.nodes[::-1]
