"""The roofline on every screen: how near operations, PEs and launches came to what the hardware allows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kernbench.api.result import Run
from kernbench.errors import UsageError
from kernbench.report.cells import plain
from kernbench.report.content import Column, Content, Grid

COLUMNS = (
    *map(Column, ("launch", "op", "name", "source", "flops", "memory", "intensity")),
    Column("ns", "ns"),
    Column("light_ns", "ns"),
    Column("share", percent=True),
    Column("bound"),
)
NOTE = (
    "light_ns is the speed-of-light time (SOL): the least for these flops and bytes here. share is light_ns "
    "by ns, the % of SOL that was reached; bound is the roof that binds: gemm, a memory, link (those within "
    "chiplets) or package (those between)."
)
EMPTY = "no operation moved or computed anything"
_BY = (("operation", "By operation", 500), ("pe", "By PE", 300), ("launch", "By launch", None))
"""Levels with their headings, and the rows of each that are shown."""
LEVELS = tuple(by for by, *_ in _BY)
_POINT = ("name", "op", "launch", "source", "memory", "intensity", "achieved_tflops", "attainable_tflops",
          "peak_tflops", "peak_gbs", "share", "bound", "ns", "flops")  # fmt: skip


def of_run(
    run: Run, launch: int | str | None = "all", from_ns: float | None = None, to_ns: float | None = None
) -> Content:
    """The three levels; ``drawn`` of each has its dots, those with flops and a memory."""
    if from_ns is not None or to_ns is not None or launch == "setup":
        raise UsageError("a roofline is of whole launches; choose all of them, or one")
    grids = []
    for by, heading, limit in _BY:
        rows = run.roofline(by, "run" if launch is None else launch, limit)
        points = [row for row in rows if row["flops"] and row["memory"] and row["ns"] > 0]
        parts = ("name",) if by == "pe" else ()
        grids.append(Grid(by, heading, COLUMNS, rows, parts=parts, drawn=_alike(points)))
    return Content(grids, EMPTY, note=NOTE, choice="by")


def _alike(points: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Points at one place once, with their count."""
    found: dict[tuple[Any, ...], dict[str, Any]] = {}
    for point in points:
        key = (point["memory"], round(point["intensity"], 6), round(point["achieved_tflops"], 9))
        if key in found:
            found[key]["count"] += 1
        else:
            found[key] = {**{name: plain(point[name]) for name in _POINT}, "count": 1}
    return list(found.values())
