"""How long and how deep a query may be, and how large its answer, whichever engine it is for.

Engines read a text recursively: one of some thousand levels ends the process of one, is refused by another in
its own words, and takes minutes to plan in a third. These limits are far above what people write and below
where the weakest engine fails.
"""

from __future__ import annotations

from collections.abc import Iterable

from kernbench_graph.errors import QueryError

LONGEST = 20_000
"""Characters of a text."""
DEEPEST = 50
"""Brackets of any kind, and CASE, within one another."""
MOST_OPERATORS = 200
"""Operators of one expression: each takes the result of the one before it, so that is a depth as well."""
MOST_CLAUSES = 200

MOST_VALUES = 10_000_000
"""Rows times columns of an answer: some gigabytes."""

_OPENING, _CLOSING = frozenset(("(", "[", "{", "CASE")), frozenset((")", "]", "}", "END"))
_OPERATORS = frozenset(("AND", "OR", "XOR", "NOT", "+", "-", "*", "/", "%", "^", "=", "<", ">"))
_CLAUSES = frozenset(("MATCH", "WITH", "UNWIND", "RETURN", "UNION", "CALL"))
_ENDING = _CLAUSES | {",", "WHERE", "ORDER", "WHEN", "THEN", "ELSE", "AS"}
"""After these another expression begins."""


def check_length(cypher: str) -> None:
    """``QueryError`` for a text of more than :data:`LONGEST` characters."""
    if len(cypher) > LONGEST:
        raise QueryError(
            f"the query has {len(cypher):,} characters, but at most {LONGEST:,} are allowed; "
            "give long lists and texts as parameters"
        )


def check_rows(rows: int, columns: int) -> None:
    """``QueryError`` for an answer of more than :data:`MOST_VALUES` values."""
    if rows * columns > MOST_VALUES:
        raise QueryError(
            f"the answer has {rows:,} rows of {columns} columns, "
            f"but at most {MOST_VALUES:,} values are given; "
            "count or add up, or write LIMIT"
        )


def check_depth(found: Iterable[tuple[str, str, int]]) -> None:
    """``QueryError`` where the tokens of a text nest too deeply, or make too long a chain.

    See :func:`kernbench_graph.query.guard.tokens`. A property or a label that is spelt like a keyword counts
    as one: that makes nothing deeper that could not be written otherwise.

    >>> from kernbench_graph.query.guard import tokens
    >>> check_depth(tokens("RETURN " + "(" * 51 + "1" + ")" * 51))  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    kernbench_graph.errors.QueryError: the query nests brackets and CASE more than 50 deep at character 58;...
    """
    operators = [0]  # of the expression at hand, for each bracket that is open
    clauses = 0
    for kind, text, start in found:
        if kind not in ("word", "mark"):
            continue
        upper = text.upper()
        if upper in _OPENING:
            operators.append(0)
            if len(operators) > DEEPEST + 1:
                raise QueryError(
                    f"the query nests brackets and CASE more than {DEEPEST} deep at character {start + 1}; "
                    "work out the inner part in a WITH before it"
                )
        elif upper in _CLOSING and len(operators) > 1:
            operators.pop()
        elif upper in _OPERATORS:
            operators[-1] += 1
            if operators[-1] > MOST_OPERATORS:
                raise QueryError(
                    f"the query has more than {MOST_OPERATORS} operators in one expression at character "
                    f"{start + 1}; use IN with a list, or a parameter"
                )
        elif upper in _ENDING:
            operators[-1] = 0
            clauses += upper in _CLAUSES
            if clauses > MOST_CLAUSES:
                raise QueryError(
                    f"the query has more than {MOST_CLAUSES} clauses; ask for less, or in several queries"
                )
