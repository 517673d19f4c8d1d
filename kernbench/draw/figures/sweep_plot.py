"""A sweep as a figure: lines over one key, a heat map over two, lines by the other keys over more."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from kernbench.draw.cells import is_number
from kernbench.draw.figures.drawing import COLOURS, blank, with_grid
from kernbench.errors import UsageError
from kernbench.hardware.kinds.links import SKY, VERMILION

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Row = Mapping[str, Any]
"""A point: the value of each swept key, and ``latency_ns``."""
_MARKS = "osD^vP"
_MOST_LINES = 36
_LEGIBLE = 400
"""Cells of a heat map that have room for their number."""


def sweep_figure(rows: Sequence[Row], swept: Sequence[str], title: str) -> Figure:
    """The figure of the points that did not fail. ``UsageError`` where there is nothing to draw."""
    if not rows or not swept:
        raise UsageError("the sweep has no two points to draw; let a key have several values")
    figure = blank((8.6, 5.4), title)
    axes = figure.subplots()
    if len(swept) == 2:
        _heat_map(figure, axes, rows, swept)
    else:
        _lines(axes, rows, swept)
    return figure


def pareto_figure(rows: Sequence[Row], front: Sequence[Row], label: str, title: str) -> Figure:
    """``cost`` over latency, the points of the ``front`` joined and named by what they were run with."""
    figure = blank((8.6, 5.4), title)
    axes = figure.subplots()
    axes.plot([r["latency_ns"] for r in rows], [r["cost"] for r in rows], "o", color=SKY, markersize=5)
    axes.plot(
        [r["latency_ns"] for r in front], [r["cost"] for r in front], color=VERMILION,
        marker="o", markersize=6, linewidth=1.4, label="Pareto front",
    )  # fmt: skip
    for row in front if len(front) <= _MOST_LINES else ():
        axes.annotate(
            row["name"], (row["latency_ns"], row["cost"]), xytext=(6, 6),
            textcoords="offset points", fontsize=8,
        )  # fmt: skip
    axes.set_xlabel("latency of the launches, ns")
    axes.set_ylabel(label)
    axes.set_xlim(0, max(r["latency_ns"] for r in rows) * 1.15)
    axes.set_ylim(0, max(r["cost"] for r in rows) * 1.15 or 1.0)
    with_grid(axes)
    axes.legend(frameon=False, fontsize=8)
    return figure


def _values(rows: Sequence[Row], key: str) -> list[Any]:
    """The values of a key, numbers in order and texts as they come."""
    found = list({json.dumps(row[key], default=repr): row[key] for row in rows}.values())
    return sorted(found) if all(is_number(value) for value in found) else found


def _lines(axes: Axes, rows: Sequence[Row], swept: Sequence[str]) -> None:
    """Time over the key with the most values, one line for each combination of the others."""
    numeric = [key for key in swept if all(is_number(row[key]) for row in rows)]
    over = max(numeric or swept, key=lambda key: len(_values(rows, key)))
    others = [key for key in swept if key != over]
    places = _values(rows, over)
    as_numbers = over in numeric
    lines: dict[str, list[tuple[float, float]]] = {}
    for row in rows:
        name = ", ".join(f"{key}={row[key]}" for key in others)
        place = float(row[over]) if as_numbers else float(places.index(row[over]))
        lines.setdefault(name, []).append((place, row["latency_ns"]))
    if len(lines) > _MOST_LINES:
        raise UsageError(
            f"the plot of {len(swept)} keys would have {len(lines)} lines, expected at most {_MOST_LINES}; "
            "sweep fewer values, or draw from --out"
        )
    for number, (name, points) in enumerate(lines.items()):
        points.sort()
        axes.plot(
            [x for x, _ in points], [y for _, y in points], label=name, linewidth=1.6, markersize=5,
            color=COLOURS[number % len(COLOURS)], marker=_MARKS[number // len(COLOURS) % len(_MARKS)],
        )  # fmt: skip
    if as_numbers and places[0] > 0 and places[-1] / places[0] >= 8:
        axes.set_xscale("log", base=2)
    if len(places) <= 16 or not as_numbers:
        axes.set_xticks(
            [float(value) if as_numbers else index for index, value in enumerate(places)], map(str, places)
        )
        axes.minorticks_off()
    axes.set_xlabel(over)
    axes.set_ylabel("latency of the launches, ns")
    axes.set_ylim(bottom=0)
    with_grid(axes)
    if others:
        axes.legend(frameon=False, fontsize=8, ncols=1 + len(lines) // 12)


def _heat_map(figure: Figure, axes: Axes, rows: Sequence[Row], swept: Sequence[str]) -> None:
    import numpy as np

    down, across = (_values(rows, key) for key in swept)
    cells = np.full((len(down), len(across)), np.nan)
    for row in rows:
        cells[down.index(row[swept[0]]), across.index(row[swept[1]])] = row["latency_ns"]
    image = axes.imshow(cells, aspect="auto", cmap="viridis_r", origin="lower")
    axes.set_xticks(range(len(across)), map(str, across))
    axes.set_yticks(range(len(down)), map(str, down))
    axes.set_xlabel(swept[1])
    axes.set_ylabel(swept[0])
    if cells.size <= _LEGIBLE:
        low, high = float(np.nanmin(cells)), float(np.nanmax(cells))
        for (y, x), ns in np.ndenumerate(cells):
            if np.isfinite(ns):
                dark = high > low and (ns - low) / (high - low) > 0.5
                axes.annotate(
                    f"{ns:.4g}" if ns < 1e4 else f"{ns:.0f}", (x, y), ha="center", va="center", fontsize=8,
                    color="white" if dark else "black",
                )  # fmt: skip
    figure.colorbar(image, ax=axes, label="latency of the launches, ns")
