"""Free Cypher on LadybugDB: what it answers as Cypher has it; the rest is rewritten, or refused.

The engine differs from openCypher without an error in many shapes. So only what is known to be the same
passes: listed functions, and patterns in which no relationship could be met twice. A refusal says what to
write instead. Questions of the library are held against numpy and Neo4j one by one, and do not pass through
here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

from kernbench_graph.errors import QueryError
from kernbench_graph.projection import second_label
from kernbench_graph.query.guard import Token, statement
from kernbench_graph.query.items import is_clause
from kernbench_graph.query.names import Names, check_names, used_names
from kernbench_graph.query.patterns import (
    UnreadPatternError,
    chains,
    closing,
    edited,
    opened_before,
    text_at,
)
from kernbench_graph.schema import SCHEMA
from kernbench_graph.stores.embedded.dialect_values import check_values
from kernbench_graph.stores.embedded.filtered_steps import check_filtered_steps
from kernbench_graph.stores.embedded.refusing import otherwise, refusal

_AGGREGATES = frozenset(("count", "sum", "avg", "min", "max", "collect"))
_FUNCTIONS = _AGGREGATES | frozenset(
    ("abs", "ceil", "coalesce", "floor", "length", "nodes", "relationships", "size", "sqrt")
)
"""Functions that were found to give what Neo4j gives."""
_BEFORE_GROUP = frozenset(
    ("AND", "AS", "BY", "CASE", "CONTAINS", "DISTINCT", "ELSE", "IN", "MATCH", "NOT", "ON", "OR", "RETURN",
     "THEN", "UNION", "UNWIND", "WHEN", "WHERE", "WITH", "XOR", "LIMIT", "SKIP", "WITH")
)  # fmt: skip
_CLAUSES = frozenset(
    ("MATCH", "OPTIONAL", "WHERE", "WITH", "RETURN", "UNWIND", "UNION", "ORDER", "SKIP", "LIMIT")
)
_LABELS = frozenset(label.name for label in SCHEMA.labels)
_SCHEMA_NAMES = Names(
    _LABELS, frozenset(rel.type for rel in SCHEMA.relationships), frozenset(SCHEMA.properties())
)


def dialect(cypher: str, params: Mapping[str, Any] | None = None) -> str:
    """``cypher`` as LadybugDB must be asked; ``QueryError`` where it would answer something else.

    ``params`` are the values of its parameters.
    """
    _check_names(cypher)
    return safe(cypher, params or {})


def answered_alike(cypher: str, params: Mapping[str, Any]) -> str:
    """As :func:`dialect`, of a text that names nothing but what the schema has, each where it has it.

    ArcadeDB, which knows what a graph has, says what is wrong with the others, or answers null.
    """
    if remarks := check_names(cypher, _SCHEMA_NAMES, params):
        raise QueryError(remarks[0])
    return dialect(cypher, params)


def safe(cypher: str, params: Mapping[str, Any]) -> str:
    """As :func:`dialect`, of a graph with any labels and properties."""
    found = statement(cypher)
    _check_words(found)
    _check_brackets(found)
    check_values(cypher, found, params)
    for clause in clauses_of(found):
        if clause[0][1].upper() == "MATCH":
            _check_pattern(clause)
        elif _has_pattern(clause):
            raise refusal("patterns outside of MATCH", "write them as MATCH or OPTIONAL MATCH")
    _check_order(found)
    check_filtered_steps(list(clauses_of(found)))
    return _with_sums(cypher, found)


def _check_names(cypher: str) -> None:
    used = used_names(cypher)
    for name in (*used.labels, *used.either):
        if name not in _LABELS and name not in _SCHEMA_NAMES.types and second_label(name):
            raise QueryError(
                f"the engine 'ladybug' gives a node one label, and there is none called '{name}'; for a kind "
                f"of component write (c:Component {{label: '{name}'}}), {otherwise()}"
            )
    folded = {name.lower(): name for name in _SCHEMA_NAMES.properties}
    for _, name in used.properties:
        if name not in _SCHEMA_NAMES.properties and name.lower() in folded:
            check_names(cypher, _SCHEMA_NAMES, {})  # which says what was meant


def _check_words(found: list[Token]) -> None:
    for at, (kind, text, _) in enumerate(found):
        following = found[at + 1][1] if at + 1 < len(found) else ""
        previous = found[at - 1][1] if at else ""
        upper = text.upper()
        if kind != "word" or previous in (".", ":"):
            continue
        if upper == "CALL" or (upper in ("EXISTS", "COUNT", "COLLECT") and following == "{"):
            raise refusal("subqueries", "write them as OPTIONAL MATCH and WITH")
        if upper in ("CASE", "XOR"):
            raise refusal(f"some uses of {upper}", "return the values that it decides by")
        if upper == "UNION":
            raise refusal("some uses of UNION", "ask one part at a time")
        if following == "(" and upper not in _BEFORE_GROUP and upper not in _CLAUSES:
            if text.lower() not in _FUNCTIONS:
                raise refusal(f"some uses of {text}()", f"use {', '.join(sorted(_FUNCTIONS))} alone")
            if upper == "SIZE" and at + 2 < len(found) and found[at + 2][0] == "string":
                raise refusal("size() of some texts", "ask for lists only")


def _check_brackets(found: list[Token]) -> None:
    for at, (kind, text, _) in enumerate(found):
        if kind != "mark" or not at:
            continue
        before = found[at - 1]
        names = before[0] in ("word", "quoted", "param") and before[1].upper() not in (
            *_BEFORE_GROUP,
            *_CLAUSES,
        )
        if text == "[" and (names or before[1] in ")]"):
            raise refusal("places in lists, which it counts from 1", "UNWIND the list")
        if text == "[" and before[1] not in "-":
            raise refusal("some lists", "give the list as a parameter")
        if text == "{" and names and opened_before(found, at) < 0:
            raise refusal("map projections", "return the properties as columns")
        if text == "%" or text == "^" or (text == "=" and found[at + 1 : at + 2] and found[at + 1][1] == "~"):
            raise refusal(f"some uses of {'=~' if text == '=' else text}", "return the operands")


def clauses_of(found: list[Token]) -> Iterator[list[Token]]:
    """The tokens clause by clause, each with its first word."""
    clause: list[Token] = []
    for at, token in enumerate(found):
        if clause and is_clause(found, at, *_CLAUSES):
            yield clause
            clause = []
        clause.append(token)
    if clause:
        yield clause


def _check_pattern(clause: list[Token]) -> None:
    """Refuse patterns in which the engine would go over one relationship twice."""
    try:
        steps = [(number, step) for number, chain in enumerate(chains(clause)) for step in chain.steps]
    except UnreadPatternError:
        raise refusal("a pattern of this form", "write its conditions after WHERE") from None
    for _, step in steps:
        if step.is_long:
            raise refusal(
                "patterns of variable length, in which it repeats relationships",
                "write the steps one by one",
            )
        if not step.direction:
            raise refusal("relationships in both directions", "write them with an arrow")
    for at, (chain, step) in enumerate(steps):
        for other_chain, other in steps[at + 1 :]:
            apart = step.types and other.types and not step.types & other.types
            straight = len(steps) == 2 and chain == other_chain and step.direction == other.direction
            if not apart and not straight:
                raise refusal(
                    "relationships of one type in one MATCH, where it takes one for both",
                    "write a MATCH for each, and compare a property of the two",
                )


def _has_pattern(clause: list[Token]) -> bool:
    try:
        return any(chain.steps for chain in chains(clause))
    except UnreadPatternError:
        return True


def _check_order(found: list[Token]) -> None:
    """Refuse aggregates over rows that were ordered and cut, and names that are used anew."""
    cut = False
    ordered = any(text.upper() == "ORDER" for kind, text, _ in found if kind == "word")
    known: set[str] = set()
    optional = False
    for clause in clauses_of(found):
        word = clause[0][1].upper()
        texts = [token[1] for token in clause]
        if word in ("WITH", "RETURN"):
            aggregates = any(
                kind == "word" and text.lower() in _AGGREGATES and texts[at + 1 : at + 2] == ["("]
                for at, (kind, text, _) in enumerate(clause)
            )
            if cut and aggregates:
                raise refusal(
                    "an aggregate over rows that were cut by LIMIT or SKIP",
                    "return the rows, and add them up yourself",
                )
            again = [texts[at + 1] for at, text in enumerate(texts[:-1]) if text.upper() == "AS"]
            if ordered and (taken := [name for name in again if name in known]):
                raise refusal(
                    f"ORDER BY, where '{taken[0]}' means two things", "give the column another name"
                )
            known |= set(again)
            if word == "WITH":
                cut = False
        elif word in ("LIMIT", "SKIP"):
            cut = True
        elif word == "MATCH":
            if optional and "=" in texts and re.fullmatch(r"\w+", texts[1]) and texts[2:3] == ["="]:
                raise refusal("paths of an OPTIONAL MATCH", "name the nodes and relationships")
            own = {texts[at + 1] for at, text in enumerate(texts[:-1]) if text in ("(", "[")}
            if (
                paths := {texts[at - 1] for at, text in enumerate(texts) if texts[at : at + 2] == ["=", "("]}
                & own
            ):
                raise refusal(f"'{paths.pop()}' as a path and a part of it", "give the path another name")
            known |= own
        optional = word == "OPTIONAL"


def _with_sums(cypher: str, found: list[Token]) -> str:
    """The text with the sum of nothing as 0, which the engine makes null."""
    edits: list[tuple[int, int, str]] = []
    with suppress(UnreadPatternError):  # a bracket that is not closed, which the engine refuses
        for at, (kind, text, place) in enumerate(found):
            if kind == "word" and text.lower() == "sum" and text_at(found, at + 1) == "(":
                end = found[closing(found, at + 1)][2] + 1
                edits += [(place, place, "coalesce("), (end, end, ", 0)")]
    return edited(cypher, edits)
