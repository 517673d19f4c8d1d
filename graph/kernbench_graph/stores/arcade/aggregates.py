"""Aggregates within expressions, which ArcadeDB 26.11.1.dev2 gets wrong without an error.

``RETURN count(*) > 3 AND sum(t.bytes) > 10 AS x`` gives a row for each row that it counts; so do conditions,
functions within maps, and keys of ORDER BY. There the aggregates get a WITH of their own, with what rows are
grouped by, and the expressions follow it. The standard deviation of nothing, null to the engine, is 0.
"""

from __future__ import annotations

from collections.abc import Sequence

from kernbench_graph.errors import QueryError
from kernbench_graph.query.guard import Token, statement
from kernbench_graph.query.items import (
    aggregates_in,
    is_clause,
    items_from,
    names_in,
    without_alias,
    without_direction,
    written,
)

_NULL_OF_NOTHING = ("stdev", "stdevp")
Named = list[tuple[list[str], str]]
"""Expressions, as the texts of their tokens, and what they are called from then on."""


def with_aggregates_apart(cypher: str) -> str:
    """``cypher`` in which every aggregate is an item by itself.

    ``QueryError`` where an expression has an aggregate, and beside it what rows are not grouped by.

    >>> with_aggregates_apart("MATCH (t) RETURN t.kind AS k, count(*) > 3 AS x")
    'MATCH (t) WITH t.kind AS `value 0`, count(*) AS `value 1` RETURN `value 0` AS k, `value 1` > 3 AS x'
    """
    for at in reversed(range(len(statement(cypher)))):  # what follows a place is changed, not what is before
        if is_clause(statement(cypher), at, "WITH", "RETURN"):
            cypher = _projected(cypher, at)
    return cypher


def _projected(cypher: str, at: int) -> str:
    """The text with the projection at a place in two, where it has an aggregate within an expression.

    >>> _projected("MATCH (t) RETURN count(*) > 3 AS x ORDER BY count(*) LIMIT 1", 4)
    'MATCH (t) WITH count(*) AS `value 0` RETURN `value 0` > 3 AS x ORDER BY `value 0` LIMIT 1'
    """
    found = statement(cypher)
    word = found[at][1]
    first = at + 1
    if first < len(found) and found[first][1].upper() == "DISTINCT":
        word, first = f"{word} DISTINCT", first + 1
    items, end = items_from(found, first)
    keys, stop = items_from(found, end + 2) if found[end:] and found[end][1].upper() == "ORDER" else ([], end)
    expressions = [without_alias(item) for item in items]
    if not all([*items, *keys]) or not any(
        _is_within(some) for some in [*expressions, *map(without_direction, keys)]
    ):
        return cypher
    if any(item[0][1] == "*" for item in items):
        raise QueryError("an aggregate in an expression stands beside *; name the columns that * stands for")
    inner: list[str] = []
    named: Named = []
    calls: Named = []
    for some in expressions:
        if aggregates_in(some):
            continue
        name = some[0][1] if len(some) == 1 and some[0][0] in ("word", "quoted") else f"`value {len(named)}`"
        inner.append(name if len(some) == 1 and name == some[0][1] else f"{written(cypher, some)} AS {name}")
        named.append(([text for _, text, _ in some], name))
    for some in [*expressions, *keys]:
        for start, stop_at in aggregates_in(some):
            if _is_for_elements(some[:start]):
                raise QueryError(
                    f"'{written(cypher, some)}' has an aggregate of rows where each element of a list is "
                    "computed; write the aggregate as an item of a WITH, and the list after it"
                )
            call = written(cypher, some[start:stop_at])
            call = f"coalesce({call}, 0.0)" if some[start][1].lower() in _NULL_OF_NOTHING else call
            texts = [text for _, text, _ in some[start:stop_at]]
            if texts not in [known for known, _ in calls]:
                calls.append((texts, f"`value {len(named) + len(calls)}`"))
                inner.append(f"{call} AS {calls[-1][1]}")
    outer: list[str] = []
    aliases: Named = []  # those of ORDER BY: a name there is that of a column first
    calls_there: Named = []
    for item, some in zip(items, expressions, strict=True):
        if item is some and word[0] in "wW" and len(some) > 1:
            return cypher  # without a name, which the engine refuses
        has_name = item is not some or len(item) == 1
        name = item[-1][1] if has_name else f"`{written(cypher, item).replace('`', '')}`"
        outer.append(f"{_renamed(cypher, some, _beside(some, named) + calls)} AS {name}")
        aliases = [([name], name), *aliases]
        (calls_there if aggregates_in(some) else aliases).append(([text for _, text, _ in some], name))
    text = f"WITH {', '.join(inner)} {word} {', '.join(outer)}"
    if keys:
        of_calls = calls_there + calls
        text += " ORDER BY " + ", ".join(
            _renamed(cypher, key, _beside(key, aliases + named) + of_calls) for key in keys
        )
    last = found[stop - 1]
    return cypher[: found[at][2]] + text + cypher[last[2] + len(last[1]) :]


def _beside(some: Sequence[Token], named: Named) -> Named:
    """What rows are grouped by that an expression may name: beside aggregates only names and properties."""
    if not aggregates_in(some):
        return named
    return [(known, name) for known, name in named if "".join(known[1::2]) == "." * (len(known) // 2)]


def _is_for_elements(before: Sequence[Token]) -> bool:
    """Whether what follows is computed for each element of a list, as after ``[x IN xs |``.

    >>> [_is_for_elements(statement(text)) for text in ("[x IN", "[x IN xs WHERE 1 <", "f([x IN xs | x],")]
    [False, True, False]
    """
    per_element = [False]
    for _, text, _ in before:
        if text in "([{":
            per_element.append(False)
        elif text in ")]}":
            per_element.pop()
        elif text == "|" or text.upper() == "WHERE":
            per_element[-1] = True
    return any(per_element)


def _is_within(some: Sequence[Token]) -> bool:
    """Whether an expression has an aggregate that must be an item by itself."""
    calls = aggregates_in(some)
    return bool(calls) and (calls != [(0, len(some))] or some[0][1].lower() in _NULL_OF_NOTHING)


def _renamed(cypher: str, some: Sequence[Token], named: Named) -> str:
    """An expression in which those that have names are called by them.

    >>> _renamed("1 + count(*)", statement("1 + count(*)"), [(["count", "(", "*", ")"], "`value 0`")])
    '1 + `value 0`'
    """
    edits: list[tuple[int, int, str]] = []
    left: list[Token] = []
    at = 0
    while at < len(some):
        texts = [text for _, text, _ in some[at:]]
        before = some[at - 1][1] if at else ""
        fits = [
            (len(known), name)
            for known, name in named
            if texts[: len(known)] == known and before != "." and (texts[len(known) :] or [""])[0] != "("
        ]
        if fits:
            length, name = max(fits, key=lambda fit: fit[0])
            last = some[at + length - 1]
            edits.append((some[at][2], last[2] + len(last[1]), name))
            at += length
        else:
            left.append(some[at])
            at += 1
    own = {  # of comprehensions and the like
        some[n][1]
        for n in range(1, len(some) - 1)
        if some[n - 1][1] in "[(," and some[n + 1][1].upper() in ("IN", "=")
    }
    if others := names_in(left) - own - {name.strip("`") for _, name in named}:
        name = ", ".join(sorted(others))
        raise QueryError(
            f"'{written(cypher, some)}' has an aggregate beside '{name}', by which rows are not grouped; "
            "write the aggregate as an item of a WITH, and the expression after it"
        )
    start = some[0][2]
    text = written(cypher, some)
    for begin, end, name in reversed(edits):
        text = text[: begin - start] + name + text[end - start :]
    return text
