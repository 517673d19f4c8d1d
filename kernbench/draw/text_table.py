"""Tables for people: aligned columns in as many characters as there are.

A table that is too wide for its terminal gives way step by step: sentences go on in further lines; the first
long name gets a line of its own above the rest of its row, which breaks at joints (``.``, ``-``, ``_``,
``/``) if it must; each row becomes a block of lines. Numbers are never broken, and nothing is left out.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import zip_longest
from typing import NamedTuple
from unicodedata import combining, east_asian_width

_GAP = 2
_JOINTS = re.compile(r"[^\s.\-_/=]*(?:->|[.\-_/=])?|\s+")
_LEAST = 12
"""A text is broken into no pieces narrower than this, unless it has narrower words."""
_LONG = 24
"""Characters of a name from which on it is worth a line of its own."""


class TextTable(NamedTuple):
    """The lines of a table: ``head`` with the names of its columns, and ``body``."""

    head: list[str]
    body: list[str]


def table(
    columns: Sequence[str], rows: Sequence[Sequence[str]], numeric: Sequence[bool], width: int | None
) -> TextTable:
    """Lay a table out; ``numeric`` columns stand right, ``width`` is in characters, None for any."""
    natural = _natural(columns, rows)
    if width is None or _total(natural) <= width:
        return _grid(columns, rows, numeric, natural)
    fitted = _fit(columns, rows, numeric, width, names_too=False)
    if _total(fitted) <= width:
        return _grid(columns, rows, numeric, fitted)
    return _lead_with(columns, rows, numeric, width) or TextTable([], _blocks(columns, rows, width))


def _natural(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> list[int]:
    return [max([_width(name), *(_width(row[i]) for row in rows)]) for i, name in enumerate(columns)]


def _grid(
    columns: Sequence[str], rows: Sequence[Sequence[str]], numeric: Sequence[bool], widths: Sequence[int]
) -> TextTable:
    return TextTable(
        _row(columns, numeric, widths), [line for row in rows for line in _row(row, numeric, widths)]
    )


def _lead_with(
    columns: Sequence[str], rows: Sequence[Sequence[str]], numeric: Sequence[bool], width: int
) -> TextTable | None:
    """A column of names on lines of their own, the rest of each row below; None if that does not help."""
    texts = [i for i in range(len(columns)) if not numeric[i]]
    if len(columns) < 2 or not texts:
        return None
    natural = _natural(columns, rows)
    lead = next((i for i in texts if natural[i] >= _LONG), max(texts, key=lambda i: natural[i]))

    def rest(cells: Sequence[str]) -> list[str]:
        return [cell for i, cell in enumerate(cells) if i != lead]

    names, others = rest(columns), [rest(row) for row in rows]
    numbers = [is_number for i, is_number in enumerate(numeric) if i != lead]
    widths = _fit(names, others, numbers, width - _GAP, names_too=True)
    if _total(widths) > width - _GAP:
        return None

    def lines(cells: Sequence[str]) -> list[str]:
        below = _row(rest(cells), numbers, widths)
        return [*_break(cells[lead], width), *(" " * _GAP + line for line in below)]

    return TextTable(lines(columns), [line for row in rows for line in lines(row)])


def _total(widths: Sequence[int]) -> int:
    return sum(widths) + _GAP * (len(widths) - 1)


def _fit(
    columns: Sequence[str],
    rows: Sequence[Sequence[str]],
    numeric: Sequence[bool],
    width: int,
    names_too: bool,
) -> list[int]:
    """Widths that come to ``width``, if there are any: sentences give way first, then names if they may."""
    fitted = _natural(columns, rows)
    least = []
    for i, name in enumerate(columns):
        sentences = not numeric[i] and any(" " in row[i] for row in rows)
        breaks = sentences or (names_too and not numeric[i])
        cells = [_least(row[i]) if breaks else _width(row[i]) for row in rows]
        least.append(max([max(map(_width, _pieces(name))) if breaks or names_too else _width(name), *cells]))
    over = _total(fitted) - width
    while over > 0 and (can := [i for i in range(len(fitted)) if fitted[i] > least[i]]):
        widest = max(can, key=lambda i: (fitted[i], -i))
        fitted[widest] -= 1
        over -= 1
    return fitted


def _least(text: str) -> int:
    """Characters that a text needs to break at its joints alone."""
    return max([min(_width(text), _LEAST), *map(_width, _pieces(text))])


def _row(cells: Sequence[str], numeric: Sequence[bool], widths: Sequence[int]) -> list[str]:
    """The lines of one row."""
    broken = [_break(cell, width) for cell, width in zip(cells, widths, strict=True)]
    return [
        (" " * _GAP)
        .join(
            " " * (width - _width(part)) + part if right else part + " " * (width - _width(part))
            for part, right, width in zip(line, numeric, widths, strict=True)
        )
        .rstrip()
        for line in zip_longest(*broken, fillvalue="")
    ]


def _break(text: str, width: int) -> list[str]:
    """``text`` in pieces of at most ``width``, broken at its joints; at words only where they all fit."""
    if _width(text) <= width:
        return [text]
    words = re.findall(r"\S+|\s+", text)
    pieces = words if all(_width(word) <= width for word in words) else _pieces(text)
    found = [""]
    for piece in pieces:
        if found[-1] and _width(found[-1] + piece.rstrip()) > width:
            found.append("")
        found[-1] += piece if found[-1] else piece.lstrip()
    return [part.rstrip() for part in found if part.strip()]


def _pieces(text: str) -> list[str]:
    """``sip0.`` ``cube0.`` ``ucie-`` ``N->`` ``sip0``."""
    return [piece for piece in _JOINTS.findall(text) if piece] or [""]


def _blocks(columns: Sequence[str], rows: Sequence[Sequence[str]], width: int) -> list[str]:
    """Every row as lines of a name and a value, an empty line between rows."""
    names = max(map(_width, columns))
    found: list[str] = []
    for row in rows:
        if found:
            found.append("")
        for name, cell in zip(columns, row, strict=True):
            first, *more = _break(cell, max(width - names - _GAP, _LEAST))
            found.append((name + " " * (names - _width(name) + _GAP) + first).rstrip())
            found += [" " * (names + _GAP) + part for part in more]
    return found


def _width(text: str) -> int:
    """Columns of a terminal that a text takes."""
    if text.isascii():
        return len(text)
    return sum(0 if combining(c) else 2 if east_asian_width(c) in "WF" else 1 for c in text)
