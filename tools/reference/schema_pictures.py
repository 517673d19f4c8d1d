"""The schema as pictures: each label, and the relationships that lead from it.

Each picture is narrow enough for a phone. A column of text has two of them side by side. Their ground is
transparent, and text outside of boxes is of a grey that can be read on white and on black.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from kernbench_graph.schema import SCHEMA
from kernbench_graph.schema_types import NodeLabel

PICTURES = 4
"""Pictures among which the labels are shared out."""

_WIDE, _BOX, _HIGH, _ROW, _GAP = 340, 92, 22, 15, 12
_INK, _GREY = "#1f2933", "#8a8f98"
_FILLS = {"topology": "#dbe7f5", "run": "#fde3c8"}


def schema_pictures() -> list[tuple[Sequence[str], str]]:
    """The whole schema in its order: labels from which relationships lead, and their picture as SVG."""
    blocks = [(label, leading) for label in SCHEMA.labels if (leading := _leading(label))]
    share = sum(_height(leading) for _, leading in blocks) / PICTURES
    pages: list[list[tuple[NodeLabel, list[tuple[str, list[str]]]]]] = [[]]
    done = 0.0
    for block in blocks:
        if pages[-1] and done + _height(block[1]) / 2 > share * len(pages) and len(pages) < PICTURES:
            pages.append([])
        pages[-1].append(block)
        done += _height(block[1])
    return [([label.name for label, _ in page], _picture(page)) for page in pages]


def _leading(label: NodeLabel) -> list[tuple[str, list[str]]]:
    """The labels to which relationships lead from ``label``, each with lines of their types."""
    found: dict[str, list[str]] = {}
    for rel in SCHEMA.relationships:
        for source, target in rel.pairs:
            if source == label.name:
                found.setdefault(target, []).append(rel.type)
    return [(target, _lines(types)) for target, types in found.items()]


def _lines(types: Sequence[str], most: int = 17) -> list[str]:
    """Names in lines of at most ``most`` characters, unless one name is longer."""
    lines = [types[0]]
    for name in types[1:]:
        if len(lines[-1]) + 2 + len(name) <= most:
            lines[-1] += f", {name}"
        else:
            lines[-1] += ","
            lines.append(name)
    return lines


def _height(leading: Sequence[tuple[str, list[str]]]) -> int:
    return _GAP + sum(_row(lines) for _, lines in leading)


def _row(lines: Sequence[str]) -> int:
    """Height of a relationship: its box, and above the middle of that its names."""
    return _HIGH + 4 + _ROW * (len(lines) - 1)


def _picture(blocks: Sequence[tuple[NodeLabel, list[tuple[str, list[str]]]]]) -> str:
    records = {label.name: label.record for label in SCHEMA.labels}
    height = sum(_height(leading) for _, leading in blocks)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDE} {height}" width="{_WIDE}" '
        f'height="{height}" font-family="sans-serif" font-size="12">',
        '<defs><marker id="kernbench-schema-arrow" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" '
        f'markerHeight="8" orient="auto"><path d="M0 0L8 4L0 8z" fill="{_GREY}"/></marker></defs>',
    ]
    left, right = _BOX + 1, _WIDE - _BOX - 8
    y = _GAP / 2
    for label, leading in blocks:
        ends = [y]
        for _, lines in leading:
            ends.append(ends[-1] + _row(lines))
        middles = [end - _HIGH / 2 - 2 for end in ends[1:]]
        parts.append(_box(1, middles[0], label.name, label.record, label.doc))
        for middle, (target, lines) in zip(middles, leading, strict=True):
            way = f"M{left} {middles[0]:g}H{left + 8}V{middle:g}H{right}"
            parts.append(
                f'<path d="{way}" fill="none" stroke="{_GREY}" marker-end="url(#kernbench-schema-arrow)"/>'
            )
            parts.append(_box(right, middle, target, records[target], ""))
            top = middle - 4 - _ROW * (len(lines) - 1)
            parts += [
                f'<text x="{left + 13}" y="{top + _ROW * n:g}" font-size="11" fill="{_GREY}">'
                f"{escape(line)}</text>"
                for n, line in enumerate(lines)
            ]
        y = ends[-1] + _GAP
    return "\n".join([*parts, "</svg>"]) + "\n"


def _box(x: float, middle: float, name: str, record: str, doc: str) -> str:
    return (
        f"<g><title>{escape(doc or name)}</title>"
        f'<rect x="{x:g}" y="{middle - _HIGH / 2:g}" width="{_BOX}" height="{_HIGH}" rx="4" '
        f'fill="{_FILLS[record]}" stroke="{_INK}"/>'
        f'<text x="{x + _BOX / 2:g}" y="{middle + 4:g}" text-anchor="middle" fill="{_INK}">{escape(name)}'
        "</text></g>"
    )
