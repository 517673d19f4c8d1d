"""Colours of diagrams, chosen to stay distinct for readers with colour vision deficiency.

Those of kinds of components and links are in their records (:mod:`kernbench.hardware.kinds`). Utilisation
goes from yellow to brown, darker with the value, and so reads in grey as well; lines grow thicker too.
"""

from __future__ import annotations

from types import MappingProxyType

from kernbench.hardware.kinds import COMPONENT_KINDS
from kernbench.hardware.kinds.links import BLUE, GREEN, ORANGE, PURPLE, SKY, VERMILION, YELLOW

INK, PAPER = "#1f2933", "#ffffff"

IDLE = "#c5ccd3"
STEPS = ("#fdd26a", "#fdae3c", "#ef7818", "#c44d07", "#7a2804")
"""Utilisation from 0 to 100 %, in equal steps."""

CAUSES = MappingProxyType(
    {
        "compute": ORANGE, "link": VERMILION, "hbm": BLUE, "row": SKY, "refresh": "#a6761d",
        "cache_hit": "#66c2a5", "cache_miss": "#1b6ca8",
        "memory": GREEN, "component": "#7b8794", "queue": PURPLE, "back_pressure": "#a05195",
        "dependency": YELLOW, "launch": "#b8c2cc", "host": "#52606d", "unfinished": "#d5dbe1",
        "unexplained": "#b42318",
    }
)  # fmt: skip
"""Causes of a critical path. Timelines and rooflines have the same colours for what is the same there."""

_ELSE = "#f3f4f6"
_FRAMES = MappingProxyType({"zone": "#f0f7f4", "io": "#f7f8f9"})
"""Fills of what stands for no component."""


def fill(kind: str) -> str:
    """The colour of the boxes of a kind of component or frame."""
    found = COMPONENT_KINDS.get(kind)
    return found.fill if found else _FRAMES.get(kind, _ELSE)


def step(share: float, top: float = 1.0) -> int:
    """Which of :data:`STEPS` a share has on the scale of all pictures, 0 to 100 %; -1 for what was idle.

    ``top`` is the share at which another scale ends.
    """
    if share <= 0.0:
        return -1
    return min(int(share / top * len(STEPS) * (1 - 1e-12)), len(STEPS) - 1)


def percent(share: float) -> str:
    """A share for people."""
    return f"{share * 100:.3g} %"


def colour(share: float) -> tuple[str, float]:
    """Colour and thickness in points of something that was busy for ``share`` of the time."""
    number = step(share)
    return (IDLE, 1.4) if number < 0 else (STEPS[number], 2.2 + 0.7 * number)
