"""Literals and parameters of free Cypher that LadybugDB takes otherwise than Cypher does: refused.

It compares text with numbers and NaN with anything, finds no empty text within another one, takes null in a
list for a value, reads names of maps in any case, and numbers that are too large as others.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from kernbench_graph.query.columns import columns_of
from kernbench_graph.query.guard import Token
from kernbench_graph.query.patterns import opened_before
from kernbench_graph.stores.embedded.refusing import refusal

_LARGEST = 2**63
_NOTHING = ("", "", 0)
_COMPARING = ("=", "<", ">")
_WITHIN = ("CONTAINS", "STARTS", "ENDS")


def check_values(cypher: str, found: Sequence[Token], params: Mapping[str, Any]) -> None:
    """``QueryError`` where a literal, a parameter or the names of columns would be taken otherwise."""
    columns = columns_of(cypher) or []
    if len(set(columns)) < len(columns):
        raise refusal("two columns of one name", "give each its own with AS")
    ended = [*found, _NOTHING, _NOTHING]
    for at, token in enumerate(found):
        before = found[at - 1] if at else _NOTHING
        after = ended[at + 1]
        if token[0] == "number":
            _check_number(token[1], before[1])
        elif token[1] == "{" and _is_map(found, at):
            raise refusal("maps", "return the values as columns")
        elif token[1] in _COMPARING and token[0] == "mark":
            _check_comparison(before, after if after[1] not in _COMPARING else ended[at + 2])
        elif token[0] == "word" and token[1].upper() in _WITHIN:
            _check_within(before, found[at + 1 + (token[1].upper() != "CONTAINS") :][:1])
    texts = any(token[0] == "word" and token[1].upper() in _WITHIN for token in found)
    for name, value in params.items():
        if value is None or (isinstance(value, list) and (not value or None in value)):
            raise refusal(f"some uses of null or nothing, as in ${name}", "leave it out of the query")
        if texts and value == "":
            raise refusal(f"the empty text ${name} within another", "leave the condition out")


def _check_number(text: str, before: str) -> None:
    if before == "/" and float(text) == 0.0:
        raise refusal("division by zero", "leave it out")
    whole = text.isdigit() and (len(text) > 4000 or int(text) >= _LARGEST + (before == "-"))
    if whole or not math.isfinite(float(text)):
        raise refusal(f"{text}, a number that is too large", "use one within 64 bits")


def _check_comparison(left: Token, right: Token) -> None:
    sorts = {token[0] for token in (left, right)} & {"string", "number"}
    if len(sorts) == 2:
        raise refusal("comparison of text with numbers", "compare values of one type")


def _check_within(left: Token, operand: Sequence[Token]) -> None:
    null = left[1].upper() == "NULL" or any(token[1].upper() == "NULL" for token in operand)
    if null or any(token[1] in ("''", '""', "(") for token in operand):
        raise refusal("null, nothing or a condition within a text", "name a text of one character or more")


def _is_map(found: Sequence[Token], at: int) -> bool:
    """Whether a map begins here that is not that of a pattern's node or relationship."""
    place = opened_before(found, at)
    if place < 0:
        return True
    # A node's bracket follows none of these names; a function's follows its own.
    before = found[place - 1] if place else ("", "", 0)
    named = before[0] == "word" and before[1].upper() not in ("MATCH", "WHERE", "AND")
    return found[place][1] == "(" and named
