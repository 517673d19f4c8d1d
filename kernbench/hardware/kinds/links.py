"""Every kind of link. Colours are those of Okabe and Ito ("Color Universal Design", 2008)."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from kernbench.hardware.kinds.records import LinkKind, Traffic

BLACK, ORANGE, SKY, GREEN = "#333333", "#e69f00", "#56b4e9", "#009e73"
YELLOW, BLUE, VERMILION, PURPLE = "#f0e442", "#0072b2", "#d55e00", "#cc79a7"
FAINT = "#9aa5b1"

_PE_DMA = frozenset({Traffic.PE_DMA})
_FROM_OUTSIDE = frozenset({Traffic.MCPU_DMA, Traffic.HOST_MEMORY})

_KINDS = (
    LinkKind(kind="router_mesh", title="router mesh", colour=BLUE),
    LinkKind(
        kind="pe_to_router",
        title="PE DMA to router",
        barred_within=_FROM_OUTSIDE,
        barred_across=_FROM_OUTSIDE,
        colour=ORANGE,
    ),
    LinkKind(kind="router_to_hbm", title="router to HBM", colour=GREEN),
    LinkKind(kind="router_to_channel", title="router to HBM channels", colour=GREEN),
    LinkKind(kind="channel_to_hbm", title="channel router to HBM", colour=GREEN),
    LinkKind(kind="router_to_sram", title="router to SRAM", colour=SKY),
    LinkKind(
        kind="command",
        title="commands",
        barred_across=_PE_DMA,
        secondary=True,
        colour=FAINT,
        dashed=True,
    ),
    LinkKind(
        kind="ucie_to_router",
        title="router to UCIe",
        barred_within=_PE_DMA,
        ucie=True,
        colour=PURPLE,
    ),
    LinkKind(
        kind="ucie_internal",
        title="UCIe connection",
        barred_within=_PE_DMA,
        ucie=True,
        colour=VERMILION,
    ),
    LinkKind(
        kind="ucie_mesh",
        title="UCIe seam",
        barred_within=_PE_DMA,
        ucie=True,
        seam=True,
        colour=VERMILION,
        thick=4.0,
    ),
    LinkKind(
        kind="io_to_cube",
        title="IO chiplet to cube",
        barred_within=_PE_DMA,
        ucie=True,
        seam=True,
        colour=PURPLE,
        thick=4.0,
    ),
    LinkKind(kind="io_internal", title="inside the IO chiplet", colour=BLUE),
    LinkKind(kind="pcie", title="PCIe", colour=BLACK, thick=3.0),
    LinkKind(
        kind="pe_internal",
        title="inside the PE",
        within_pe=True,
        barred_within=_FROM_OUTSIDE,
        barred_across=_FROM_OUTSIDE,
        colour=BLUE,
    ),
)


class _Kinds(dict[str, LinkKind]):
    def __missing__(self, name: str) -> LinkKind:
        return LinkKind(kind=name, title=name, colour=BLACK)


LINK_KINDS: Mapping[str, LinkKind] = MappingProxyType(_Kinds({kind.kind: kind for kind in _KINDS}))
"""All kinds of links by name. Any other name is that of a plain wire, which is not listed."""
