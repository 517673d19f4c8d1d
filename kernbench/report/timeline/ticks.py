"""Round times for an axis."""

from __future__ import annotations


def ticks(ns: float, most: int) -> list[float]:
    """Multiples of 1, 2 or 5 times a power of ten from 0 to ``ns``, at most ``most`` and 0."""
    if ns <= 0:
        return [0.0]
    step = next(
        digit * 10.0**power
        for power in range(-6, 15)
        for digit in (1, 2, 5)
        if ns / (digit * 10.0**power) <= most
    )
    return [number * step for number in range(int(ns / step + 1e-9) + 1)]
