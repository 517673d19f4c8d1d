"""The patterns in a text: chains of nodes and relationships, with the clauses that they stand in."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from kernbench_graph.query.guard import Token

_NAMES = ("word", "quoted")
_BEFORE_PATTERN = frozenset(
    ("MATCH", "WHERE", "AND", "OR", "NOT", "XOR", "RETURN", "WITH", "BY", "EXISTS", "IN", "THEN", "ELSE",
     "WHEN", "CASE", "DISTINCT", "SHORTEST", "ALL", "ANY", "GROUP", "GROUPS", "PATHS", "PATH", "UNWIND",
     "CONTAINS", "RELATIONSHIPS", "ELEMENTS", "WALK", "TRAIL", "ACYCLIC", "SIMPLE")
)  # fmt: skip
"""Words after which a bracket may open a node, besides those of functions."""


SHORTEST = ("shortestpath", "allshortestpaths")
"""Functions whose argument is a pattern."""


SUBQUERIES = frozenset(("EXISTS", "COUNT", "COLLECT", "CALL"))
"""Words before the bracket of a subquery."""


class UnreadPatternError(ValueError):
    """A pattern has a form that is not supported here; the error says at which token."""


@dataclass(frozen=True)
class Place:
    """The tokens of a node or relationship: its brackets, and what is in them."""

    start: int
    end: int
    names: int = 0
    """Where the colon before its labels or types stands, or would."""
    after_names: int = 0
    where: int = 0
    """Where its WHERE stands; 0 where it has none."""
    unusual: int = 0
    """The first token of more than labels or types joined by one sort of mark, and plain properties; or 0."""
    properties: int = 0


NOWHERE = Place(0, 0)


@dataclass
class PatternNode:
    """A node of a pattern."""

    variable: str
    """Empty for a node without a name."""
    labels: frozenset[str]
    """One or all of which it has; empty where it may have any."""
    properties: dict[str, str] = field(default_factory=dict)
    """By name, the parameter that each of them must equal, where it is one."""
    texts: dict[str, str] = field(default_factory=dict, compare=False, repr=False)
    """By name, the text without escapes that each of them must equal, where it is one."""
    at: Place = field(default=NOWHERE, compare=False, repr=False)


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
    quantifier: int = 0
    """The token with which ``+``, ``*`` or ``{1,3}`` begins after its arrow; 0 where there is none."""
    at: Place = field(default=NOWHERE, compare=False, repr=False)


@dataclass
class Chain:
    """Nodes, and the steps between each of them and the next; from one token of the text to another."""

    nodes: list[PatternNode]
    steps: list[PatternStep]
    start: int
    end: int


@dataclass
class Part:
    """Patterns in brackets, with how often they follow each other: ``((a)-[:W]->(b)){1,3}``."""

    chains: list[Chain | Part]
    start: int
    end: int
    where: int
    """Where its WHERE stands; 0 where it has none."""


def chains(found: Sequence[Token]) -> Iterator[Chain]:
    """The patterns in a text, in order; ``UnreadPatternError`` where one is more than labels and properties.

    >>> from kernbench_graph.query.guard import tokens
    >>> [chain] = chains(tokens("MATCH (r:Run {id: $run})-[:SENT*1..2]->(t) WHERE (t.bytes + 1) > 2"))
    >>> chain.nodes[0]
    PatternNode(variable='r', labels=frozenset({'Run'}), properties={'id': 'run'})
    >>> chain.steps[0].types, chain.steps[0].direction, chain.steps[0].is_long
    (frozenset({'SENT'}), '>', True)
    """
    for chain in every_chain(found):
        for place in (entity.at for of in (chain.nodes, chain.steps) for entity in of):
            if place.unusual:
                raise UnreadPatternError(text_at(found, place.unusual))
        yield chain


def every_chain(found: Sequence[Token], at: int = 0, end: int | None = None) -> Iterator[Chain]:
    """As :func:`chains`, those with label expressions and conditions too, and those in their conditions."""
    while at < (len(found) if end is None else end):
        if opens_node(found, at):
            yield (chain := chain_from(found, at))
            for place in (entity.at for of in (chain.nodes, chain.steps) for entity in of):
                yield from every_chain(found, place.after_names, place.end) if place.names else ()
            at = chain.end
        else:
            at += 1


def text_at(found: Sequence[Token], at: int) -> str:
    """The text of a token; empty outside."""
    return found[at][1] if 0 <= at < len(found) else ""


def kind_at(found: Sequence[Token], at: int) -> str:
    """The kind of a token; empty outside."""
    return found[at][0] if 0 <= at < len(found) else ""


def opens_node(found: Sequence[Token], at: int) -> bool:
    """Whether the token is a bracket after which a node stands, or a variable on its own."""
    if text_at(found, at) != "(" or found[at][0] != "mark":
        return False
    if at and found[at - 1][0] in _NAMES:
        word = found[at - 1][1]
        if found[at - 1][0] == "quoted" or word.upper() not in _BEFORE_PATTERN:
            return False
    first, second, third = (text_at(found, at + n).upper() for n in (1, 2, 3))
    if first in (")", ":", "{", "WHERE", "IS"):
        return True
    is_type = second == "IS" and third not in ("NOT", "NULL", "TYPED", "NORMALIZED", ":")
    return kind_at(found, at + 1) in _NAMES and (second in (")", ":", "{", "WHERE") or is_type)


def path_from(found: Sequence[Token], at: int) -> Part:
    """The chains and bracketed parts that follow each other from a bracket on."""
    start = at
    parts: list[Chain | Part] = []
    while text_at(found, at) == "(":
        if opens_node(found, at):
            chain = chain_from(found, at)
            parts.append(chain)
            at = chain.end
            continue
        end = closing(found, at)
        inner_at = at + 1
        while found[inner_at][1] != "(" and inner_at < end:  # a path's name
            inner_at += 1
        inner = path_from(found, inner_at)
        where = inner.end if text_at(found, inner.end).upper() == "WHERE" else 0
        if not where and inner.end != end:
            raise UnreadPatternError(text_at(found, inner.end))
        at = _after_quantifier(found, end + 1)
        parts.append(Part(inner.chains, inner.start, end, where))
    return Part(parts, start, at, 0)


def chain_from(found: Sequence[Token], at: int) -> Chain:
    """The nodes and relationships that follow each other from a node's bracket on."""
    start = at
    node, at = _node(found, at)
    nodes, steps = [node], []
    while (step := _step(found, at)) is not None:
        steps.append(step[0])
        at = step[1]
        if not opens_node(found, at):
            raise UnreadPatternError(text_at(found, at))
        node, at = _node(found, at)
        nodes.append(node)
    return Chain(nodes, steps, start, at)


def _node(found: Sequence[Token], start: int) -> tuple[PatternNode, int]:
    """The node whose bracket opens at a place, and the place after it."""
    variable, at = _variable(found, start + 1)
    names_at = at
    labels, at, unusual = _names(found, at)
    place = Place(start, closing(found, start), names_at, at, 0, unusual)
    properties: dict[str, str] = {}
    texts: dict[str, str] = {}
    if text_at(found, at) == "{":
        end = closing(found, at)
        for before in commas_in(found, at):
            key, colon, value, after = (found[n] for n in range(before + 1, before + 5))
            if colon[1] == ":" and value[0] == "param" and after[1] in (",", "}"):
                properties[key[1].strip("`")] = value[1][1:].strip("`")
            elif colon[1] == ":" and value[0] == "string" and "\\" not in value[1] and after[1] in (",", "}"):
                texts[key[1].strip("`")] = value[1][1:-1]
        at, place = end + 1, _with_properties(found, place, at)
    return PatternNode(variable, labels, properties, texts, _with_where(found, place, at)), place.end + 1


def _step(found: Sequence[Token], at: int) -> tuple[PatternStep, int] | None:
    """The relationship that begins at a place, and the place of the node after it; None where none does."""
    left = text_at(found, at) == "<"
    at += left
    if text_at(found, at) != "-":
        return None
    at += 1
    types: frozenset[str] = frozenset()
    is_long = has_properties = False
    variable, place = "", Place(at, at)
    if text_at(found, at) == "[":
        start = at
        variable, at = _variable(found, at + 1)
        names_at = at
        types, at, unusual = _names(found, at)
        place = Place(start, closing(found, start), names_at, at, 0, unusual)
        if text_at(found, at) == "*":
            is_long = True
            while text_at(found, at) in ("*", ".") or kind_at(found, at) == "number":
                at += 1
        if has_properties := text_at(found, at) == "{":
            place = _with_properties(found, place, at)
            at = closing(found, at) + 1
        place = _with_where(found, place, at)
        at = place.end + 1
    if text_at(found, at) != "-":
        return None
    at += 1
    right = text_at(found, at) == ">"
    after = _after_quantifier(found, at + right)
    quantifier = at + right if after > at + right else 0
    is_long |= bool(quantifier)
    direction = "" if left == right else "<" if left else ">"
    return PatternStep(types, direction, is_long, variable, has_properties, quantifier, place), after


def _variable(found: Sequence[Token], at: int) -> tuple[str, int]:
    named = kind_at(found, at) in _NAMES and found[at][1].upper() not in ("WHERE", "IS")
    return (found[at][1].strip("`"), at + 1) if named else ("", at)


def _with_where(found: Sequence[Token], place: Place, at: int) -> Place:
    """The place of a node or relationship, of which all is read up to ``at``, with that of its WHERE."""
    if at == place.end:
        return place
    if text_at(found, at).upper() != "WHERE":
        raise UnreadPatternError(text_at(found, at))
    return replace(place, where=at, unusual=place.unusual or at)


def _with_properties(found: Sequence[Token], place: Place, at: int) -> Place:
    nested = [n for n in range(at + 1, closing(found, at)) if found[n][1] in ("[", "{")]
    return replace(place, unusual=place.unusual or min(nested, default=0), properties=at)


def _names(found: Sequence[Token], start: int) -> tuple[frozenset[str], int, int]:
    """Labels or types after a colon, none where it may have any; the place after them; what is unusual."""
    is_colon = text_at(found, start) == ":"
    if not is_colon and text_at(found, start).upper() != "IS":
        return frozenset(), start, 0
    names: set[str] = set()
    marks = [] if is_colon else [start]
    depth, is_wanted, at = 0, True, start + 1
    while at < len(found):
        kind, text, _ = found[at]
        if kind in _NAMES and is_wanted:
            names |= {text.strip("`")} if found[at - 1][1] != "!" else set()
            is_wanted = False
        elif kind == "mark" and text in ("!", "(") and is_wanted:
            marks.append(at)
            depth += text == "("
        elif text == "%" and is_wanted:
            marks.append(at)
            is_wanted = False
        elif text == ")" and depth and not is_wanted:
            depth -= 1
        elif kind == "mark" and text in (":", "&", "|") and (not is_wanted or found[at - 1][1] == "|"):
            is_wanted = True
        else:
            break
        at += 1
    if is_wanted or depth:
        raise UnreadPatternError(text_at(found, at))
    used = {found[n][1] for n in range(start, at)}
    # Of A&!B it is A that says what it is; anything may be !B, A|!B or !(A&B).
    is_open = "%" in used or ("!" in used and used & {"|", "("})
    return frozenset() if is_open else frozenset(names), at, min(marks, default=0)


def _after_quantifier(found: Sequence[Token], at: int) -> int:
    """The place after ``+``, ``*`` or ``{1,3}``, or the same place where there is none."""
    if text_at(found, at) in ("+", "*"):
        return at + 1
    return closing(found, at) + 1 if text_at(found, at) == "{" else at


def commas_in(found: Sequence[Token], at: int) -> Iterator[int]:
    """The token before each key of the map whose bracket opens at a place."""
    end = closing(found, at)
    places = (n for n in outer(found, at + 1, end - 3) if found[n][1] == ",")
    yield from itertools.chain([at] if end - at > 3 else [], places)


def outer(found: Sequence[Token], start: int, end: int) -> Iterator[int]:
    """The places from ``start`` on outside brackets, and of those that open one."""
    at = start
    while at < end:
        yield at
        kind, text, _ = found[at]
        at = closing(found, at) + 1 if kind == "mark" and text in "([{" else at + 1


def opened_before(found: Sequence[Token], at: int) -> int:
    """The place of the innermost round or square bracket that is open at a place; -1 where none is."""
    depth = 0
    for place in range(at - 1, -1, -1):
        depth += (found[place][1] in ")]") - (found[place][1] in "([")
        if depth < 0:
            return place
    return -1


def edited(cypher: str, edits: Iterable[tuple[int, int, str]]) -> str:
    """A text with other ones from each place to the next: start, end and new text."""
    for start, end, text in sorted(edits, reverse=True):
        cypher = cypher[:start] + text + cypher[end:]
    return cypher


def closing(found: Sequence[Token], at: int) -> int:
    """The place of the bracket that closes the one at a place."""
    depth = 0
    for place in range(at, len(found)):
        if found[place][0] == "mark":
            depth += (found[place][1] in "([{") - (found[place][1] in ")]}")
        if not depth:
            return place
    raise UnreadPatternError("")
