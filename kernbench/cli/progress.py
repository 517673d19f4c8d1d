"""How far a long run has come, on the terminal of whoever started it."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import TextIO

QUIET_S = 2.0
"""Work shorter than this shows nothing."""
_EVERY_S = 0.2


class Progress:
    """Called with (simulated ns, events so far, share done or None); writes one line that it keeps rewriting.

    Nothing is written within the first two seconds, nor when ``stream`` (stderr) is not a terminal. Used as
    a context manager it wipes its line at the end.
    """

    def __init__(self, stream: TextIO | None = None, clock: Callable[[], float] = time.monotonic) -> None:
        self.stream = sys.stderr if stream is None else stream
        self.clock = clock
        self.started = clock()
        self.shown = self.started + QUIET_S - _EVERY_S
        self.on_terminal = self.stream.isatty()
        self.dirty = False

    def __call__(self, sim_ns: float, events: int, share: float | None = None) -> None:
        """Show how far it is, unless that was done a moment ago."""
        now = self.clock()
        if not self.on_terminal or now - self.shown < _EVERY_S:
            return
        self.shown = now
        self.dirty = True
        self.stream.write(f"\r\x1b[K{line(sim_ns, events, now - self.started, share)}")
        self.stream.flush()

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: object) -> None:
        if self.dirty:
            self.stream.write("\r\x1b[K")
            self.stream.flush()


def line(sim_ns: float, events: int, wall_s: float, share: float | None) -> str:
    """``simulated 1.250 us, 3.2 M events, 410 k events/s, 40 % done``; ``preparing`` before any event."""
    if events == 0:
        return "preparing"
    done = "" if share is None else f", {share:.0%} done".replace("%", " %")
    rate = events / wall_s if wall_s > 0 else 0.0
    return f"simulated {_time(sim_ns)}, {_count(events)} events, {_count(rate)} events/s{done}"


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
