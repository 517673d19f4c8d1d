"""The roofline of a run: how near launches and operations came to what GEMM engines and memories allow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from kernbench.errors import UsageError
from kernbench.kinds.links import BLUE, GREEN, ORANGE, PURPLE, SKY, VERMILION
from kernbench.report.colours import INK

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Row = Mapping[str, Any]
"""A row of :meth:`kernbench.Run.roofline`."""
_MEMORIES = {
    "hbm": (GREEN, "HBM"),
    "sram": (PURPLE, "SRAM"),
    "tcm": (SKY, "TCM"),
    "link": (BLUE, "links"),
    "package": (VERMILION, "die-to-die links"),
}
_MARKS = (("o", BLUE), ("s", VERMILION), ("D", ORANGE), ("^", PURPLE), ("v", GREEN), ("P", INK))
_MOST = 12
"""Marks in a panel."""


def roofline_figure(launches: Sequence[Row], operations: Sequence[Row], title: str) -> Figure:
    """A panel of the launches and one of the operations; those that are equal are one mark with a count.

    ``UsageError`` where nothing has flops.
    """
    from matplotlib.figure import Figure

    panels = [
        (name, _folded(rows))
        for name, rows in (("launches", launches), ("operations", operations))
        if any(row["flops"] for row in rows)
    ]
    if not panels:
        raise UsageError("nothing there multiplied matrices, so a roofline has no point")
    figure = Figure(figsize=(6.8 * len(panels), 6.2), dpi=110)
    figure.set_layout_engine("constrained")
    figure.suptitle(title, fontsize=12, fontweight="bold")
    without = sum(1 for row in operations if not row["flops"])
    for axes, (name, rows) in zip(figure.subplots(1, len(panels), squeeze=False)[0], panels, strict=True):
        left_out = (
            f"\n{without} operations without flops are not shown" if name == "operations" and without else ""
        )
        _panel(axes, rows, name, left_out)
    return figure


def _folded(rows: Sequence[Row]) -> list[tuple[Row, int]]:
    """Rows with flops, equal ones once with their number, those that lost the most time first."""
    found: dict[tuple[Any, ...], tuple[Row, int]] = {}
    for row in rows:
        if row["flops"]:
            figures = (
                round(row[name], 6) for name in ("intensity", "ns", "attainable_tflops", "peak_tflops")
            )
            key = (row["name"], row["source"], row["launch"], *figures)
            found[key] = (row, found[key][1] + 1) if key in found else (row, 1)
    return list(found.values())


def _panel(axes: Axes, rows: Sequence[tuple[Row, int]], name: str, left_out: str) -> None:
    from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

    points = [row for row, _ in rows if row["intensity"] > 0]
    low = min((row["intensity"] for row in points), default=1.0) / 4
    high = max((row["intensity"] for row in points), default=1.0) * 4
    for memory, gbs, peak in sorted(
        {(r["memory"], r["peak_gbs"], r["peak_tflops"]) for r in points if r["memory"]}
    ):
        colour, label = _MEMORIES[memory]
        knee = peak * 1000 / gbs
        xs = [low, min(max(knee, low), max(high, knee * 2)), max(high, knee * 2)]
        axes.plot(
            xs, [min(x * gbs / 1000, peak) for x in xs], color=colour, linewidth=1.6, zorder=1,
            label=f"{label} {gbs:,.0f} GB/s, GEMM {peak:,.1f} TFLOP/s",
        )  # fmt: skip
    for number, (row, count) in enumerate(rows[:_MOST]):
        if row["intensity"] <= 0:
            continue
        mark, colour = _MARKS[number % len(_MARKS)]
        x, y = row["intensity"], row["achieved_tflops"]
        axes.plot([x, x], [y, row["attainable_tflops"]], color=colour, linewidth=0.8, linestyle=":", zorder=2)
        times = f"  x {count}" if count > 1 else ""
        source = f" ({row['source']})" if row["source"] else ""
        share = row["achieved_tflops"] / row["attainable_tflops"]
        label = f"{row['name']}{source}{times}: {share:.0%} of the roof"
        axes.plot([x], [y], mark, color=colour, markersize=7, label=label, zorder=3)
    more = f"\n{len(rows) - _MOST} more not shown" if len(rows) > _MOST else ""
    axes.set_xscale("log")
    axes.set_yscale("log")
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axis.set_minor_locator(NullLocator())
    axes.set_title(name, fontsize=11)
    axes.set_xlabel(
        f"arithmetic intensity, FLOP/byte of the memory or links that bind{more}{left_out}", fontsize=9
    )
    axes.set_ylabel("TFLOP/s", fontsize=9)
    axes.grid(color="#e4e7eb", linewidth=0.6)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.16), fontsize=7.5, frameon=False)
