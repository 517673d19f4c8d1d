"""A sweep as a picture in the terminal: bars for one swept key, a grid of times for two."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator

from kernbench.api.sweeps.result import Sweep, SweepPoint
from kernbench.cli.output import draw, number
from kernbench.draw.cells import printable

_BLOCKS = " ▏▎▍▌▋▊▉█"
_BAR = 40
_MOST = 60
"""Bars or rows of a grid at most; beyond that a picture in a file says more."""


def draw_chart(sweep: Sweep) -> None:
    """Print the picture."""
    for line in chart(sweep):
        draw(line)


def chart(sweep: Sweep) -> Iterator[str]:
    """Lines of the picture; none where there is nothing to compare, or more than two keys."""
    good = [point for point in sweep.points if point.latency_ns is not None and not point.error]
    swept = sweep.swept
    if len(good) < 2:
        return
    if len(swept) == 1 and len(good) <= _MOST:
        yield from _bars(swept[0], good)
    elif len(swept) == 2:
        yield from _grid(swept[0], swept[1], good)


def _bars(key: str, points: list[SweepPoint]) -> Iterator[str]:
    most = max(point.latency_ns or 0.0 for point in points)
    names = [printable(str(point.value(key))) for point in points]
    wide = max(len(key), *map(len, names))
    yield f"\n{key:>{wide}}  latency_ns"
    for name, point in zip(names, points, strict=True):
        ns = point.latency_ns or 0.0
        yield f"{name:>{wide}}  {_bar(ns / most if most else 0.0)} {number(ns)}"


def _bar(share: float) -> str:
    if not (sys.stdout.encoding or "").lower().startswith("utf"):
        return "#" * max(1, round(share * _BAR))
    eighths = max(1, round(share * _BAR * 8))
    full, rest = divmod(eighths, 8)
    return "█" * full + (_BLOCKS[rest] if rest else "")


def _grid(down: str, across: str, points: list[SweepPoint]) -> Iterator[str]:
    """Rows and columns of times; on a terminal the colour goes from fast (green) to slow (red)."""
    times = {
        (printable(str(p.value(down))), printable(str(p.value(across)))): p.latency_ns or 0.0 for p in points
    }
    rows, columns = (list(dict.fromkeys(key[i] for key in times)) for i in (0, 1))
    cells = {place: number(ns) for place, ns in times.items()}
    head = max(len(down), *map(len, rows))
    wide = [max(len(name), *(len(cells.get((row, name), "-")) for row in rows)) for name in columns]
    if len(rows) > _MOST or head + sum(wide) + 2 * len(wide) > max(shutil.get_terminal_size().columns, 80):
        return
    low, high = min(times.values()), max(times.values())
    yield f"\nlatency_ns, {down} down, {across} across"
    yield f"{'':>{head}}  " + "  ".join(f"{name:>{w}}" for name, w in zip(columns, wide, strict=True))
    for row in rows:
        line = []
        for name, w in zip(columns, wide, strict=True):
            text = f"{cells.get((row, name), '-'):>{w}}"
            line.append(
                _colour(text, (times[row, name] - low) / (high - low))
                if (row, name) in times and high > low
                else text
            )
        yield f"{row:>{head}}  " + "  ".join(line)


def _colour(text: str, share: float) -> str:
    if not sys.stdout.isatty() or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return text
    scale = (46, 118, 154, 190, 226, 220, 214, 208, 202, 196)
    return f"\x1b[38;5;{scale[min(9, int(share * 10))]}m{text}\x1b[0m"
