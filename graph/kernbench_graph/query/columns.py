"""The columns that a query returns, as its text names them: engines differ where nothing was returned.

An item without an alias is a column that is called as it is written, the way Neo4j has it.
"""

from __future__ import annotations

from kernbench_graph.query.guard import tokens

_OPEN, _CLOSE = "([{", ")]}"
_PATHS = frozenset(("shortestpath", "allshortestpaths", "any", "all", "shortest"))
_ENDS = frozenset(("ORDER", "SKIP", "OFFSET", "LIMIT", "UNION"))


def columns_of(cypher: str) -> list[str] | None:
    """The columns of the query; None where ``*`` is among them.

    >>> columns_of("MATCH (t) RETURN DISTINCT t.kind, count( * ) AS n ORDER BY n")
    ['t.kind', 'n']
    """
    found = tokens(cypher)
    depth, start = 0, -1
    for at, (kind, text, _) in enumerate(found):
        depth += (text in _OPEN) - (text in _CLOSE) if kind == "mark" else 0
        if not depth and kind == "word" and text.upper() == "RETURN" and (not at or found[at - 1][1] != "."):
            start = at + 1
    if start < 0 or start >= len(found):
        return None
    if found[start][1].upper() == "DISTINCT":
        start += 1
    columns: list[str] = []
    item: list[tuple[str, str, int]] = []
    for kind, text, place in [*found[start:], ("mark", ",", len(cypher))]:
        depth += (text in _OPEN) - (text in _CLOSE) if kind == "mark" else 0
        ended = not depth and ((kind == "word" and text.upper() in _ENDS) or text == ";")
        if ended or (not depth and text == ","):
            if not item or item[0][1] == "*":
                return None
            columns.append(_name(cypher, item))
            item = []
            if ended:
                break
        else:
            item.append((kind, text, place))
    return columns


def has_path(cypher: str) -> bool:
    """Whether the query names a path, so that its rows may hold one."""
    found = tokens(cypher)
    return any(
        found[at][1] == "=" and (found[at + 1][1] == "(" or found[at + 1][1].lower() in _PATHS)
        for at in range(len(found) - 1)
    )


def _name(cypher: str, item: list[tuple[str, str, int]]) -> str:
    if len(item) > 2 and item[-2][0] == "word" and item[-2][1].upper() == "AS":
        return item[-1][1].strip("`")
    kind, text, place = item[-1]
    written = cypher[item[0][2] : place + len(text)]
    return written.strip("`") if len(item) == 1 and kind == "quoted" else written
