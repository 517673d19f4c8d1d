"""Where the energy of a run went, as bars: by kind of part, and by source line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from kernbench.kinds.links import BLUE, ORANGE

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Row = Mapping[str, Any]
_MOST_BARS = 14


def energy_figure(kinds: Sequence[Row], lines: Sequence[Row], title: str) -> Figure:
    """The figure of rows as :func:`kernbench.energy` gives them, by kind and by line."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10.4, 5.2), dpi=110)
    figure.set_layout_engine("constrained")
    figure.suptitle(title, fontsize=12, fontweight="bold")
    for axes, rows, by in zip(figure.subplots(1, 2), (kinds, lines), ("kind", "source line"), strict=True):
        shown = [row for row in rows[:_MOST_BARS] if row["energy_pj"]][::-1]
        places = range(len(shown))
        dynamic = [row["dynamic_pj"] / 1e3 for row in shown]
        axes.barh(places, dynamic, color=BLUE, label="dynamic")
        axes.barh(
            places, [row["static_pj"] / 1e3 for row in shown], left=dynamic, color=ORANGE, label="static"
        )
        axes.set_yticks(places, [row["name"] for row in shown], fontsize=8)
        for place, row in zip(places, shown, strict=True):
            axes.annotate(
                f"{row['share']:.1%}", (row["energy_pj"] / 1e3, place), (4, 0), textcoords="offset points",
                va="center", fontsize=8,
            )  # fmt: skip
        axes.set_title(f"by {by}", fontsize=10)
        axes.set_xlabel("energy, nJ")
        axes.margins(x=0.15)
        axes.spines[["top", "right"]].set_visible(False)
        if any(row["static_pj"] for row in shown):
            axes.legend(frameon=False, fontsize=8)
    return figure
