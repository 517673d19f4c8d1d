"""The patterns in a text: chains of nodes and relationships, with the clauses that they stand in."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from kernbench_graph.query.guard import Token

_NAMES = ("word", "quoted")
_BEFORE_PATTERN = frozenset(
    ("MATCH", "WHERE", "AND", "OR", "NOT", "XOR", "RETURN", "WITH", "BY", "EXISTS", "IN", "THEN", "ELSE",
     "WHEN", "CASE", "DISTINCT", "SHORTEST", "ALL", "ANY", "GROUP", "GROUPS", "PATHS", "PATH", "UNWIND",
     "CONTAINS", "RELATIONSHIPS", "ELEMENTS", "WALK", "TRAIL", "ACYCLIC", "SIMPLE")
)  # fmt: skip
"""Words after which a bracket may open a node, besides those of functions."""


class UnreadPatternError(ValueError):
    """A pattern is written in a way that is not known here."""


@dataclass
class PatternNode:
    """A node of a pattern."""

    variable: str
    """Empty for a node without a name."""
    labels: frozenset[str]
    """One or all of which it has; empty where it may have any."""
    properties: dict[str, str] = field(default_factory=dict)
    """By name, the parameter that each of them must equal, where it is one."""


@dataclass
class PatternStep:
    """A relationship of a pattern, or several of any number one after another."""

    types: frozenset[str]
    """Empty where it may have any."""
    direction: str
    """``>`` from left to right, ``<``, or empty for either."""
    is_long: bool
    variable: str = ""
    """Empty for a relationship without a name."""
    has_properties: bool = False
    """Whether its brackets say what properties it must have."""


@dataclass
class Chain:
    """Nodes, and the steps between each of them and the next; from one token of the text to another."""

    nodes: list[PatternNode]
    steps: list[PatternStep]
    start: int
    end: int


def chains(found: Sequence[Token]) -> Iterator[Chain]:
    """The patterns in a text, in order; ``UnreadPatternError`` where one is of a form that is not known here.

    >>> from kernbench_graph.query.guard import tokens
    >>> [chain] = chains(tokens("MATCH (r:Run {id: $run})-[:SENT*1..2]->(t) WHERE (t.bytes + 1) > 2"))
    >>> chain.nodes[0]
    Node(variable='r', labels=frozenset({'Run'}), properties={'id': 'run'})
    >>> chain.steps
    [Step(types=frozenset({'SENT'}), direction='>', is_long=True, variable='', has_properties=False)]
    """
    at = 0
    while at < len(found):
        if _opens_node(found, at):
            chain = _chain(found, at)
            yield chain
            at = chain.end
        else:
            at += 1


def _text(found: Sequence[Token], at: int) -> str:
    return found[at][1] if 0 <= at < len(found) else ""


def _opens_node(found: Sequence[Token], at: int) -> bool:
    """Whether the token is a bracket after which a node stands, or a variable on its own."""
    if _text(found, at) != "(" or found[at][0] != "mark":
        return False
    if at and found[at - 1][0] in _NAMES:
        word = found[at - 1][1]
        if found[at - 1][0] == "quoted" or word.upper() not in _BEFORE_PATTERN:
            return False
    first, second = _text(found, at + 1), _text(found, at + 2)
    if first in (")", ":", "{") or first.upper() in ("WHERE", "IS"):
        return True
    return found[at + 1][0] in _NAMES and (second in (")", ":", "{") or second.upper() in ("WHERE", "IS"))


def _chain(found: Sequence[Token], at: int) -> Chain:
    start = at
    node, at = _node(found, at)
    nodes, steps = [node], []
    while (step := _step(found, at)) is not None:
        steps.append(step[0])
        node, at = _node(found, step[1])
        nodes.append(node)
    return Chain(nodes, steps, start, at)


def _node(found: Sequence[Token], at: int) -> tuple[PatternNode, int]:
    """The node whose bracket opens at a place, and the place after it."""
    at += 1
    variable = ""
    if found[at][0] in _NAMES and found[at][1].upper() not in ("WHERE", "IS"):
        variable = found[at][1].strip("`")
        at += 1
    labels, at = _names(found, at)
    properties: dict[str, str] = {}
    if _text(found, at) == "{":
        end = _after_properties(found, at) - 1
        for place in range(at + 1, end):
            if _text(found, place) == ":" and found[place + 1][0] == "param":
                follows = _text(found, place + 2)
                if follows in (",", "}"):
                    properties[found[place - 1][1].strip("`")] = found[place + 1][1][1:].strip("`")
        at = end + 1
    if _text(found, at).upper() == "WHERE" or _text(found, at) != ")":
        raise UnreadPatternError(_text(found, at))
    return PatternNode(variable, labels, properties), at + 1


def _step(found: Sequence[Token], at: int) -> tuple[PatternStep, int] | None:
    """The relationship that begins at a place, and the place of the node after it; None where none does."""
    left = _text(found, at) == "<"
    at += left
    if _text(found, at) != "-":
        return None
    at += 1
    types: frozenset[str] = frozenset()
    is_long = has_properties = False
    variable = ""
    if _text(found, at) == "[":
        at += 1
        if found[at][0] in _NAMES and _text(found, at).upper() not in ("WHERE", "IS"):
            variable = found[at][1].strip("`")
            at += 1
        types, at = _names(found, at)
        if _text(found, at) == "*":
            is_long = True
            while _text(found, at) == "*" or _text(found, at) == "." or found[at][0] == "number":
                at += 1
        if has_properties := _text(found, at) == "{":
            at = _after_properties(found, at)
        if _text(found, at) != "]":
            raise UnreadPatternError(_text(found, at))
        at += 1
    if _text(found, at) != "-":
        return None
    at += 1
    right = _text(found, at) == ">"
    at += right
    if _text(found, at) in ("+", "*"):
        is_long, at = True, at + 1
    elif _text(found, at) == "{":
        is_long, at = True, _closing(found, at) + 1
    if not _opens_node(found, at):
        raise UnreadPatternError(_text(found, at))
    direction = "" if left == right else "<" if left else ">"
    return PatternStep(types, direction, is_long, variable, has_properties), at


def _names(found: Sequence[Token], at: int) -> tuple[frozenset[str], int]:
    """Read labels or types, which follow a colon; the set is empty if there is none."""
    if _text(found, at) != ":":
        return frozenset(), at
    names: set[str] = set()
    while _text(found, at) in (":", "&", "|"):
        at += 1
        if _text(found, at) == ":":
            at += 1
        if at >= len(found) or found[at][0] not in _NAMES:
            raise UnreadPatternError(_text(found, at))
        names.add(found[at][1].strip("`"))
        at += 1
    return frozenset(names), at


def _after_properties(found: Sequence[Token], at: int) -> int:
    """The place after the map of properties that opens at a place."""
    end = _closing(found, at)
    for place in range(at + 1, end):
        is_path = _text(found, place) == ")" and _text(found, place + 1) in ("-", "<")
        if is_path or _text(found, place) in ("[", "{"):
            raise UnreadPatternError("a pattern among properties")
    return end + 1


def _closing(found: Sequence[Token], at: int) -> int:
    """The place of the bracket that closes the one at a place."""
    depth = 0
    for place in range(at, len(found)):
        if found[place][0] == "mark":
            depth += (found[place][1] in "([{") - (found[place][1] in ")]}")
        if not depth:
            return place
    raise UnreadPatternError("")
