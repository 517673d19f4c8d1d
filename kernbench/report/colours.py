"""Colours of diagrams, chosen to stay distinct for readers with colour vision deficiency.

Those of kinds of components and links are in their records (:mod:`kernbench.kinds`). Utilisation goes
from yellow to brown, darker with the value, and so reads in grey as well; lines grow thicker too.
"""

from __future__ import annotations

from types import MappingProxyType

from kernbench.kinds import COMPONENT_KINDS

INK, PAPER = "#1f2933", "#ffffff"

IDLE = "#c5ccd3"
STEPS = ("#fdd26a", "#fdae3c", "#ef7818", "#c44d07", "#7a2804")
"""Utilisation, low to high."""
_TOPS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)


_ELSE = "#f3f4f6"
_FRAMES = MappingProxyType({"zone": "#f0f7f4", "io": "#f7f8f9"})
"""Fills of what stands for no component."""


def fill(kind: str) -> str:
    """The colour of the boxes of a kind of component or frame."""
    found = COMPONENT_KINDS.get(kind)
    return found.fill if found else _FRAMES.get(kind, _ELSE)


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
