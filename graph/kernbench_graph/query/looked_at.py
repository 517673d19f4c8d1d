"""Labels and relationship types that a text looks at: what a graph must have before it is asked.

A text names most of them. Where a pattern leaves one open, the text may look at anything but what was added
to a run since it was kept (answers of analyses, annotations): else a question would change what others find.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from kernbench_graph.query.guard import Token, statement
from kernbench_graph.query.names import used_names
from kernbench_graph.schema import SCHEMA

ALL = frozenset(SCHEMA.names)
ADDED = SCHEMA.added_names()
"""Looked at only by texts that name some of it."""
_PROPERTIES = frozenset(SCHEMA.properties())
_BEFORE_PATTERN = frozenset(("MATCH", "WHERE", "AND", "OR", "NOT", "XOR", "RETURN", "WITH", "BY"))
"""Words after which a bracket opens a pattern or an expression rather than the arguments of a function."""
_BEFORE_LABEL = (":", "&", "|", "(")


@lru_cache(maxsize=128)
def looked_at(cypher: str) -> frozenset[str]:
    """Labels and types that a text names, with the labels at the ends of these types; all where one is open.

    All but those that were :data:`ADDED`, if it names none of them. Names that the schema does not have are
    those of components: of their kinds, or of properties of a kind.

    >>> sorted(looked_at("MATCH (r:Run {id: $run})-[:LAUNCHED]->(l) RETURN count(l) AS n"))
    ['LAUNCHED', 'Launch', 'Run']
    >>> looked_at("MATCH (n) RETURN n") == looked_at("MATCH (:Run)-[x]->() RETURN x") == ALL - ADDED
    True
    >>> looked_at("MATCH (w:Way)-[x]->() RETURN x") == ALL
    True
    >>> sorted(looked_at("MATCH (r:Router) RETURN r.row AS row"))
    ['Component']
    """
    found = statement(cypher)
    names = {text.strip("`") for kind, text, _ in found if kind in ("word", "quoted")} & ALL
    if _leaves_open(found):
        return ALL if names & ADDED else ALL - ADDED
    used = used_names(cypher)
    own = {*used.labels, *used.either} - ALL
    own |= {name for _, name in used.properties} - _PROPERTIES - used.keys
    return with_ends(names | {"Component"} if own else names)


def with_ends(names: set[str] | frozenset[str]) -> frozenset[str]:
    """``names`` of labels and types, with the labels at the ends of the types."""
    types = [rel for rel in SCHEMA.relationships if rel.type in names]
    return frozenset(names | {end for rel in types for pair in rel.pairs for end in pair})


def _leaves_open(found: Sequence[Token]) -> bool:
    """Whether a relationship has no type, or a node neither a label nor a relationship beside it."""
    text = [token[1] for token in found] + ["", "", ""]
    for at, (kind, mark, _) in enumerate(found):
        if kind != "mark":
            continue
        if mark in "!$" or (mark == "%" and at and text[at - 1] in _BEFORE_LABEL):
            return True  # label expressions that hold for labels which they do not name
        if mark == "[" and at and text[at - 1] == "-":
            if ":" not in _before_properties(text, at, "]"):
                return True
        elif mark == "-" and text[at + 1] == "-":
            return True
        elif mark == "(":
            before = found[at - 1] if at else ("mark", ",", 0)
            if before[0] == "word" and before[1].upper() not in _BEFORE_PATTERN:
                continue  # a function's
            inside = _before_properties(text, at, ")")
            if ":" in inside or len(inside) > 1:
                continue  # a node with a label, or an expression
            end = _closing(text, at)
            if before[1] not in ("-", ">") and text[end + 1] not in ("-", "<"):
                return True
    return False


def _before_properties(text: Sequence[str], at: int, closing: str) -> Sequence[str]:
    """What stands in the brackets that open at a place, before any properties or condition."""
    end = at + 1
    while text[end] not in (closing, "{", "") and text[end].upper() != "WHERE":
        end += 1
    return text[at + 1 : end]


def _closing(text: Sequence[str], at: int) -> int:
    """The place of the bracket that closes the one at a place."""
    depth = 0
    for place in range(at, len(text)):
        depth += (text[place] == "(") - (text[place] == ")")
        if not depth:
            return place
    return len(text) - 2
