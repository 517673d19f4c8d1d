"""The timeline of a run: which engine did what, when, and what stood before it; in text, SVG or PNG."""

from __future__ import annotations

from kernbench.draw.timeline.line import TimeLine
from kernbench.draw.timeline.rows import Wanted, time_line

__all__ = ["TimeLine", "Wanted", "time_line"]
