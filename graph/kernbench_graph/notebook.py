"""HTML that notebooks show: tables."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from html import escape
from itertools import islice
from typing import Any

MOST_ROWS = 100
"""Rows that are shown; a line says how many more there are."""


def html_table(columns: Sequence[str], rows: Sequence[Sequence[Any]], caption: str = "") -> str:
    """A table; numbers to the right, at most three digits after the point, no more than :data:`MOST_ROWS`."""
    right = [any(is_number(row[at]) for row in rows[:MOST_ROWS]) for at in range(len(columns))]
    parts = ["<table>"]
    if caption:
        parts.append(f'<caption style="text-align:left">{escape(caption)}</caption>')
    parts.append(f"<thead><tr>{_cells('th', map(escape, columns), right)}</tr></thead><tbody>")
    parts += [f"<tr>{_cells('td', map(html_cell, row), right)}</tr>" for row in islice(rows, MOST_ROWS)]
    parts.append("</tbody></table>")
    if len(rows) > MOST_ROWS:
        parts.append(f"<p>{len(rows) - MOST_ROWS} more rows</p>")
    return "".join(parts)


def html_cell(value: Any) -> str:
    """A value; what an answer has of nodes, relationships and paths is drawn above its table."""
    if isinstance(value, list | tuple):
        return ", ".join(html_cell(one) for one in value)
    return escape(cell_text(value))


def _cells(tag: str, texts: Iterable[str], right: Sequence[bool]) -> str:
    sides = ("right" if one else "left" for one in right)
    return "".join(
        f'<{tag} style="text-align:{side}">{text}</{tag}>' for text, side in zip(texts, sides, strict=True)
    )


def cell_text(value: Any) -> str:
    """A cell as text; ``-`` for nothing, ``yes`` and ``no`` for truth."""
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return number(value) if isinstance(value, float) else str(value)


def exact(value: float) -> float:
    """``value`` without the noise of sums of floats: nine decimals, below 1 nine digits, as times are exact.

    >>> exact(229.49124999999987), exact(2 / 3e9)
    (229.49125, 6.66666667e-10)
    """
    if abs(value) < 1.0:
        return float(f"{value:.9g}")
    return value if value.is_integer() else float(f"{round(value, 9):.16g}")


def number(value: float) -> str:
    """A figure for people: at most three digits after the point, none that say nothing, no separators."""
    if isinstance(value, int) or not math.isfinite(value):
        return str(value)
    if abs(value) < 1e-9:
        return "0"  # rounding; no time or share of the model is that small
    text = f"{exact(value):.3f}".rstrip("0").rstrip(".")
    return text if text not in {"0", "-0"} else f"{value:.3g}"


def is_number(value: Any) -> bool:
    """Whether a cell stands to the right."""
    return isinstance(value, int | float) and not isinstance(value, bool)
