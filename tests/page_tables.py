"""Tables of the page as plain rows, for tests of the server, of reports and of figures that agree."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def values(table: Mapping[str, Any]) -> list[list[Any]]:
    """The rows without the texts that cells have beside their values."""
    return [[cell[0] if isinstance(cell, list) else cell for cell in row] for row in table["rows"]]


def texts(table: Mapping[str, Any]) -> list[list[str]]:
    """What is read in the cells."""
    return [[cell[1] if isinstance(cell, list) else str(cell) for cell in row] for row in table["rows"]]


def records(table: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The values of each row by column."""
    names = [column["name"] for column in table["columns"]]
    return [dict(zip(names, row, strict=True)) for row in values(table)]
