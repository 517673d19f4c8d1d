"""Lets reading queries through and nothing else, before any engine sees them.

The text is split into tokens the way a Cypher lexer does it, so that a keyword inside a string, a comment
or backticks does not count and one that hides behind a number does. Stores add the engine's own read-only
mode on top; this is the fence for what engines still allow there: reading and writing files, changing
settings, ending the transaction.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from kernbench_graph.errors import QueryError, ReadOnlyError
from kernbench_graph.query.limits import check_depth, check_length

_TOKEN = re.compile(
    r"""(?P<space>\s+|//[^\r\n]*|/\*.*?\*/)
      | (?P<string>'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*")
      | (?P<quoted>`[^`]*`)
      | (?P<param>\$(?:[0-9]+|[^\W\d]\w*|`[^`]*`))
      | (?P<number>[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)
      | (?P<word>[^\W\d]\w*)
      | (?P<mark>[^\s'"`])
    """,
    re.VERBOSE | re.DOTALL,
)
Token = tuple[str, str, int]
"""Kind, text and start."""
_FIRST = ("MATCH", "OPTIONAL", "WITH", "UNWIND", "RETURN")
_FORBIDDEN = (
    "ALTER", "ATTACH", "BEGIN", "CALL", "CHECKPOINT", "COMMIT", "COPY", "CREATE", "DELETE", "DENY", "DETACH",
    "DROP", "EXPLAIN", "EXPORT", "FOREACH", "GRANT", "IMPORT", "INSERT", "INSTALL", "LOAD", "MERGE",
    "PROFILE", "REMOVE", "REVOKE", "ROLLBACK", "SET", "UNINSTALL",
)  # fmt: skip
_BEFORE_NAME = frozenset(
    (",", "(", "[", "=", "<", ">", "/", "%", "^", "|", "AS", "RETURN", "WITH", "WHERE", "BY", "DISTINCT",
     "AND", "OR", "XOR", "NOT", "IN", "CASE", "WHEN", "THEN", "ELSE", "UNWIND")
)  # fmt: skip
"""After these no clause begins, so that a word is a name, whatever it spells. After ``*`` one may."""
_AFTER_NAME = frozenset(
    (",", ".", ":", ")", "]", "}", "=", "<", ">", "+", "-", "*", "/", "%", "^", "|", ";", "", "AS", "ORDER",
     "SKIP", "LIMIT", "WHERE", "MATCH", "OPTIONAL", "WITH", "RETURN", "UNWIND", "UNION", "CALL", "ASC",
     "DESC", "AND", "OR", "XOR", "IN", "IS", "WHEN", "THEN", "ELSE", "END", "STARTS", "ENDS", "CONTAINS")
)  # fmt: skip
_TEXTS = 512
"""So many texts are remembered: a question is asked again and again, and looked at by several fences."""


@lru_cache(maxsize=_TEXTS)
def check_read_only(cypher: str) -> str:
    """``cypher`` without a closing semicolon, when it is one statement that only reads.

    ``ReadOnlyError`` for writing, administrative or file clauses and for several statements;
    ``QueryError`` for text that cannot be split into tokens (an open string or comment), and for one that is
    too long or too deep (:mod:`kernbench_graph.query.limits`).
    """
    end = len(cypher)
    previous = ""
    words = 0
    found = tokens(cypher)
    check_depth(found)
    for at, (kind, text, start) in enumerate(found):
        if text == ";":
            end = min(end, start)
            continue
        if end != len(cypher):
            raise ReadOnlyError("a query is one statement; remove what follows the ';'")
        if kind == "word":
            upper = text.upper()
            subquery = upper == "CALL" and at + 1 < len(found) and found[at + 1][1] in ("{", "(")
            if words == 0 and ((upper not in _FIRST and not subquery) or previous):
                raise ReadOnlyError(
                    f"queries only read: start with {', '.join(_FIRST[:-1])} or {_FIRST[-1]}, not '{text}'"
                )
            words += 1
            after = found[at + 1][1].upper() if at + 1 < len(found) else ""
            is_name = previous in (".", ":") or (previous.upper() in _BEFORE_NAME and after in _AFTER_NAME)
            if upper in _FORBIDDEN and not is_name and not subquery:
                raise ReadOnlyError(
                    f"queries only read, but this one has '{text}'; remove it (or write `{text}`, if a name)"
                )
        previous = text
    if words == 0:
        raise QueryError("the query is empty; it needs at least a RETURN")
    return cypher[:end].rstrip()


def parameter_names(cypher: str) -> list[str]:
    """Names of the parameters (``$name``) that the text uses, each once, in order of appearance."""
    names = [text[1:].strip("`") for kind, text, _ in tokens(cypher) if kind == "param"]
    return list(dict.fromkeys(names))


def bound(cypher: str, params: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters that the text uses, from ``params``; ``QueryError`` when one is missing."""
    used = parameter_names(cypher)
    missing = [name for name in used if name not in params]
    if missing:
        raise QueryError(f"the query uses ${missing[0]}, which was not given; give {', '.join(used)}")
    return {name: params[name] for name in used}


def words(cypher: str) -> list[str]:
    """The bare and backticked names and keywords of the text, in order, without backticks."""
    return [text.strip("`") for kind, text, _ in tokens(cypher) if kind in ("word", "quoted")]


def statement(cypher: str) -> list[Token]:
    """The tokens of a text without a closing semicolon."""
    return [token for token in tokens(cypher) if token[1] != ";"]


def tokens(cypher: str) -> tuple[Token, ...]:
    """Kind, text and start of every token but spaces and comments; ``QueryError`` where one is not closed.

    A text that is too long is refused before it is looked at.
    """
    return _tokens(cypher.rstrip())  # texts of questions end in a newline, which checks strip


@lru_cache(maxsize=_TEXTS)
def _tokens(cypher: str) -> tuple[Token, ...]:
    check_length(cypher)
    found: list[Token] = []
    position = 0
    for match in _TOKEN.finditer(cypher):
        kind, text, start = str(match.lastgroup), match[0], match.start()
        if start != position or (text == "/" and cypher.startswith("/*", start)):
            break
        position = match.end()
        if kind != "space":
            found.append((kind, text, start))
    if position < len(cypher):
        place = f"character {position + 1}: {cypher[position : position + 12]!r}"
        raise QueryError(f"the query cannot be read from {place}; close the string, backtick or comment")
    return tuple(found)
