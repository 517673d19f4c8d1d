"""HTML that notebooks show: tables, and paths as boxes joined by arrows."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from html import escape
from itertools import islice
from typing import Any

from kernbench_graph.entities import GraphNode, GraphPath, GraphRelationship

MOST_ROWS = 100
"""Rows that are shown; a line says how many more there are."""
_MOST_NODES = 40

_BOX = "display:inline-block;border:1px solid #52606d;border-radius:4px;padding:1px 6px;margin:2px"
_ARROW = "display:inline-block;color:#7b8794;font-size:85%;margin:2px"


def html_table(columns: Sequence[str], rows: Sequence[Sequence[Any]], caption: str = "") -> str:
    """A table; numbers to the right, at most three digits after the point, no more than :data:`MOST_ROWS`."""
    right = [any(_is_number(row[at]) for row in rows[:MOST_ROWS]) for at in range(len(columns))]
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
    """A value; nodes, relationships and paths are drawn."""
    if isinstance(value, GraphPath):
        return html_path(value)
    if isinstance(value, GraphNode):
        return _node(value)
    if isinstance(value, list | tuple):
        return ", ".join(html_cell(one) for one in value)
    return escape(_text(value))


def html_path(path: GraphPath) -> str:
    """A path as boxes joined by arrows; properties are shown under the pointer."""
    parts = [_node(path.nodes[0])]
    for at, rel in islice(enumerate(path.relationships), _MOST_NODES):
        forward = rel.start == path.nodes[at].id
        parts += [_arrow(rel, forward), _node(path.nodes[at + 1])]
    if len(path.relationships) > _MOST_NODES:
        parts.append(f"and {len(path.relationships) - _MOST_NODES} more steps")
    return f'<span style="white-space:normal">{"".join(parts)}</span>'


def _node(node: GraphNode) -> str:
    label = f"<small>{escape(node.labels[0])}</small> " if node.labels else ""
    name = escape(str(node.get("name") or node.id))
    return f'<span style="{_BOX}" title="{_properties(node.properties.items())}">{label}{name}</span>'


def _arrow(rel: GraphRelationship, forward: bool) -> str:
    text = f"{escape(rel.type)} &rarr;" if forward else f"&larr; {escape(rel.type)}"
    return f'<span style="{_ARROW}" title="{_properties(rel.properties.items())}">{text}</span>'


def _properties(items: Iterable[tuple[str, Any]]) -> str:
    return escape("\n".join(f"{name}: {_text(value)}" for name, value in items))


def _cells(tag: str, texts: Iterable[str], right: Sequence[bool]) -> str:
    sides = ("right" if one else "left" for one in right)
    return "".join(
        f'<{tag} style="text-align:{side}">{text}</{tag}>' for text, side in zip(texts, sides, strict=True)
    )


def _text(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return number(value) if isinstance(value, float) else str(value)


def number(value: float) -> str:
    """A figure for people: at most three digits after the point, none that say nothing, no separators."""
    if isinstance(value, int) or not math.isfinite(value):
        return str(value)
    if abs(value) < 1e-9:
        return "0"  # rounding; no time or share of the model is that small
    text = f"{value:.3f}".rstrip("0").rstrip(".")
    return text if text not in {"0", "-0"} else f"{value:.3g}"


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
