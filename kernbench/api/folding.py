"""Rows of a question folded first and cut then: ``limit`` counts the rows that are shown."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from kernbench.draw.cells import fold
from kernbench.support.pgraph import Result

_FACTOR = 8
_MOST = 20_000
"""Rows that are asked for at most."""


def ask_folded(
    ask: Callable[[Mapping[str, Any]], Result], params: Mapping[str, Any], question: Mapping[str, Any]
) -> tuple[list[str], list[Sequence[Any]], list[str]]:
    """Ask until ``limit`` rows are left when those of symmetric parts are one, or there are no more.

    The rows of a question without ``folds`` stay as they are; columns of paths, which are to be drawn, go.

    Args:
        ask: Asks the question with parameters.
        params: Those that were given, texts or values.
        question: As :func:`kernbench.api.asking.question` describes it.

    Returns:
        Columns with ``count`` where rows were folded, the rows, and remarks.
    """
    known = next((param for param in question["params"] if param["name"] == "limit"), None)
    result = ask(params)
    if not question["folds"]:
        return *told(result, question), list(result.notes)
    columns, rows = fold(result.columns, result.rows, question["folds"])
    if known is None:
        return columns, rows, list(result.notes)
    limit = int(params.get("limit", known["default"]))
    asked = limit
    while len(rows) < limit and len(result.rows) == asked and asked < _MOST:
        asked = min(asked * _FACTOR, _MOST)
        result = ask({**params, "limit": asked})
        columns, rows = fold(result.columns, result.rows, question["folds"])
    notes = list(result.notes)
    if len(result.rows) == asked > limit and len(rows) <= limit:
        notes.append(f"rows were folded from the first {asked}; further rows may fold into these")
    return columns, rows[:limit], notes


def told(result: Result, question: Mapping[str, Any]) -> tuple[list[str], list[Sequence[Any]]]:
    """Columns and rows of an answer for tables: without columns of paths, which are to be drawn."""
    kept = [at for at, column in enumerate(question["returns"]) if column["type"] != "path"]
    return [result.columns[at] for at in kept], [tuple(row[at] for at in kept) for row in result.rows]
