"""Messages for mistakes in free Cypher: the place marked, and a hint where a name is misspelt or reserved."""

from __future__ import annotations

import re

from kernbench.support.hints import suggestion
from kernbench.support.pgraph import QueryError, QuerySyntaxError

_EMBEDDED = re.compile(r"Invalid input <.*>: .*\(line: (\d+), offset: (\d+)\)", re.DOTALL)
_NEO4J = re.compile(r"Invalid input .*\(line (\d+), column (\d+)", re.DOTALL)
_ARCADE = re.compile(r"is not expected \(line (\d+), column (\d+)\)")
_LABEL = re.compile(r"Table (\S+) does not exist")
_PROPERTY = re.compile(r"Cannot find property (\S+) for (\S+?)\.?$")
_WORD = re.compile(r"\w+|\W")
_CLAUSES = frozenset(
    ("MATCH", "OPTIONAL", "WHERE", "WITH", "RETURN", "UNWIND", "ORDER", "SKIP", "LIMIT", "UNION", "CALL")
)
_RESERVED = _CLAUSES | frozenset(
    ("ALL", "AND", "ANY", "AS", "ASC", "ASCENDING", "BY", "CASE", "CONTAINS", "COUNT", "CREATE", "DELETE",
     "DESC", "DESCENDING", "DETACH", "DISTINCT", "ELSE", "END", "ENDS", "EXISTS", "FALSE", "FOR", "IN", "IS",
     "MERGE", "NONE", "NOT", "NULL", "ON", "OR", "REMOVE", "SET", "SINGLE", "STARTS", "THEN", "TRUE", "WHEN",
     "XOR")
)  # fmt: skip
"""Words that have a meaning in Cypher; some engines take some of them as names as well."""


def explain_error(error: QueryError, text: str) -> QueryError:
    """``error`` about the query ``text`` in words that lead on; as it is where there is nothing to add."""
    from kernbench.support.pgraph import SCHEMA

    message = str(error)
    if found := _EMBEDDED.search(message):
        return _syntax(text, *_place(text, int(found[1]), int(found[2]) + 1))
    if found := _NEO4J.search(message):
        return _syntax(text, int(found[1]), int(found[2]))
    if found := _ARCADE.search(message):
        return _syntax(text, *_place(text, int(found[1]), int(found[2])))
    if found := _LABEL.search(message):
        hint = suggestion(found[1], SCHEMA.names)
        return type(error)(f"there is no label or relationship type '{found[1]}' here; {hint}{_SCHEMA_PAGE}")
    if found := _PROPERTY.search(message):
        hint = suggestion(found[1], sorted(SCHEMA.properties()))
        return type(error)(f"'{found[2]}' has no property '{found[1]}'; {hint}{_SCHEMA_PAGE}")
    return error


_SCHEMA_PAGE = "docs/reference/schema.md lists them"


def _place(text: str, line: int, column: int) -> tuple[int, int]:
    """Line and column in ``text`` where an engine counts them after the ``EXPLAIN`` or ``PROFILE`` in it."""
    from kernbench.support.pgraph import asked_for_plan

    asked = asked_for_plan(text)[1]
    before = text[: len(text) - len(asked)]
    more = len(before.rpartition("\n")[2]) if line == 1 else 0
    return line + before.count("\n"), column + more


def _syntax(text: str, line: int, column: int) -> QuerySyntaxError:
    """The error that says where reading stopped."""
    lines = text.splitlines() or [""]
    line = min(line, len(lines))
    here = lines[line - 1].expandtabs(1).rstrip()
    start = min(max(column - 1, 0), len(here))
    start += len(here[start:]) - len(here[start:].lstrip())
    found = _WORD.match(here, start)
    what = f"'{found.group()}'" if found else "the end"
    where = f"line {line}, column {start + 1}" if len(lines) > 1 else f"column {start + 1}"
    hint = _reserved_hint(here[:start], found.group() if found else "")
    return QuerySyntaxError(f"Cypher does not allow {what} at {where}{hint}", f"  {here}\n  {' ' * start}^")


def _reserved_hint(before: str, word: str) -> str:
    """A hint where a reserved word stands in place of a name, or of an expression that was left out."""
    earlier = re.findall(r"`[^`]*`|\w+|[^\w\s]", before)
    if word.upper() in _RESERVED and earlier and (earlier[-1] in "(.:[," or earlier[-1].upper() == "AS"):
        return f"; {word} is a reserved word: as a name, write `{word}`"
    if word.upper() in _CLAUSES and earlier:
        return f"; something is missing before {word}"
    if len(earlier) > 1 and earlier[-1].upper() in _RESERVED and earlier[-2] in "(.:=<>+-*/,[":
        last = earlier[-1]
        if last.upper() in _CLAUSES and earlier[-2] in "=<>+-*/":
            return f"; something is missing before {last}"
        return f"; {last} is a reserved word: as a name, write `{last}`"
    return ""
