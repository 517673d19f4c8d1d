"""Cells as people read them: figures, entities, folded rows; the same in the shell and on screens."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Collection, Sequence
from typing import Any

from kernbench.support.pgraph import (
    GraphNode,
    GraphPath,
    GraphRelationship,
    cell_text,
    exact,
    plain_entities,
)
from kernbench.support.pgraph import is_number as is_number
from kernbench.support.pgraph import number as figure

Row = Sequence[Any]

_NUMBER = re.compile(r"\d+")
_JOULES = (("J", 1e12), ("mJ", 1e9), ("uJ", 1e6), ("nJ", 1e3))


def fold(columns: Sequence[str], rows: Sequence[Row], parts: Collection[str]) -> tuple[list[str], list[Row]]:
    """Fold rows of symmetric parts of the machine into one; a column ``count`` counts them.

    ``parts`` are the columns that name parts, or number transactions or operations: the numbers there may
    differ, and nothing else. No column is added where no two rows are alike. Floats within 1e-9 are equal.
    """
    named = [column in parts for column in columns]
    folded: list[Row] = []
    counts: list[int] = []
    known: dict[tuple[Any, ...], int] = {}
    for row in rows:
        key = tuple(_alike(cell, part) for cell, part in zip(row, named, strict=True))
        at = known.setdefault(key, len(folded))
        if at == len(folded):
            folded.append(row)
            counts.append(0)
        counts[at] += 1
    if len(folded) == len(rows):
        return list(columns), list(rows)
    return [*columns, "count"], [[*row, count] for row, count in zip(folded, counts, strict=True)]


def _alike(cell: Any, part: bool) -> Any:
    """A cell as far as it tells rows apart that are not symmetric."""
    if isinstance(cell, str):
        return _NUMBER.sub("#", cell) if part else cell
    if isinstance(cell, float):
        return round(cell, 9)
    if part and isinstance(cell, int):
        return cell < 0  # -1 stands for none
    return cell if cell is None or isinstance(cell, int) else text(cell)


def plain(value: Any) -> Any:
    """``value`` with nothing in it but what JSON knows."""
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        return exact(float(value)) if math.isfinite(value) else None  # numpy has floats of its own
    if _is_entity(value):
        return plain(plain_entities(value))
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    return str(value)


def shown(value: Any) -> Any:
    """A cell of a table: as :func:`plain`, but nodes, relationships and paths as patterns."""
    if _is_entity(value):
        return str(value)
    if isinstance(value, list | tuple) and any(_is_entity(item) for item in value):
        return f"[{', '.join(str(shown(item)) for item in value)}]"
    return plain(value)


def _is_entity(value: Any) -> bool:
    """Whether ``value`` is a node, a relationship or a path."""
    return isinstance(value, GraphNode | GraphRelationship | GraphPath)


def number(value: float | None) -> str:
    """A figure for people (:func:`kernbench_graph.notebook.number`); ``-`` for none."""
    return "-" if value is None else figure(value)


def share(value: float | None, sign: str = "") -> str:
    """A share, 0 to 1, as a percentage; ``-`` where it is not known. ``sign="+"`` marks growth."""
    return "-" if value is None else f"{value:{sign}.1%}"


def joules(pj: float) -> str:
    """An energy in the unit that suits it."""
    unit, size = next(((unit, size) for unit, size in _JOULES if abs(pj) >= size), ("pJ", 1.0))
    return f"{number(pj / size)} {unit}"


def text(value: Any) -> str:
    """A cell as text without control characters; ``-`` for nothing, ``yes`` and ``no`` for truth."""
    value = shown(value)
    listed = isinstance(value, list | dict)
    return printable(json.dumps(value, ensure_ascii=False) if listed else cell_text(value))


def csv_cell(value: Any) -> Any:
    """What CSV has of a plain value: ``true`` and ``false``, lists as JSON."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return json.dumps(value, ensure_ascii=False) if isinstance(value, list | dict) else value


def printable(text: str) -> str:
    """``text`` with control characters, which a terminal would obey, written out."""
    return text if text.isprintable() else "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)
