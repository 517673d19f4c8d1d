"""The kinds of components and links, each with everything that depends on it: the only list of them."""

from __future__ import annotations

from kernbench.hardware.kinds.components import COMPONENT_KINDS
from kernbench.hardware.kinds.links import LINK_KINDS
from kernbench.hardware.kinds.records import ComponentKind, Form, LinkKind, Passage, Traffic
from kernbench.support.pgraph import Edge, Node

COMMON = ("name", "kind", "impl", "sip", "cube", "pe", "x_mm", "y_mm", "overhead_ns")
"""Properties of every node: numbers are -1 where it has none, ``x_mm`` and ``y_mm`` lie in its package."""

LINK_PROPERTIES = ("kind", "bw_gbs", "distance_mm", "delay_ns", "routing_weight")
"""Properties of every link: ``routing_weight`` is what routes add up."""

TRANSLATORS = {"va": "pe_mmu", "pa": "pe_mmu", "la": "pe_baaw"}
"""The part of a PE that translates its addresses, by address model; a PE has this one alone."""

PE_PARTS = tuple(
    kind.kind
    for kind in COMPONENT_KINDS.values()
    if kind.section[:1] == ("pe",) and kind.kind not in {*TRANSLATORS.values()} - {"pe_mmu"}
)
"""Kinds of the parts of a PE, in the order in which they are compiled; ``pe_mmu`` for any translator."""


def component_kind(node: Node) -> ComponentKind:
    """The kind of a component."""
    return COMPONENT_KINDS[str(node.properties["kind"])]


def link_kind(edge: Edge) -> LinkKind:
    """The kind of a link."""
    return LINK_KINDS[str(edge.properties["kind"])]


__all__ = [
    "COMMON",
    "COMPONENT_KINDS",
    "LINK_KINDS",
    "LINK_PROPERTIES",
    "PE_PARTS",
    "TRANSLATORS",
    "ComponentKind",
    "Form",
    "LinkKind",
    "Passage",
    "Traffic",
    "component_kind",
    "link_kind",
]
