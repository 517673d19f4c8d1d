"""The items of a projection: what stands between the commas after WITH, RETURN or ORDER BY."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from kernbench_graph.query.guard import Token
from kernbench_graph.query.patterns import SUBQUERIES

_ENDS = frozenset(
    ("ORDER", "SKIP", "OFFSET", "LIMIT", "WHERE", "MATCH", "OPTIONAL", "RETURN", "WITH", "UNWIND", "CALL",
     "UNION")
)  # fmt: skip
_NOT_CLAUSES = (".", ":", "STARTS", "ENDS", "AS")
"""After these a word that begins a clause does not."""
DIRECTIONS = frozenset(("ASC", "ASCENDING", "DESC", "DESCENDING"))
_NO_NAMES = DIRECTIONS | frozenset(
    ("AND", "CASE", "CONTAINS", "DISTINCT", "ELSE", "END", "ENDS", "FALSE", "IN", "IS", "NOT", "NULL", "OR",
     "STARTS", "THEN", "TRUE", "WHEN", "WHERE", "WITH", "XOR")
)  # fmt: skip
_AGGREGATES = frozenset(
    ("avg", "collect", "count", "max", "min", "percentilecont", "percentiledisc", "stdev", "stdevp", "sum")
)


def is_clause(found: Sequence[Token], at: int, *words: str) -> bool:
    """Whether a clause begins there, with one of ``words``."""
    before = found[at - 1][1].upper() if at else ""
    kind, text, _ = found[at]
    return kind == "word" and text.upper() in (words or _ENDS) and before not in _NOT_CLAUSES


def has_star(found: Sequence[Token]) -> bool:
    """Whether ``*`` stands for all variables somewhere."""
    before = ("WITH", "RETURN", "DISTINCT")
    return any(one[1].upper() in before and two[1] == "*" for one, two in pairwise(found))


def items_from(found: Sequence[Token], at: int) -> tuple[list[list[Token]], int]:
    """The tokens between commas from ``at`` on, and where the list ends."""
    items: list[list[Token]] = [[]]
    depth = 0
    while at < len(found):
        kind, text, _ = found[at]
        if kind == "mark":
            depth += (text in "([{") - (text in ")]}")
        if depth < 0 or (not depth and is_clause(found, at)):
            break
        if not depth and text == ",":
            items.append([])
        else:
            items[-1].append(found[at])
        at += 1
    return items, at


def without_alias(item: list[Token]) -> list[Token]:
    """The expression of an item."""
    return item[:-2] if len(item) > 2 and item[-2][1].upper() == "AS" else item


def without_direction(key: list[Token]) -> list[Token]:
    """The expression by which rows are ordered."""
    return key[:-1] if len(key) > 1 and key[-1][1].upper() in DIRECTIONS else key


def written(cypher: str, some: Sequence[Token]) -> str:
    """Tokens that follow each other as the text has them."""
    return cypher[some[0][2] : some[-1][2] + len(some[-1][1])]


def names_in(some: Sequence[Token]) -> set[str]:
    """The variables in an expression."""
    names = set()
    for at, (kind, text, _) in enumerate(some):
        before, after = (some[n][1] if 0 <= n < len(some) else "" for n in (at - 1, at + 1))
        is_key = after == ":" and before in ("{", ",")
        if kind in ("word", "quoted") and before not in (".", ":") and after != "(" and not is_key:
            names.add(text.strip("`"))
    return {name for name in names if name.upper() not in _NO_NAMES}


def aggregates_in(item: Sequence[Token]) -> list[tuple[int, int]]:
    """Where the calls of aggregates in an expression begin and end, without those in its subqueries."""
    calls: list[tuple[int, int]] = []
    at = 0
    while at + 1 < len(item):
        word, after = item[at][1], item[at + 1][1]
        is_call = word.lower() in _AGGREGATES and after == "("
        if is_call or (word.upper() in SUBQUERIES and after == "{"):
            depth, start = 0, at
            while at + 1 < len(item) and (at == start or depth):
                at += 1
                depth += (item[at][1] in "([{") - (item[at][1] in ")]}") if item[at][0] == "mark" else 0
            calls += [(start, at + 1)] if is_call else []
        at += 1
    return calls
