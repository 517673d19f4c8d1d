"""The labels, relationship types and properties that a query names, held against those that a graph has.

An engine without a fixed schema answers a misspelt name with no rows, or with null. Here it is an error that
says what may have been meant.
"""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from kernbench_graph.errors import QueryError, UnknownNameError
from kernbench_graph.query.guard import Token, statement, tokens
from kernbench_graph.query.patterns import (
    SUBQUERIES,
    PatternNode,
    PatternStep,
    UnreadPatternError,
    commas_in,
    every_chain,
    text_at,
)
from kernbench_graph.schema import SCHEMA

_NAMES = ("word", "quoted")
_DATES = frozenset(("date", "datetime", "duration", "localdatetime", "localtime", "time"))


@dataclass(frozen=True, slots=True)
class Names:
    """Names that a graph has."""

    labels: frozenset[str]
    types: frozenset[str]
    properties: frozenset[str]

    def __or__(self, other: Names) -> Names:
        return Names(self.labels | other.labels, self.types | other.types, self.properties | other.properties)

    def as_json(self) -> dict[str, list[str]]:
        """As JSON can hold it."""
        return {
            "labels": sorted(self.labels),
            "types": sorted(self.types),
            "properties": sorted(self.properties),
        }

    @classmethod
    def of_json(cls, value: Mapping[str, list[str]]) -> Names:
        """From the result of :meth:`as_json`."""
        return cls(*(frozenset(value[key]) for key in ("labels", "types", "properties")))


@dataclass
class Used:
    """Names that a query uses."""

    labels: list[str] = field(default_factory=list)
    types: list[str] = field(default_factory=list)
    either: list[str] = field(default_factory=list)
    """Labels or types, as ``WHERE x:Name`` has them."""
    properties: list[tuple[str, str]] = field(default_factory=list)
    """Each with the variable that it is taken from; empty where that is not a plain variable."""
    keys: set[str] = field(default_factory=set)
    """Of maps in the text."""
    bound: dict[str, set[str]] = field(default_factory=dict)
    """Labels and types by the variables of patterns."""
    renamed: set[str] = field(default_factory=set)
    """Variables that something else is called by, too."""


def used_names(cypher: str) -> Used:
    """The names in the text of a query."""
    used = Used()
    found = statement(cypher)
    read = _patterns(used, found)
    opened: list[int] = []
    for at, (kind, text, _) in enumerate(found):
        before, after = found[at - 1] if at else ("", "", 0), found[at + 1 : at + 2] or [("", "", 0)]
        if kind == "mark" and text in "([{":
            opened.append(at)
        elif kind == "mark" and text in ")]}":
            del opened[-1:]
        elif text == ":" and kind == "mark" and at not in read:
            inner = opened[-1] if opened else -1
            if text_at(found, at - 2) in ("{", ",") and _is_map(found, inner):
                used.keys.add(before[1].strip("`'\""))
            else:  # in a comprehension, | ends the names
                used.either += _expression(found, at + 1, "&" if text_at(found, inner) == "[" else "&|")
        elif text == "." and kind == "mark" and after[0][0] in _NAMES:
            _dot(used, found, at)
        elif kind == "word" and text.upper() in ("AS", "IN") and before[0] in _NAMES:
            used.renamed.add((after[0] if text.upper() == "AS" else before)[1].strip("`"))
    return used


def refuse_dates(cypher: str) -> None:
    """``QueryError`` for functions of dates, on which the stores differ, and which nothing here needs."""
    found = tokens(cypher)
    for at, (kind, text, _) in enumerate(found[:-1]):
        before = found[at - 1][1] if at else ""
        if (
            kind == "word"
            and text.lower() in _DATES
            and before not in (".", ":")
            and found[at + 1][1] in "(."
        ):
            called = found[at + 1][1] == "(" or _is_function(list(found), at + 1)
            if called:
                raise QueryError(
                    f"{text}() is refused, for stores differ on dates; times here are numbers of ns, and "
                    "started_at is text such as '2026-01-31T08:00:00.000+00:00', which compares as it is"
                )


def check_names(cypher: str, graph: Names, params: Mapping[str, Any]) -> list[str]:
    """Remarks on properties that a label lacks; ``UnknownNameError`` for what nothing in the graph has."""
    refuse_dates(cypher)
    used = used_names(cypher)
    for kind, names, known in (
        ("label", used.labels, graph.labels),
        ("relationship type", used.types, graph.types),
        ("label or relationship type", used.either, graph.labels | graph.types),
    ):
        for name in names:
            if name not in known:
                raise UnknownNameError(f"there is no {kind} '{name}' in this graph{_meant(name, known)}")
    own = used.keys | set(_keys(params.values()))
    remarks = []
    for variable, name in used.properties:
        if name in own:
            continue
        if name not in graph.properties:
            raise UnknownNameError(
                f"nothing in this graph has a property '{name}'{_meant(name, _of(used, variable, graph))}"
            )
        if remark := _lacking(used, variable, name):
            remarks.append(remark)
    return list(dict.fromkeys(remarks))


def _patterns(used: Used, found: list[Token]) -> set[int]:
    """Note the names in patterns; return the places of what is read, which is up to one of unknown form."""
    read: set[int] = set()
    with suppress(UnreadPatternError):
        for chain in every_chain(found):
            entities: list[tuple[PatternNode | PatternStep, list[str]]] = []
            entities += [(node, used.labels) for node in chain.nodes]
            entities += [(step, used.types) for step in chain.steps]
            for one, names in entities:
                place = one.at
                told = [text.strip("`") for kind, text, _ in found[place.names + 1 : place.after_names]
                        if kind in _NAMES]  # fmt: skip
                names += told
                read.update(range(place.names, place.after_names))
                if one.variable:
                    used.bound.setdefault(one.variable, set()).update(told)
                for comma in commas_in(found, place.properties) if place.properties else ():
                    used.properties.append((one.variable, found[comma + 1][1].strip("`")))
                    read.add(comma + 2)
    return read


def _is_map(found: list[Token], at: int) -> bool:
    """Whether the bracket at a place is that of a map, or of properties; not of a subquery."""
    before = text_at(found, at - 1).upper()
    return text_at(found, at) == "{" and before not in SUBQUERIES and before != ")"


def _expression(found: list[Token], at: int, joined_by: str) -> Iterator[str]:
    """The names of a label expression that begins at ``at``; in a comprehension, ``|`` ends it."""
    wanted = True
    while at < len(found):
        kind, text, _ = found[at]
        if wanted and kind in _NAMES:
            yield text.strip("`")
            wanted = False
        elif not wanted and text in joined_by:
            wanted = True
        elif not (wanted and text in ("!", "(", ":", "%")):
            return
        at += 1


def _dot(used: Used, found: list[Token], at: int) -> None:
    before = found[at - 1] if at else ("", "", 0)
    name = found[at + 1][1].strip("`")
    if before[1] in ("{", ","):  # n {.name, .kind}
        used.properties.append(("", name))
        return
    follows = found[at + 2][1] if at + 2 < len(found) else ""
    function = follows == "(" or (follows == "." and _is_function(found, at + 2))
    if function or (before[0] not in _NAMES and before[1] not in (")", "]", "}")):
        return
    plain = before[0] in _NAMES and (at < 2 or found[at - 2][1] != ".")
    used.properties.append((before[1].strip("`") if plain else "", name))


def _is_function(found: list[Token], at: int) -> bool:
    """Whether the names joined by dots that go on at ``at`` end in a bracket."""
    while at + 1 < len(found) and found[at][1] == "." and found[at + 1][0] in _NAMES:
        at += 2
    return at < len(found) and found[at][1] == "("


def _keys(values: Iterable[Any]) -> Iterator[str]:
    for value in values:
        if isinstance(value, Mapping):
            yield from map(str, value)
            yield from _keys(value.values())
        elif isinstance(value, list | tuple):
            yield from _keys(value)


_LABELS = {label.name: frozenset(prop.name for prop in label.properties) for label in SCHEMA.labels}
_TYPES = {rel.type: frozenset(prop.name for prop in rel.properties) for rel in SCHEMA.relationships}
_OWN = _LABELS | _TYPES
_OPEN = frozenset(label.name for label in SCHEMA.labels if label.own)
"""Labels whose nodes have further properties."""


def _lacking(used: Used, variable: str, name: str) -> str:
    """A remark where none of the labels or types that the variable is bound to has the property."""
    labels = used.bound.get(variable, set())
    if not labels or variable in used.renamed or not labels <= _OWN.keys() or labels & _OPEN:
        return ""
    known = frozenset().union(*(_OWN[label] for label in labels))
    if name in known:
        return ""
    return f"no {' or '.join(sorted(labels))} has a property '{name}', so it is null{_meant(name, known)}"


def _of(used: Used, variable: str, graph: Names) -> Collection[str]:
    """Properties of what the variable is bound to, or else all."""
    labels = used.bound.get(variable, set()) & _OWN.keys()
    return frozenset().union(*(_OWN[label] for label in labels)) or graph.properties


def closest(name: str, known: Collection[str]) -> str:
    """The one of ``known`` names that is spelt much like ``name``, or begins as it; empty where none does."""
    folded = {candidate.lower(): candidate for candidate in sorted(known)}
    close = difflib.get_close_matches(name.lower(), folded, n=1, cutoff=0.6)
    within = [text for low, text in folded.items() if len(name) > 2 and low.startswith(name.lower())]
    return next(iter([folded[text] for text in close] or within), "")


def _meant(name: str, known: Collection[str]) -> str:
    found = closest(name, known)
    return f"; did you mean '{found}'?" if found else f"; there are {', '.join(sorted(known))}"
