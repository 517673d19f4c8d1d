"""The content of a timeline, before it is drawn."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from kernbench.analysis.trace_tables import Ints
from kernbench.analysis.use.occupancy import united
from kernbench.analysis.windows.time_window import Floats, Window
from kernbench.draw.colours import CAUSES
from kernbench.hardware.kinds.links import BLUE, GREEN, SKY, YELLOW

CATEGORIES = {
    "launch": ("#9aa5b1", "launch"),
    "kernel": ("#c5ccd3", "kernel"),
    "gemm": (CAUSES["compute"], "matrix"),
    "math": (YELLOW, "vector"),
    "composite": ("#f3d9a4", "composite"),
    "move": (GREEN, "fetch, store"),
    "read": (SKY, "DMA read"),
    "write": (BLUE, "DMA write"),
    "queue": (CAUSES["queue"], "queue"),
    "crossing": (CAUSES["link"], "transfer"),
}
"""Colour and name for people by category; distinct for readers with colour vision deficiency."""
NAMES = tuple(CATEGORIES)
WAITING = "#7b8794"
"""Colour of what waits."""


@dataclass(frozen=True)
class TimelineRow:
    """Bars of one engine, link or other place, ns since the window's start, in order of beginning."""

    place: str
    label: str
    begin: Floats
    end: Floats
    category: Ints
    """Position in :data:`NAMES`, by bar."""
    lane: Ints
    """Bars of one lane do not overlap."""
    names: tuple[str, ...]
    numbers: Ints
    """Number of the operation or transaction, by bar; -1 for others."""
    sources: tuple[str, ...]
    """Line of the kernel, by bar; empty where there is none."""
    what: str
    """The numbers' kind: ``op`` or ``transaction``, as questions call them."""
    wait_begin: Floats = field(default_factory=lambda: np.zeros(0))
    wait_end: Floats = field(default_factory=lambda: np.zeros(0))
    occupancy: float = 0.0
    """The share of the window during which something was under way, 0 to 1."""

    @property
    def lanes(self) -> int:
        """How many there are."""
        return int(self.lane.max(initial=0)) + 1

    def shares(self, edges: Floats, *, waiting: bool = False) -> Floats:
        """The share of each interval between ``edges`` during which something is under way, or waits."""
        begin, end = (self.wait_begin, self.wait_end) if waiting else (self.begin, self.end)
        return shares(begin, end, edges)


@dataclass(frozen=True)
class RowGroup:
    """Rows that belong together, such as those of a PE, and how many places have rows just like them."""

    place: str
    rows: tuple[TimelineRow, ...]
    count: int = 1


@dataclass(frozen=True)
class TimelineContent:
    """The groups of a window, whose start is time 0."""

    title: str
    start_ns: float
    """Simulated time of its start."""
    ns: float
    """Its length."""
    groups: tuple[RowGroup, ...]
    left_out: int = 0
    """Groups that are not shown."""
    setup_ns: float = 0.0
    """Time of the run in which no kernel runs, where only launches are shown."""

    @property
    def categories(self) -> list[str]:
        """Those that occur, in order."""
        seen = {int(c) for group in self.groups for row in group.rows for c in np.unique(row.category)}
        return [NAMES[number] for number in sorted(seen)]

    @property
    def remarks(self) -> list[str]:
        """Lines for people about what is shown."""
        lines = [f"time 0 is {self.start_ns:.3f} ns of the run"]
        if self.setup_ns:
            lines.append(f"{self.setup_ns:.3f} ns are setup, outside of kernels")
        if any(group.count > 1 for group in self.groups):
            lines.append("x N: N identical rows")
        if self.left_out:
            lines.append(f"{self.left_out} more not shown; ask for more rows")
        lines.append("percentages are occupancy: the share of the time for which something was there")
        return lines

    def to_dict(self) -> dict[str, Any]:
        """Plain data: ``title start_ns ns left_out groups[]``; times of bars are ns since ``start_ns``.

        A group has ``place count rows[]``, a row ``place label occupancy bars[]``, and a bar
        ``begin end category name number source``.
        """
        return {
            "title": self.title,
            "start_ns": self.start_ns,
            "ns": self.ns,
            "left_out": self.left_out,
            "groups": [
                {"place": group.place, "count": group.count, "rows": [_row(row) for row in group.rows]}
                for group in self.groups
            ],
        }


def _row(row: TimelineRow) -> dict[str, Any]:
    columns = (row.begin.tolist(), row.end.tolist(), row.category.tolist(), row.names, row.numbers.tolist())
    return {
        "place": row.place,
        "label": row.label,
        "occupancy": row.occupancy,
        "bars": [
            {"begin": b, "end": e, "category": NAMES[c], "name": name, "number": number, "source": source}
            for b, e, c, name, number, source in zip(*columns, row.sources, strict=True)
        ],
    }


def shares(begin: Floats, end: Floats, edges: Floats) -> Floats:
    """The share of each interval between ``edges`` that lies within one interval or more."""
    spans = zip(*(times.tolist() for times in united(begin, end)), strict=True)
    return np.asarray(np.diff(Window("", tuple(spans)).covered(edges)) / np.diff(edges))


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
