"""Which of several equally good links a route takes: dimension order, and equal ways dealt to destinations.

Along axes of an array the first axis comes first: dimension order. Of the two ways around a ring, and of
several links of ``all``, a destination takes one by its number, so that traffic to all destinations
spreads. Machines
without arrays take the first in the order of the core.
"""

from __future__ import annotations

import numpy as np

from kernbench.hardware.routing.containers import Wholes
from kernbench.hardware.routing.core import Core

_MIXES = 0x9E3779B1
"""Spreads consecutive numbers over all bits (Knuth, "The Art of Computer Programming", 6.4)."""
_MOST = 1 << 20
"""More than links leave a component."""


class Preference:
    """Ranks of the links of a core, by destination."""

    def __init__(self, core: Core, spread: str) -> None:
        said = [link.properties for link in core.links]
        dealt = [str(p.get("dealt", "0 of 1")).split(" of ") for p in said]
        self._axis = np.array([int(p.get("axis", -1)) for p in said], dtype=np.int64)
        self._way = np.array([int(p.get("way", 0)) for p in said], dtype=np.int64)
        self._number = np.array([int(i) for i, _ in dealt], dtype=np.int64)
        self._count = np.array([int(count) for _, count in dealt], dtype=np.int64)
        self._order = np.arange(len(said), dtype=np.int64)
        self._first = Wholes().of(self._order)
        self._varies = bool((self._axis >= 0).any() or (self._count > 1).any())
        self._deals = spread != "first"

    def ranks(self, destination: int) -> Wholes:
        """Per link its rank among those that leave the same component: the least is taken."""
        if not self._varies:
            return self._first
        number = destination if self._deals else 0
        turn = np.where(
            self._count > 1, (self._number - number) % self._count, (self._way + (number * _MIXES >> 15)) & 1
        )
        return Wholes().of(((self._axis + 1) * _MOST + turn) * len(self._order) + self._order)
