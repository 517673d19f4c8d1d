"""The dots of a roofline, as page and pictures draw them: one for each level that work moved bytes over.

Work whose dots lie at the same places is one, with its count.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kernbench.draw.cells import plain
from kernbench.draw.colours import CAUSES
from kernbench.hardware.kinds.links import SKY

LEVELS = {
    "tcm": ("TCM", CAUSES["memory"], "square"),
    "sram": ("SRAM", "#665191", "triangle"),
    "hbm": ("HBM", CAUSES["hbm"], "circle"),
    "link": ("links", CAUSES["link"], "diamond"),
    "package": ("die-to-die links", SKY, "down"),
}
"""Names of the levels for people, with colours and marks, from the PE outwards."""
_WORK = ("name", "op", "launch", "source", "achieved_tflops", "attainable_tflops", "peak_tflops", "share",
         "bound", "ns", "flops")  # fmt: skip

Row = Mapping[str, Any]
"""A row of :meth:`kernbench.Run.roofline`."""


def drawn(rows: Sequence[Row]) -> dict[str, Any]:
    """``work`` with its ``dots``, ``roofs`` of its levels, ``peak_tflops`` and its colour, and ``left_out``.

    That is how many rows have no dot, for want of flops.

    Each dot has ``level``, ``intensity`` (FLOP/byte) and ``gbs``, what the level could bring. A roof is that
    of the work with the highest rate, so of a launch on several PEs their sum; others may have a lower one.
    """
    work = _alike([{**{name: plain(row[name]) for name in _WORK}, "dots": _dots(row)} for row in rows])
    roofs = [
        {"level": level, "label": label, "colour": colour, "mark": mark, "gbs": max(rates)}
        for level, (label, colour, mark) in LEVELS.items()
        if (rates := [dot["gbs"] for one in work for dot in one["dots"] if dot["level"] == level])
    ]
    return {
        "work": work,
        "roofs": roofs,
        "peak_tflops": max((one["peak_tflops"] for one in work), default=0),
        "peak_colour": CAUSES["compute"],
        "left_out": len(rows) - sum(one["count"] for one in work),
    }


def _dots(row: Row) -> list[dict[str, Any]]:
    return [
        {"level": level, "intensity": row["flops"] / row[f"{level}_bytes"], "gbs": plain(row[f"{level}_gbs"])}
        for level in LEVELS
        if row["flops"] and row["ns"] > 0 and row[f"{level}_bytes"]
    ]


def _alike(work: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    found: dict[tuple[Any, ...], dict[str, Any]] = {}
    for one in work:
        if one["dots"]:
            places = (f"{dot['intensity']:.3g}" for dot in one["dots"])
            key = (f"{one['achieved_tflops']:.3g}", one["bound"], *places)
            found.setdefault(key, {**one, "count": 0})["count"] += 1
    return list(found.values())
