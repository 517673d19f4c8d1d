"""Free Cypher as ArcadeDB must be asked: one shape that it gets wrong is written otherwise.

Version 26.11.1.dev2 does not fetch a variable that is used in the ORDER BY of a WITH and nowhere after it,
and leaves the rows in any order without an error. There the WITH passes the keys on, and orders by these.
"""

from __future__ import annotations

from kernbench_graph.errors import QueryError
from kernbench_graph.query.guard import tokens

Token = tuple[str, str, int]
_ENDS = frozenset(
    ("ORDER", "SKIP", "OFFSET", "LIMIT", "WHERE", "MATCH", "OPTIONAL", "RETURN", "WITH", "UNWIND", "CALL",
     "UNION")
)  # fmt: skip
_FORGETS = "the engine 'arcadedb' forgets the order of a WITH that orders by what it does not pass on"
_DIRECTIONS = frozenset(("ASC", "ASCENDING", "DESC", "DESCENDING"))
_NO_NAMES = _DIRECTIONS | frozenset(
    ("AND", "CASE", "CONTAINS", "ELSE", "END", "ENDS", "FALSE", "IN", "IS", "NOT", "NULL", "OR", "STARTS",
     "THEN", "TRUE", "WHEN", "WITH", "XOR")
)  # fmt: skip
_AGGREGATES = frozenset(
    ("avg", "collect", "count", "max", "min", "percentilecont", "percentiledisc", "stdev", "stdevp", "sum")
)


def dialect(cypher: str) -> str:
    """``cypher`` with every WITH that orders by what it does not pass on passing that on, too.

    ``QueryError`` where a later ``*`` would show the difference.
    """
    found = [token for token in tokens(cypher) if token[1] != ";"]
    edits: list[tuple[int, int, str]] = []
    for at, (kind, text, _) in enumerate(found):
        before = found[at - 1][1].upper() if at else ""
        if kind == "word" and text.upper() == "WITH" and before not in (".", ":", "STARTS", "ENDS"):
            edits += _passed_on(cypher, found, at + 1, len(edits))
    for start, end, more in sorted(edits, reverse=True):
        cypher = cypher[:start] + more + cypher[end:]
    return cypher


def _passed_on(cypher: str, found: list[Token], at: int, number: int) -> list[tuple[int, int, str]]:
    """Edits of the WITH whose items begin at ``at``: start, end and new text of each place."""
    items, end = _items(found, at)
    if end + 1 >= len(found) or found[end][1].upper() != "ORDER":
        return []
    passed = {item[-1][1].strip("`") for item in items if item}
    grouped = found[at][1].upper() == "DISTINCT" or any(_aggregates(item) for item in items)
    if "*" in [item[0][1] for item in items if item] or grouped:
        return []
    edits: list[tuple[int, int, str]] = []
    last = found[end - 1]
    for key in _items(found, end + 2)[0]:
        key = key[:-1] if len(key) > 1 and key[-1][1].upper() in _DIRECTIONS else key
        if not key or _names(key) <= passed or _aggregates(key):  # the engine refuses these
            continue
        if any(_is_star(found, place) for place in range(end, len(found))):
            names = ", ".join(sorted(_names(key) - passed))
            raise QueryError(f"{_FORGETS}; pass '{names}' on there, or name the columns that * stands for")
        start, stop = key[0][2], key[-1][2] + len(key[-1][1])
        name = f"`order {number + len(edits)}`"
        place = last[2] + len(last[1])
        edits += [(place, place, f", {cypher[start:stop]} AS {name}"), (start, stop, name)]
    return edits


def _items(found: list[Token], at: int) -> tuple[list[list[Token]], int]:
    """The tokens between commas from ``at`` on, and where the list ends."""
    items: list[list[Token]] = [[]]
    depth = 0
    while at < len(found):
        kind, text, _ = found[at]
        if kind == "mark":
            depth += (text in "([{") - (text in ")]}")
        if depth < 0:
            break
        starts = found[at - 1][1].upper() not in (".", ":", "STARTS", "ENDS")
        if not depth and kind == "word" and text.upper() in _ENDS and starts:
            break
        if not depth and text == ",":
            items.append([])
        else:
            items[-1].append(found[at])
        at += 1
    return items, at


def _names(key: list[Token]) -> set[str]:
    """The variables in an expression."""
    names = set()
    for at, (kind, text, _) in enumerate(key):
        before = key[at - 1][1] if at else ""
        function = key[at + 1 : at + 2] and key[at + 1][1] == "("
        if kind in ("word", "quoted") and before not in (".", ":") and not function:
            names.add(text.strip("`"))
    return {name for name in names if name.upper() not in _NO_NAMES}


def _aggregates(item: list[Token]) -> bool:
    following = [token[1] for token in item[1:]]
    return any(
        text.lower() in _AGGREGATES and then == "("
        for (_, text, _), then in zip(item[:-1], following, strict=True)
    )


def _is_star(found: list[Token], at: int) -> bool:
    """Whether ``*`` stands for all variables there."""
    return found[at][1] == "*" and found[at - 1][1].upper() in ("RETURN", "WITH", "DISTINCT")
