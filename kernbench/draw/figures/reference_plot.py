"""Figures of a model beside references: ours against theirs, and how much of its limit each row takes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from kernbench.draw.figures.drawing import COLOURS, blank
from kernbench.errors import UsageError
from kernbench.hardware.kinds.links import FAINT

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Row = Mapping[str, Any]
"""``table reference measured used verdict`` of a :class:`~kernbench.validation.running.ComparedFigure`."""
_FURTHEST = 2.0
"""Limits as far as which the right panel reaches; rows beyond it stand at its edge."""


def reference_figure(rows: Sequence[Row], labels: Mapping[str, str]) -> Figure:
    """The figure of the rows that were measured, with a label for each table. ``UsageError`` of no rows."""
    measured = [row for row in rows if row["measured"] is not None]
    if not measured:
        raise UsageError("no row was measured, so there is nothing to draw")
    tables = list(dict.fromkeys(row["table"] for row in measured))
    figure = blank((11.0, 5.2), "The model beside references")
    left, right = figure.subplots(1, 2)
    for number, table in enumerate(tables):
        own = [row for row in measured if row["table"] == table]
        colour = COLOURS[number % len(COLOURS)]
        _against(left, own, labels[table], colour)
        _shares(right, own, len(tables) - 1 - number, colour)
    _finish(left, right, tables)
    return figure


def _against(axes: Axes, rows: Sequence[Row], table: str, colour: str) -> None:
    """Points on two logarithmic axes; rows whose reference or figure is 0 have no place there."""
    shown = [row for row in rows if row["reference"] > 0 and row["measured"] > 0]
    axes.scatter(
        [row["reference"] for row in shown], [row["measured"] for row in shown],
        s=22, color=colour, alpha=0.75, edgecolors="white", linewidths=0.4, label=table,
    )  # fmt: skip


def _shares(axes: Axes, rows: Sequence[Row], place: int, colour: str) -> None:
    """The rows of a table side by side in its lane, the first one on top."""
    inside: list[tuple[float, float]] = []
    outside: list[tuple[float, float]] = []
    for number, row in enumerate(rows):
        at = place + 0.35 - 0.7 * (number + 0.5) / len(rows)
        share = _FURTHEST if row["used"] is None else max(-_FURTHEST, min(_FURTHEST, row["used"]))
        (inside if abs(share) <= 1.0 else outside).append((share, at))
    for points, mark in ((inside, "o"), (outside, "X")):
        axes.scatter(
            [x for x, _ in points], [y for _, y in points],
            s=24 if mark == "o" else 46, marker=mark, color=colour, edgecolors="white", linewidths=0.4,
        )  # fmt: skip


def _finish(left: Axes, right: Axes, tables: Sequence[str]) -> None:
    left.set_xscale("log")
    left.set_yscale("log")
    ends = (*left.get_xlim(), *left.get_ylim())
    span = min(ends), max(ends)
    left.plot(span, span, color=FAINT, linewidth=1.0, zorder=0)
    left.set_xlim(span)
    left.set_ylim(span)
    left.set_xlabel("reference, in the unit of its row")
    left.set_ylabel("KernBench")
    left.legend(loc="upper left", frameon=False)
    right.axvspan(-1.0, 1.0, color=FAINT, alpha=0.18, zorder=0)
    right.axvline(0.0, color=FAINT, linewidth=1.0, zorder=0)
    right.set_xlim(-_FURTHEST - 0.1, _FURTHEST + 0.1)
    right.set_xlabel(f"difference / limit (shaded: within its limit; edge: {_FURTHEST:g} or more)")
    right.set_yticks(range(len(tables)), tables[::-1])
    right.set_ylim(-0.5, len(tables) - 0.5)
    for axes in (left, right):
        axes.spines[["top", "right"]].set_visible(False)
