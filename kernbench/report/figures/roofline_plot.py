"""The roofline of a run: rate over arithmetic intensity, below the roofs of GEMM engines, memories, links."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from kernbench.errors import UsageError
from kernbench.kinds.links import BLUE, GREEN, ORANGE, PURPLE, SKY, VERMILION
from kernbench.report.colours import INK

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_MEMORIES = {
    "hbm": (BLUE, "o"),
    "sram": (ORANGE, "^"),
    "tcm": (GREEN, "s"),
    "link": (PURPLE, "D"),
    "package": (SKY, "v"),
}
_NAMED = 12
"""Points that have room for their names."""


def roofline_figure(rows: Sequence[Mapping[str, Any]], title: str) -> Figure:
    """The figure of rows as :meth:`kernbench.Run.roofline` gives them; ``UsageError`` without any flops.

    A point's colour is the memory, or the links, that it is set against. Each roof is that of the row with
    the highest peak, so of a launch over several PEs their sum; a point may have a lower one of its own.
    """
    from matplotlib.figure import Figure
    from matplotlib.ticker import LogFormatter

    shown = [row for row in rows if row["flops"] and row["memory"] and row["ns"] > 0]
    if not shown:
        raise UsageError(
            "the run has no GEMM with bytes to set its flops against; there is no roofline to draw"
        )
    figure = Figure(figsize=(8.2, 5.6), dpi=110)
    figure.set_layout_engine("constrained")
    axes = figure.subplots()
    figure.suptitle(title, fontsize=12, fontweight="bold")
    peak = max(row["peak_tflops"] for row in shown)
    ridges = {
        memory: max(row["peak_gbs"] for row in shown if row["memory"] == memory)
        for memory in dict.fromkeys(row["memory"] for row in shown)
    }
    places = [row["intensity"] for row in shown] + [peak * 1e3 / gbs for gbs in ridges.values()]
    low, high = min(places) / 3, max(places) * 3
    axes.plot([low, high], [peak, peak], color=VERMILION, linewidth=1.6, label=f"GEMM: {peak:.4g} TFLOP/s")
    for memory, gbs in ridges.items():
        colour, mark = _MEMORIES[memory]
        ridge = peak * 1e3 / gbs
        axes.plot([low, ridge], [low * gbs / 1e3, peak], color=colour, linewidth=1.6,
                  label=f"{memory}: {gbs:.4g} GB/s")  # fmt: skip
        own = [row for row in shown if row["memory"] == memory]
        across, up = [row["intensity"] for row in own], [row["achieved_tflops"] for row in own]
        axes.scatter(across, up, s=42, color=colour, marker=mark, edgecolor="white", zorder=3)
    for row in shown if len(shown) <= _NAMED else ():
        axes.annotate(
            f"{row['name']}, {100 * row['share']:.0f} %", (row["intensity"], row["achieved_tflops"]),
            (6, -10), textcoords="offset points", fontsize=7, color=INK,
        )  # fmt: skip
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlim(low, high)
    axes.set_xlabel("flops for each byte of the memory or links")
    axes.set_ylabel("TFLOP/s")
    axes.grid(color="#e4e7eb", linewidth=0.8)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(LogFormatter(labelOnlyBase=False, minor_thresholds=(2, 0.5)))
        axis.set_minor_formatter(LogFormatter(labelOnlyBase=False, minor_thresholds=(2, 0.5)))
    axes.set_ylim(top=peak * 1.6)
    figure.legend(loc="outside lower center", ncols=4, frameon=False, fontsize=9)
    return figure
