"""Every kind of link. Colours are those of Okabe and Ito ("Color Universal Design", 2008)."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from kernbench.kinds.records import Group, LinkKind, Traffic

BLACK, ORANGE, SKY, GREEN = "#333333", "#e69f00", "#56b4e9", "#009e73"
YELLOW, BLUE, VERMILION, PURPLE = "#f0e442", "#0072b2", "#d55e00", "#cc79a7"
FAINT = "#9aa5b1"

_PE_DMA = frozenset({Traffic.PE_DMA})
_FROM_OUTSIDE = frozenset({Traffic.MCPU_DMA, Traffic.HOST_MEMORY})
_UCIE = Group.UCIE

_KINDS = (
    LinkKind(kind="router_mesh", title="router mesh", group=Group.MESH, colour=BLUE),
    LinkKind(
        kind="pe_to_router",
        title="PE DMA to router",
        group=Group.MESH,
        barred_within=_FROM_OUTSIDE,
        barred_across=_FROM_OUTSIDE,
        colour=ORANGE,
    ),
    LinkKind(kind="router_to_hbm", title="router to HBM", group=Group.MESH, colour=GREEN),
    LinkKind(kind="router_to_channel", title="router to HBM channels", group=Group.MESH, colour=GREEN),
    LinkKind(kind="channel_to_hbm", title="channel router to HBM", group=Group.MESH, colour=GREEN),
    LinkKind(kind="router_to_sram", title="router to SRAM", group=Group.MESH, colour=SKY),
    LinkKind(
        kind="command",
        title="commands",
        group=Group.MESH,
        barred_across=_PE_DMA,
        secondary=True,
        colour=FAINT,
        dashed=True,
    ),
    LinkKind(
        kind="ucie_to_router",
        title="router to UCIe",
        group=_UCIE,
        barred_within=_PE_DMA,
        ucie=True,
        colour=PURPLE,
    ),
    LinkKind(
        kind="ucie_internal",
        title="UCIe connection",
        group=_UCIE,
        barred_within=_PE_DMA,
        ucie=True,
        colour=VERMILION,
    ),
    LinkKind(
        kind="ucie_mesh",
        title="UCIe seam",
        group=_UCIE,
        barred_within=_PE_DMA,
        ucie=True,
        seam=True,
        colour=VERMILION,
        thick=4.0,
    ),
    LinkKind(
        kind="io_to_cube",
        title="IO chiplet to cube",
        group=_UCIE,
        barred_within=_PE_DMA,
        ucie=True,
        seam=True,
        colour=PURPLE,
        thick=4.0,
    ),
    LinkKind(kind="io_internal", title="inside the IO chiplet", group=Group.FABRIC, colour=BLUE),
    LinkKind(kind="pcie", title="PCIe", group=Group.FABRIC, colour=BLACK, thick=3.0),
    LinkKind(
        kind="pe_internal",
        title="inside the PE",
        group=Group.SETUP,
        within_pe=True,
        barred_within=_FROM_OUTSIDE,
        barred_across=_FROM_OUTSIDE,
        colour=BLUE,
    ),
)

LINK_KINDS: Mapping[str, LinkKind] = MappingProxyType({kind.kind: kind for kind in _KINDS})
"""All kinds of links by name."""
