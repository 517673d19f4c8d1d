"""From places in mm to points: true to scale, but no gap narrower than what has to stand in it."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from itertools import pairwise


def scale_for(stops: Sequence[float], needs: Sequence[float]) -> float:
    """Points per mm at which every gap between ``stops`` (mm) has the points that it needs."""
    gaps = (after - before for before, after in pairwise(stops))
    return max((need / gap for gap, need in zip(gaps, needs, strict=True) if gap > 0), default=1.0)


class Axis:
    """One direction of a drawing.

    ``stops`` are mm that never fall, ``needs[i]`` the points that the gap after stop i must have.
    """

    def __init__(self, stops: Sequence[float], needs: Sequence[float], scale: float) -> None:
        self.stops = list(stops)
        self.scale = scale
        self.stretched = False
        self._points = [0.0]
        for (before, after), need in zip(pairwise(stops), needs, strict=True):
            true = (after - before) * scale
            self.stretched |= need > true + 0.5
            self._points.append(self._points[-1] + max(true, need))

    def stop(self, index: int) -> float:
        """Points of a stop, negative numbers from the end."""
        return self._points[index]

    def at(self, mm: float) -> float:
        """Points of any place; between stops in proportion, beyond them to scale."""
        stops, points = self.stops, self._points
        i = bisect_right(stops, mm) - 1
        if i < 0:
            return (mm - stops[0]) * self.scale
        if i == len(stops) - 1:
            return points[-1] + (mm - stops[-1]) * self.scale
        span = stops[i + 1] - stops[i]
        return points[i] + (points[i + 1] - points[i]) * (mm - stops[i]) / span
