"""What routes are worked out with: containers in two forms, these and compiled ones (``containers.pyx``)."""

from __future__ import annotations

from heapq import heappop, heappush
from typing import Any


class Wholes:
    """Whole numbers below 2^63, which are ``at[0]`` and so on."""

    __slots__ = ("at",)

    def filled(self, size: int, value: int) -> Wholes:
        """Make it ``size`` times ``value``."""
        self.at = [value] * size
        return self

    def sized(self, size: int) -> Wholes:
        """Make it ``size`` numbers, which have to be set before they are read."""
        return self.filled(size, 0)

    def of(self, array: Any) -> Wholes:
        """Make it a copy of an array of 64-bit integers."""
        self.at = array.tolist()
        return self


class Nearest:
    """Places that wait to be looked at, by weight, then order. :meth:`take` leaves both in the attributes."""

    __slots__ = ("_heap", "order", "weight")

    def __init__(self) -> None:
        self._heap: list[tuple[int, int, int]] = []
        self.weight = self.order = 0

    @property
    def count(self) -> int:
        """How many wait."""
        return len(self._heap)

    def put(self, weight: int, order: int, place: int) -> None:
        """One more."""
        heappush(self._heap, (weight, order, place))

    def take(self) -> int:
        """Take the first place out. There must be one."""
        self.weight, self.order, place = heappop(self._heap)
        return place
