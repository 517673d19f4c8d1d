"""Free Cypher as ArcadeDB must be asked: shapes that it gets wrong are rewritten, or refused.

Version 26.11.1.dev2 does not fetch a variable that is used in the ORDER BY of a WITH and nowhere after it,
and leaves the rows in any order without an error. There the WITH passes the keys on, and orders by these.
The other shapes: :mod:`kernbench_graph.stores.arcade.aggregates` and
:mod:`kernbench_graph.stores.arcade.shortest`.
"""

from __future__ import annotations

from kernbench_graph.errors import QueryError
from kernbench_graph.query.guard import Token, statement
from kernbench_graph.query.items import (
    aggregates_in,
    has_star,
    is_clause,
    items_from,
    names_in,
    without_direction,
)
from kernbench_graph.query.patterns import edited
from kernbench_graph.stores.arcade.aggregates import with_aggregates_apart
from kernbench_graph.stores.arcade.shortest import check_shortest

_FORGETS = "the engine 'arcadedb' forgets the order of a WITH that orders by what it does not pass on"


def dialect(cypher: str) -> str:
    """``cypher`` as it must be asked, with the same rows by the rules of Cypher.

    ``QueryError`` where that cannot be said, such as where a later ``*`` would show the difference.
    """
    check_shortest(statement(cypher))
    cypher = with_aggregates_apart(cypher)
    found = statement(cypher)
    edits: list[tuple[int, int, str]] = []
    for at in range(len(found)):
        if is_clause(found, at, "WITH"):
            edits += _passed_on(cypher, found, at + 1, len(edits))
    return edited(cypher, edits)


def _passed_on(cypher: str, found: list[Token], at: int, number: int) -> list[tuple[int, int, str]]:
    """Edits of the WITH whose items begin at ``at``: start, end and new text of each place."""
    items, end = items_from(found, at)
    if end + 1 >= len(found) or found[end][1].upper() != "ORDER":
        return []
    passed = {item[-1][1].strip("`") for item in items if item}
    grouped = found[at][1].upper() == "DISTINCT" or any(aggregates_in(item) for item in items)
    if "*" in [item[0][1] for item in items if item] or grouped:
        return []
    edits: list[tuple[int, int, str]] = []
    last = found[end - 1]
    for key in items_from(found, end + 2)[0]:
        key = without_direction(key)
        if not key or names_in(key) <= passed or aggregates_in(key):  # the engine refuses these
            continue
        if has_star(found[end - 1 :]):
            names = ", ".join(sorted(names_in(key) - passed))
            raise QueryError(f"{_FORGETS}; pass '{names}' on there, or name the columns that * stands for")
        start, stop = key[0][2], key[-1][2] + len(key[-1][1])
        name = f"`order {number + len(edits)}`"
        place = last[2] + len(last[1])
        edits += [(place, place, f", {cypher[start:stop]} AS {name}"), (start, stop, name)]
    return edits
