"""The columns that a query returns, as its text names them: engines differ where nothing was returned.

An item without an alias is a column that is called as it is written, the way Neo4j has it.
"""

from __future__ import annotations

from kernbench_graph.query.guard import Token, statement, tokens
from kernbench_graph.query.items import is_clause, items_from, written
from kernbench_graph.query.patterns import SHORTEST, UnreadPatternError, outer

_PATHS = frozenset((*SHORTEST, "any", "all", "shortest"))


def columns_of(cypher: str) -> list[str] | None:
    """The columns of the query; None where ``*`` is among them.

    >>> columns_of("MATCH (t) RETURN DISTINCT t.kind, count( * ) AS n ORDER BY n")
    ['t.kind', 'n']
    """
    found = statement(cypher)
    try:
        start = max(
            (at + 1 for at in outer(found, 0, len(found)) if is_clause(found, at, "RETURN")), default=0
        )
    except UnreadPatternError:  # a bracket that is not closed
        return None
    if not 0 < start < len(found):
        return None
    items, _ = items_from(found, start + (found[start][1].upper() == "DISTINCT"))
    if any(not item or item[0][1] == "*" for item in items):
        return None
    return [_name(cypher, item) for item in items]


def has_path(cypher: str) -> bool:
    """Whether the query names a path, so that its rows may hold one."""
    found = tokens(cypher)
    return any(
        found[at][1] == "=" and (found[at + 1][1] == "(" or found[at + 1][1].lower() in _PATHS)
        for at in range(len(found) - 1)
    )


def _name(cypher: str, item: list[Token]) -> str:
    if len(item) > 2 and item[-2][0] == "word" and item[-2][1].upper() == "AS":
        return item[-1][1].strip("`")
    text = written(cypher, item)
    return text.strip("`") if len(item) == 1 and item[0][0] == "quoted" else text
