"""A timeline as PNG, with matplotlib, which is imported only when one is drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from kernbench.report.colours import INK
from kernbench.report.figures.drawing import require
from kernbench.report.timeline.model import CATEGORIES, NAMES, WAITING, TimeLine, merge

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_ROW_INCHES = 0.2


def png(line: TimeLine, out: BinaryIO) -> None:
    """Write the picture. ``MissingExtraError`` when matplotlib is not installed."""
    require()
    plain: dict[str, Any] = {"Software": None}  # the same bytes for the same picture
    figure(line).savefig(out, format="png", metadata=plain)


def figure(line: TimeLine) -> Figure:
    """The picture as a matplotlib figure."""
    from matplotlib.figure import Figure
    from matplotlib.patches import Patch

    labels: list[tuple[float, str, bool]] = []
    y = 0.0
    count = sum(len(group.rows) + 1 for group in line.groups)
    drawn = Figure(figsize=(13, 1.6 + _ROW_INCHES * count), layout="constrained", dpi=110)
    axes = drawn.add_subplot()
    for group in line.groups:
        alike = f"  x {group.count}" if group.count > 1 else ""
        if len(group.rows) > 1 or group.rows[0].label != group.place:
            labels.append((y, group.place + alike, True))
            alike = ""
            y += 1
        for row in group.rows:
            labels.append((y, row.label + alike, False))
            high = 0.7 / row.lanes
            for category in np.unique(row.category).tolist():
                for lane in range(row.lanes):
                    chosen = (row.category == category) & (row.lane == lane)
                    bars: Any = np.column_stack([row.begin[chosen], (row.end - row.begin)[chosen]])
                    axes.broken_barh(
                        bars, (y - 0.4 + lane * high, high), facecolor=CATEGORIES[NAMES[category]][0],
                        edgecolor="white", linewidth=0.2,
                    )  # fmt: skip
            begin, end = merge(row.wait_begin, row.wait_end)
            waits: Any = np.column_stack([begin, end - begin])
            axes.broken_barh(waits, (y + 0.32, 0.1), facecolor=WAITING)
            axes.text(line.ns * 1.005, y, f"{row.occupancy:.1%}", va="center", fontsize=8, color=INK)
            y += 1
    axes.set_xlim(0, line.ns)
    axes.set_ylim(y - 0.3, -0.7)
    axes.set_yticks([at for at, _, _ in labels], [text for _, text, _ in labels], fontsize=8)
    for tick, (_, _, bold) in zip(axes.get_yticklabels(), labels, strict=True):
        tick.set_fontweight("bold" if bold else "normal")
    axes.grid(axis="x", color="#e4e7eb")
    axes.set_axisbelow(True)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    axes.set_xlabel(f"ns; {'; '.join(line.remarks)}", fontsize=8)
    axes.set_title(line.title, fontsize=11, loc="left")
    handles = [Patch(color=CATEGORIES[name][0], label=CATEGORIES[name][1]) for name in line.categories]
    if any(len(row.wait_begin) for group in line.groups for row in group.rows):
        handles.append(Patch(color=WAITING, label="queued (thin line)"))
    drawn.legend(handles=handles, loc="outside lower left", ncols=6, fontsize=8, frameon=False)
    return drawn
