"""Plans that are asked for: ``EXPLAIN`` or ``PROFILE`` before a query, and the rows that show a plan."""

from __future__ import annotations

from kernbench_graph.query.guard import tokens
from kernbench_graph.result import Result

EXPLAIN = "EXPLAIN"
PROFILE = "PROFILE"
PLAN = "plan"
"""The one column of a plan that an engine gives as text: a row is a line of it."""


def as_text(plan: str) -> Result:
    """The answer that shows a plan in the engine's own words."""
    return Result([PLAN], [(line.rstrip(),) for line in plan.strip("\n").splitlines()])


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
