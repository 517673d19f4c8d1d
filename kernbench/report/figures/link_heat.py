"""Links, memories, routers and CPUs over time: a strip for each, as dark as it was occupied."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kernbench.errors import UsageError
from kernbench.report.colours import PAPER, STEPS
from kernbench.report.timeline.model import TimeLine

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_CELLS = 120
_MOST = 40
_LEAST = 0.0005
"""Rows that would be 0.0% are left out."""


def link_heat_figure(line: TimeLine) -> Figure:
    """The parts that traffic crossed, the most occupied first; each cell is the occupancy of its time.

    ``UsageError`` where nothing was crossed.
    """
    from matplotlib.colors import BoundaryNorm, ListedColormap
    from matplotlib.figure import Figure
    from matplotlib.patches import Patch

    groups = [group for group in line.groups if len(group.rows) == 1 and group.rows[0].what == "transaction"]
    if not groups:
        raise UsageError("nothing was crossed there, so there is nothing to draw")
    shown = [group for group in groups if group.rows[0].occupancy >= _LEAST][:_MOST] or groups[:1]
    edges = np.linspace(0.0, line.ns, _CELLS + 1)
    shares: Any = np.array([group.rows[0].shares(edges) for group in shown])
    figure = Figure(figsize=(13, 1.9 + 0.24 * len(shown)), dpi=110)
    figure.set_layout_engine("constrained")
    axes = figure.subplots()
    colours = ListedColormap([PAPER, *STEPS])
    bounds = [0.0, 1e-9, *((number + 1) / len(STEPS) for number in range(len(STEPS)))]
    axes.pcolormesh(
        edges, np.arange(len(shown) + 1) - 0.5, shares, cmap=colours, norm=BoundaryNorm(bounds, colours.N)
    )
    axes.set_ylim(len(shown) - 0.5, -0.5)
    labels = [f"{group.place}{f'  x {group.count}' if group.count > 1 else ''}" for group in shown]
    axes.set_yticks(range(len(shown)), labels, fontsize=8)
    for number, group in enumerate(shown):
        axes.text(line.ns * 1.005, number, f"{group.rows[0].occupancy:.1%}", va="center", fontsize=8)
    more = len(groups) - len(shown) + line.left_out
    remarks = [f"time 0 is {line.start_ns:.3f} ns of the run"]
    remarks += [f"{more} less occupied ones not shown"] if more else []
    axes.set_xlabel(f"ns; {'; '.join(remarks)}", fontsize=9)
    axes.set_title(f"{line.title}: occupancy of links, memories, routers and CPUs", fontsize=11, loc="left")
    axes.spines[["top", "right"]].set_visible(False)
    tops = [(number + 1) / len(STEPS) for number in range(len(STEPS))]
    names = [f"{'over 0' if not n else f'{tops[n - 1]:.0%}'} to {tops[n]:.0%}" for n in range(len(STEPS))]
    handles = [Patch(color=colour, label=name) for colour, name in zip(STEPS, names, strict=True)]
    title = "occupancy: share of the time for which something was there"
    figure.legend(
        handles=handles, title=title, loc="outside lower left", ncols=len(STEPS), fontsize=8, frameon=False
    )
    return figure
