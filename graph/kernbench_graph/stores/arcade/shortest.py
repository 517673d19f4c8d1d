"""Shortest paths that ArcadeDB 26.11.1.dev2 answers otherwise than Cypher has it, without an error: refused.

It puts a condition to the path that it has found. In Cypher a condition is part of the search, whichever
WHERE of the MATCH clauses up to the next WITH it stands in: the path is the shortest of those that meet it.
Besides, a relationship that is named in such a pattern is null, and its properties are not looked at.
"""

from __future__ import annotations

from collections.abc import Sequence

from kernbench_graph.errors import QueryError
from kernbench_graph.query.guard import Token
from kernbench_graph.query.items import is_clause, names_in
from kernbench_graph.query.patterns import SHORTEST, UnreadPatternError, chains

_INSTEAD = (
    "write MATCH p = (a)-[:CONNECTS*1..9]->(b) WHERE ... RETURN p ORDER BY length(p) LIMIT 1, with a longest "
    "length, or ask a Neo4j server"
)


def check_shortest(found: Sequence[Token]) -> None:
    """``QueryError`` where a shortest path is asked for in a way that the engine gets wrong.

    >>> from kernbench_graph.query.guard import tokens
    >>> check_shortest(tokens("MATCH p = shortestPath((a)-[:OF*]->(b)) WHERE a.x = 1 RETURN p"))
    >>> check_shortest(tokens("MATCH p = shortestPath((a)-[:OF*]->(b)) WHERE length(p) > 2"))
    Traceback (most recent call last):
    kernbench_graph.errors.QueryError: the engine 'arcadedb' puts the condition on 'p' only to ...
    """
    if not any(text.lower() in SHORTEST for _, text, _ in found):
        return
    try:
        patterns = [chain for chain in chains(found) if found[chain.start - 2][1].lower() in SHORTEST]
    except UnreadPatternError as error:
        raise _refusal(f"may get shortest paths wrong beside a pattern with '{error}'") from error
    for chain in patterns:
        pattern = found[chain.start : chain.end]
        least = [pattern[n + 1][1] for n, token in enumerate(pattern[:-1]) if token[1] == "*"]
        if any(number.isdigit() and int(number) > 1 for number in least):
            raise _refusal("finds no shortest path of a least length but 0 or 1")
        for step in chain.steps:
            if step.has_properties:
                raise _refusal("does not look at properties of the relationships of a shortest path")
            if step.variable and sum(step.variable in names_in([token]) for token in found) > 1:
                raise _refusal(f"has null for '{step.variable}' in a shortest path; use relationships(p)")
        name = found[chain.start - 4][1].strip("`") if found[chain.start - 3][1] == "=" else ""
        if name in names_in(_conditions(found, chain.end + 1)):
            raise _refusal(f"puts the condition on '{name}' only to the shortest path of all")


def _conditions(found: Sequence[Token], at: int) -> list[Token]:
    """What follows WHERE from ``at`` on, up to the next clause but MATCH."""
    conditions: list[Token] = []
    depth = 0
    within = False
    for place in range(at, len(found)):
        kind, text, _ = found[place]
        depth += (text in "([{") - (text in ")]}") if kind == "mark" else 0
        if depth < 0:
            break
        if not depth and is_clause(found, place):
            within = text.upper() == "WHERE"
            if not within and text.upper() != "MATCH":
                break
        elif within:
            conditions.append(found[place])
    return conditions


def _refusal(what: str) -> QueryError:
    return QueryError(f"the engine 'arcadedb' {what}; {_INSTEAD}")
