"""The roofline of a run as a picture: a dot for each level that work moved bytes over, below the roofs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from kernbench.draw.cells import number
from kernbench.draw.colours import INK
from kernbench.draw.figures.drawing import blank, with_grid
from kernbench.draw.roofs import LEVELS
from kernbench.errors import UsageError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_MARKS = {"circle": "o", "square": "s", "triangle": "^", "diamond": "D", "down": "v"}
_APART = 1.08
"""Names of work whose rates are nearer to each other would lie on one another."""
_WIDE = 34
"""Characters of a name."""


def roofline_figure(panels: Sequence[tuple[str, Mapping[str, Any]]], title: str) -> Figure:
    """A panel for each name and drawn roofline (:func:`kernbench.draw.roofs.drawn`) that has dots.

    ``UsageError`` where none has.
    """
    shown = [(name, drawn) for name, drawn in panels if drawn["work"]]
    if not shown:
        raise UsageError("nothing in the run has both flops and bytes, so there is no roofline to draw")
    figure = blank((8.2 * len(shown), 6.0), title)
    for axes, (name, drawn) in zip(figure.subplots(1, len(shown), squeeze=False)[0], shown, strict=True):
        axes.set_title(name if len(panels) > 1 else "", fontsize=11)
        _panel(axes, drawn)
    return figure


def _panel(axes: Axes, drawn: Mapping[str, Any]) -> None:
    from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

    work, peak = drawn["work"], drawn["peak_tflops"]
    places = [dot["intensity"] for one in work for dot in one["dots"]]
    places += [peak * 1e3 / roof["gbs"] for roof in drawn["roofs"]]
    low, high = min(places) / 3, max(places) * 6
    gemm = f"GEMM: {number(peak)} TFLOP/s"
    axes.plot([low, high], [peak, peak], color=drawn["peak_colour"], linewidth=1.6, label=gemm)
    for roof in drawn["roofs"]:
        ends, label = [low, peak * 1e3 / roof["gbs"]], f"{roof['label']}: {number(roof['gbs'])} GB/s"
        axes.plot(ends, [x * roof["gbs"] / 1e3 for x in ends], color=roof["colour"], linewidth=1.6)
        axes.plot([], [], _MARKS[roof["mark"]], linestyle="-", color=roof["colour"], label=label)
    heights: list[float] = []
    for one in sorted(work, key=lambda one: one["share"]):
        _dots(axes, one)
        if all(max(one["achieved_tflops"] / y, y / one["achieved_tflops"]) > _APART for y in heights):
            heights.append(one["achieved_tflops"])
            _name(axes, one)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlim(low, high)
    axes.set_ylim(min(one["achieved_tflops"] for one in work) / 3, peak * 1.6)
    left_out = f"\n{drawn['left_out']} without flops are not shown" if drawn["left_out"] else ""
    told = f"arithmetic intensity, FLOP/byte of each level; full: the level that binds{left_out}"
    axes.set_xlabel(told, fontsize=9)
    axes.set_ylabel("TFLOP/s", fontsize=9)
    with_grid(axes, 0.6)
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axis.set_minor_locator(NullLocator())
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.14), ncols=3, fontsize=8, frameon=False)


def _dots(axes: Axes, one: Mapping[str, Any]) -> None:
    """A piece of work: its dots at one height, joined; that of the level that binds is full, and on top."""
    y, across = one["achieved_tflops"], [dot["intensity"] for dot in one["dots"]]
    axes.plot([min(across), max(across)], [y, y], color=INK, linewidth=0.6, linestyle=":", zorder=2)
    for dot in one["dots"]:
        (_, colour, mark), binds = LEVELS[dot["level"]], dot["level"] == one["bound"]
        axes.plot([dot["intensity"]], [y], _MARKS[mark], color=colour, zorder=4 if binds else 3,
                  markerfacecolor=colour if binds else "white", markersize=6 if binds else 9)  # fmt: skip


def _name(axes: Axes, one: Mapping[str, Any]) -> None:
    """What the work is, and how close it came to which roof."""
    name = one["name"] if len(one["name"]) <= _WIDE else f"{one['name'][: _WIDE - 1]}…"
    op = f", op {one['op']}" if one["op"] >= 0 else ""
    count = f" × {one['count']}" if one["count"] > 1 else ""
    roof = LEVELS[one["bound"]][0] if one["bound"] in LEVELS else one["bound"].upper()
    bound = [dot["intensity"] for dot in one["dots"] if dot["level"] == one["bound"]]
    at = max(bound or (dot["intensity"] for dot in one["dots"])), one["achieved_tflops"]
    axes.annotate(f"{name}{op}: {one['share']:.1%} of {roof}{count}", at, (9, -3),
                  textcoords="offset points", fontsize=7, color=INK)  # fmt: skip
