"""Tokens a second of a model over its batch, a line a machine and context, with the roof of each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from kernbench.draw.figures.drawing import COLOURS, blank, with_grid

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def model_figure(rows: Sequence[Mapping[str, Any]]) -> Figure:
    """The figure of decode steps, one row each; a dashed line is the roof."""
    figure = blank((8.6, 5.0), "Tokens a second")
    axes = figure.subplots()
    lines: dict[tuple[str, int], list[Mapping[str, Any]]] = {}
    for row in rows:
        lines.setdefault((row["machine"], row["context"]), []).append(row)
    for number, ((machine, context), line) in enumerate(lines.items()):
        line.sort(key=lambda row: row["batch"])
        colour, at = COLOURS[number % len(COLOURS)], [row["batch"] for row in line]
        simulated = [row["tokens_per_s"] for row in line]
        axes.plot(at, simulated, "o-", color=colour, label=f"{machine}, {context} keys")
        axes.plot(at, [row["batch"] * 1e9 / row["roof_ns"] for row in line], "--", color=colour)
    axes.set_xscale("log", base=2)
    batches = sorted({row["batch"] for row in rows})
    axes.set_xticks(batches, [str(batch) for batch in batches])
    axes.set_yscale("log")
    axes.set_xlabel("sequences; dashed: the roof")
    axes.set_ylabel("tokens a second, all sequences")
    with_grid(axes)
    axes.legend(frameon=False, fontsize=8)
    return figure
