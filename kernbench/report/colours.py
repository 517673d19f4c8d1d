"""Colours that tell apart what must be told apart, also for those who see fewer of them.

Kinds of links use the eight colours of Okabe and Ito ("Color Universal Design", 2008). Utilisation goes
from yellow to brown, darker with the value, and so reads in grey as well; lines grow thicker too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

INK, PAPER, FAINT = "#1f2933", "#ffffff", "#9aa5b1"
BLACK, ORANGE, SKY, GREEN = "#333333", "#e69f00", "#56b4e9", "#009e73"
YELLOW, BLUE, VERMILION, PURPLE = "#f0e442", "#0072b2", "#d55e00", "#cc79a7"

IDLE = "#c5ccd3"
STEPS = ("#fdd26a", "#fdae3c", "#ef7818", "#c44d07", "#7a2804")
"""Utilisation, low to high."""
_TOPS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)


@dataclass(frozen=True, slots=True)
class Pen:
    """How the links of a kind are drawn."""

    colour: str
    name: str
    """What people call the kind."""
    dashed: bool = False
    thick: float = 1.6


PENS: Mapping[str, Pen] = MappingProxyType(
    {
        "router_mesh": Pen(BLUE, "router mesh"),
        "pe_to_router": Pen(ORANGE, "PE DMA to router"),
        "router_to_hbm": Pen(GREEN, "router to HBM"),
        "router_to_channel": Pen(GREEN, "router to HBM channels"),
        "router_to_sram": Pen(SKY, "router to SRAM"),
        "command": Pen(FAINT, "commands", dashed=True),
        "ucie_to_router": Pen(PURPLE, "router to UCIe"),
        "ucie_internal": Pen(VERMILION, "UCIe connection"),
        "ucie_mesh": Pen(VERMILION, "UCIe seam", thick=4.0),
        "io_to_cube": Pen(PURPLE, "IO chiplet to cube", thick=4.0),
        "io_internal": Pen(BLUE, "inside the IO chiplet"),
        "pcie": Pen(BLACK, "PCIe", thick=3.0),
        "pe_internal": Pen(BLUE, "inside the PE"),
    }
)
OTHER = Pen(BLACK, "")

FILLS: Mapping[str, str] = MappingProxyType(
    {
        "router": "#e8f1f8",
        "pe": "#fdf1d6",
        "hbm_ctrl": "#dcf1ea",
        "zone": "#f0f7f4",
        "sram": "#e3f3fc",
        "m_cpu": "#f6f0f3",
        "ucie_conn": "#f8e9f0",
        "ucie_port": "#fbe5d8",
        "io_ucie": "#fbe5d8",
        "io": "#f7f8f9",
        "sip": "#f7f8f9",
        "cube": "#fafbfc",
        "switch": "#e9ebee",
        "host_cpu": "#e9ebee",
        "pcie_ep": "#e9ebee",
        "pe_gemm": "#fdf1d6",
        "pe_math": "#fdf1d6",
        "pe_tcm": "#dcf1ea",
        "pe_dma": "#e8f1f8",
        "pe_fetch_store": "#e8f1f8",
    }
)


def pen(kind: str) -> Pen:
    """The pen for a kind of link."""
    found = PENS.get(kind, OTHER)
    return found if found.name else Pen(found.colour, kind)


def top_of(share: float) -> float:
    """The round share at which a scale ends that has to show ``share``."""
    return next((top for top in _TOPS if share <= top), 1.0)


def step(share: float, top: float) -> int:
    """Which of :data:`STEPS` a share has on a scale up to ``top``; -1 for what was idle."""
    if share <= 0.0:
        return -1
    return min(int(share / top * len(STEPS) * (1 - 1e-12)), len(STEPS) - 1)


def percent(share: float) -> str:
    """A share for people."""
    return f"{share * 100:.3g} %"


def colour(share: float, top: float) -> tuple[str, float]:
    """Colour and thickness in points of something that was busy for ``share`` of the time."""
    number = step(share, top)
    return (IDLE, 1.4) if number < 0 else (STEPS[number], 2.2 + 0.7 * number)
