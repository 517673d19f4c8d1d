"""Plans that are asked for: ``EXPLAIN`` or ``PROFILE`` before a query, and the rows that show a plan."""

from __future__ import annotations

from kernbench_graph.query.guard import tokens

EXPLAIN = "EXPLAIN"
PROFILE = "PROFILE"
PLAN_COLUMNS = ("depth", "operator", "details", "estimated_rows")
"""Columns of a plan, an operator a row: the last one first, and each takes its rows from those one deeper.

``estimated_rows`` is null where an engine says nothing of it.
"""


def asked_for_plan(cypher: str) -> tuple[str, str]:
    """The word that asks for a plan and the query after it; an empty word and all of the text if none does.

    ``QueryError`` for text that cannot be split into tokens.

    >>> asked_for_plan("explain MATCH (r:Run) RETURN r.id AS id")
    ('EXPLAIN', 'MATCH (r:Run) RETURN r.id AS id')
    >>> asked_for_plan("MATCH (r:Run) RETURN r.id AS explain")
    ('', 'MATCH (r:Run) RETURN r.id AS explain')
    """
    found = tokens(cypher)
    if found and found[0][0] == "word" and (word := found[0][1].upper()) in (EXPLAIN, PROFILE):
        return word, cypher[found[1][2] :] if len(found) > 1 else ""
    return "", cypher
