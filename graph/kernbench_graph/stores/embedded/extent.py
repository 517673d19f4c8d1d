"""How much of a run's graph the text of one question looks at: labels, types, and properties of these.

The first question about a run is asked of a database in memory that holds nothing else. To open one takes a
tenth of the time that a copy of the topology's graph takes, and half the cost of a row is in columns that
most questions do not look at.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

import pyarrow as pa

from kernbench_graph.query.guard import tokens
from kernbench_graph.schema import SCHEMA
from kernbench_graph.schema_types import NodeLabel, Property, Relationship
from kernbench_graph.stores.embedded.needs import CLAUSES, all_named

MOST_TOPOLOGY_ROWS = 60_000
"""Where a question looks at more of a topology, a copy of the topology's graph is there sooner."""

Token = tuple[str, str, int]
_BLANK: list[Token] = [("mark", "", 0)] * 9
"""Put after the tokens of a text, so that those around each can be looked at, also at its ends."""
_NAMES = ("word", "quoted")
_ASKING = ("WITH", "RETURN", "MATCH", "UNWIND", "WHERE", "ORDER", "LIMIT", "SKIP", "OPTIONAL", "UNION")
_SUBQUERIES = ("COUNT", "COLLECT", "CALL")
_PLAIN_FUNCTIONS = ("COUNT", "LENGTH", "TYPE", "LABELS", "ID")
"""Functions of a node, relationship or path that look at none of its properties."""


class Extent(NamedTuple):
    """A part of the schema: what there is of it, with the properties that are looked at alone."""

    labels: tuple[NodeLabel, ...]
    types: tuple[Relationship, ...]
    one_way: bool
    """Whether relationships are followed from their first end alone: two thirds of the work to store."""

    def topology_rows(self, tables: Mapping[str, pa.Table]) -> int:
        """How many nodes and relationships that is of a topology with these tables."""
        return sum(tables[name].num_rows for name in self._tables() if name in tables)

    def data_bytes(self, *records: Mapping[str, pa.Table]) -> int:
        """Size in memory, in bytes, of the tables of a run and of a topology that it is in."""
        names = set(self._tables())
        return sum(tables[name].nbytes for tables in records for name in names & tables.keys())

    def _tables(self) -> list[str]:
        names = [label.name for label in self.labels]
        return names + [rows.table for rel in self.types for rows in rel.rows]


@lru_cache(maxsize=128)
def extent(cypher: str) -> Extent | None:
    """The part that a text looks at; None where that is all, or properties of components of a kind.

    >>> asked = extent("MATCH (:Run {id: $run})-[:SENT]->(t:Transaction) RETURN t.kind AS kind, count(t)")
    >>> [(label.name, [prop.name for prop in label.properties]) for label in asked.labels]
    [('Run', ['id']), ('Transaction', ['number', 'kind'])]
    >>> extent("MATCH (n) RETURN n") is None
    True
    """
    found = [token for token in tokens(cypher) if token[1] != ";"]
    if not all_named(found):
        return None
    found += _BLANK
    words = {text.strip("`") for kind, text, _ in found if kind in _NAMES}
    types = tuple(_joining(rel, found) for rel in SCHEMA.relationships if rel.type in words)
    joined = {end for rel in types for pair in rel.pairs for end in pair}
    labels = tuple(label for label in SCHEMA.labels if label.name in words | joined)
    looked_at, one_way = _properties(found), _is_one_way(found)
    if looked_at is None:
        return None if any(label.name == "Component" for label in labels) else Extent(labels, types, one_way)
    by_id = _labels_by_id(found)

    def kept(label: NodeLabel) -> NodeLabel:
        names = looked_at if by_id is None or label.name in by_id else looked_at - {"id"}
        return replace(label, properties=_of(label.properties, names | {label.key}))

    wanted = Extent(
        tuple(map(kept, labels)),
        tuple(replace(rel, properties=_of(rel.properties, looked_at)) for rel in types),
        one_way,
    )
    properties = [*(label.properties for label in wanted.labels), *(rel.properties for rel in wanted.types)]
    there = {prop.name for some in properties for prop in some}
    # Else it may be a property that components of some kind have, or one that makes the text wrong.
    return wanted if looked_at - _variables(found) - _of_maps(found) <= there else None


def _of(properties: tuple[Property, ...], names: frozenset[str]) -> tuple[Property, ...]:
    return tuple(prop for prop in properties if prop.name in names)


def _joining(rel: Relationship, found: Sequence[Token]) -> Relationship:
    """The type with those of its ends that the text can mean: it may say each time what it leads to."""
    targets: set[str] = set()
    for at, token in _each(found):
        if token[0] not in _NAMES or token[1].strip("`") != rel.type:
            continue
        after = [text for _, text, _ in found[at + 1 : at + 9]]
        if found[at - 1][1] != ":" or after[:4] != ["]", "-", ">", "("]:
            return rel
        label = after[4:6] if after[4:5] == [":"] else after[5:7]
        if label[:1] != [":"] or after[after.index(":") + 2] not in (")", "{"):
            return rel
        targets.add(label[1].strip("`"))
    return replace(rel, rows=tuple(rows for rows in rel.rows if rows.target[0] in targets))


def _is_one_way(found: Sequence[Token]) -> bool:
    """Whether every relationship leads from left to right, and none is in an optional pattern or a subquery.

    Those may begin at either end, and a relationship that is stored one way is found from its other end by
    reading all.
    """
    for at, (kind, text, _) in _each(found):
        subquery = text.upper() == "EXISTS" or (found[at + 1][1] == "{" and text.upper() in _SUBQUERIES)
        if kind == "word" and (subquery or text.upper() == "OPTIONAL"):
            return False
        if text == "[" and found[at - 1][1] == "-":
            end = next(n for n in range(at, len(found)) if found[n][1] in ("]", ""))
            leads = found[end + 1][1] == "-" and found[end + 2][1] == ">"
            if found[at - 2][1] == "<" or not leads:
                return False
    return True


def _of_maps(found: Sequence[Token]) -> frozenset[str]:
    """Names that the text takes from what a parameter lists, and from nothing else."""
    listed = {
        found[at + 2][1]
        for at, (kind, _, _) in _each(found)
        if kind == "param" and found[at - 1][1].upper() == "UNWIND" and found[at + 1][1].upper() == "AS"
    }
    taken = [(found[at - 1][1], found[at + 1][1]) for at in range(1, len(found) - 1) if found[at][1] == "."]
    others = {name for of, name in taken if of not in listed}
    return frozenset(name for of, name in taken if of in listed) - others


def _properties(found: Sequence[Token]) -> frozenset[str] | None:
    """Every name that may be of a property in the text; None where it looks at a node or path as a whole."""
    variables = _variables(found)
    clause, depth = "", 0
    for at, (kind, text, _) in _each(found):
        if text == "*" and found[at - 1][1].upper() in ("RETURN", "WITH", "DISTINCT"):
            return None
        depth += (kind == "mark" and text in "([{") - (kind == "mark" and text in ")]}")
        if kind == "word" and not depth and text.upper() in _ASKING:
            clause = text.upper()
        name = kind in _NAMES and text.strip("`") in variables and found[at - 1][1] not in (".", ":")
        if name and not _in_pattern(found, at) and not _by_property(found, at, clause, depth):
            return None
    after_dot = {found[at + 1] for at in range(len(found) - 1) if found[at][1] == "."}
    before_colon = {found[at - 1] for at in range(1, len(found)) if found[at][1] == ":"}
    return frozenset(text.strip("`") for kind, text, _ in after_dot | before_colon if kind in _NAMES)


def _labels_by_id(found: Sequence[Token]) -> set[str] | None:
    """Labels of the nodes whose ids the text looks at; None where it does not say of which label one is."""
    labelled: dict[str, set[str]] = {}
    for at, (_, text, _) in _each(found):
        if _in_pattern(found, at):
            label = found[at + 2][1].strip("`") if found[at + 1][1] == ":" else ""
            alone = found[at + 3][1] in (")", "{") if label else False
            labelled.setdefault(text.strip("`"), set()).add(label if alone else "")
    found_in: set[str] = set()
    for at, (kind, text, _) in _each(found):
        if kind not in _NAMES or text.strip("`") != "id":
            continue
        before = [other for _, other, _ in found[max(at - 5, 0) : at]]
        if before[-1] == "." and before[-2].strip("`") in labelled:
            found_in |= labelled[before[-2].strip("`")]
        elif found[at + 1][1] == ":" and before[-3:-2] == [":"] and before[-1] == "{":
            found_in.add(before[-2].strip("`"))
        else:
            found_in.add("")
    return None if "" in found_in else found_in


def _variables(found: Sequence[Token]) -> set[str]:
    """Names of nodes, relationships and paths."""
    names = set()
    for at, (kind, text, _) in _each(found):
        if kind in _NAMES and (_in_pattern(found, at) or _is_path(found, at)):
            names.add(text.strip("`"))
    return names


def _is_path(found: Sequence[Token], at: int) -> bool:
    return found[at - 1][1].upper() in ("MATCH", ",") and found[at + 1][1] == "="


def _in_pattern(found: Sequence[Token], at: int) -> bool:
    """Whether the name at ``at`` is that of a node or relationship in a pattern, not in an expression."""
    opening, before, after = found[at - 1][1], found[at - 2], found[at + 1][1]
    if opening == "[":
        return before[1] == "-" and after in ("]", ":", "{", "*")
    if opening != "(" or (before[0] in _NAMES and before[1].upper() not in CLAUSES):
        return False
    if after == ")":
        return before[1].upper() in ("MATCH", "-", ">") or found[at + 2][1] in ("-", "<")
    if after == "{":
        end = next(n for n in range(at, len(found)) if found[n][1] in ("}", ""))
        return all(found[n][1] != "." or found[n - 1][0] in _NAMES for n in range(at + 2, end))
    return after == ":"


def _by_property(found: Sequence[Token], at: int, clause: str, depth: int) -> bool:
    """Whether the text takes a property of the name at ``at``, counts it, or hands it on as it is."""
    before, after = found[at - 1][1].upper(), found[at + 1]
    if after[1] == "." or _is_path(found, at):
        return True
    if after[1] == ")" and before in ("(", "DISTINCT"):
        opened = at - 1 if before == "(" else at - 2
        return found[opened][1] == "(" and found[opened - 1][1].upper() in _PLAIN_FUNCTIONS
    handed_on = before in ("WITH", ",", "DISTINCT") and (after[1] == "," or after[1].upper() in _ASKING)
    return handed_on and clause == "WITH" and not depth


def _each(found: Sequence[Token]) -> Iterator[tuple[int, Token]]:
    """The tokens of the text with their places."""
    return enumerate(found[: -len(_BLANK)])
