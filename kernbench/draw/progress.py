"""How far a run or a sweep is, in words."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Standing:
    """How far work is that goes piece by piece: pieces ``done`` of ``total``, and all of it in words."""

    done: int
    total: int
    text: str


PieceProgress = Callable[[Standing], None]
"""Called as pieces are done: points of a sweep, rows of a table, parts of a page."""


def line(sim_ns: float, events: int, wall_s: float, share: float | None, work: str = "") -> str:
    """``simulated 1.250 us, 3.2 M events, 410 k events/s, 40 % done``; ``preparing`` before any event.

    With what was done of the ``work``, in words, the time that is left follows from the share.
    """
    if events == 0:
        return "preparing"
    done = "" if share is None else f", {100 * share:.0f} % done"
    rate = events / wall_s if wall_s > 0 else 0.0
    if work:
        done += f", {work}"
        done += f", about {duration(wall_s * (1.0 - share) / share)} left" if share else ""
    return f"simulated {_time(sim_ns)}, {_count(events)} events, {_count(rate)} events/s{done}"


def of_points(done: int, total: int, kept: int, failed: int, left_s: float | None = None) -> Standing:
    """``12 of 40 points, 3 of them kept before, 1 failed, about 35 s left``."""
    text = f"{done} of {total} points"
    if kept:
        text += f", {kept} of them kept before"
    if failed:
        text += f", {failed} failed"
    if left_s is not None:
        text += f", about {duration(left_s)} left"
    return Standing(done, total, text)


def duration(seconds: float) -> str:
    """``35 s``, ``12 min``, ``1.6 h``."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def _time(ns: float) -> str:
    for unit, size in (("s", 1e9), ("ms", 1e6), ("us", 1e3)):
        if ns >= size:
            return f"{ns / size:.3f} {unit}"
    return f"{ns:.0f} ns"


def _count(value: float) -> str:
    for unit, size in (("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if value >= size:
            return f"{value / size:.1f} {unit}"
    return f"{value:.0f}"
