"""Labels and types that a question of the library looks at, and the one place whose hops it needs."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import pyarrow as pa

from kernbench_graph.archive.record import row_count
from kernbench_graph.query.guard import tokens
from kernbench_graph.schema import SCHEMA

_OF_RUNS = (
    frozenset(
        [label.name for label in SCHEMA.labels if label.record == "run"]
        + [rel.type for rel in SCHEMA.relationships]
    )
    - SCHEMA.computed_names()
)
_CLAUSES = frozenset(("MATCH", "WHERE", "AND", "OR", "NOT", "XOR", "RETURN", "WITH", "BY"))
_AT_ONE_PLACE = re.compile(
    r"\( (\w+) : Use \) < - \[ (?:\w+ )?: HOP \] - \( [^()]* \) "
    r"WHERE \1 \. resource = \$(\w+) (?:AND|WITH|RETURN) "
)
_READ_FOR_COPIED = 10
"""Hops are read and looked through in about so many times less time than the same hops are copied."""


class Needs(NamedTuple):
    """Parts of a run's graph that have to be there before a query is asked."""

    names: frozenset[str]
    """Labels and types."""
    place: str | None = None
    """The resource whose hops are enough; None where all are needed."""

    def rows(self, tables: Mapping[str, pa.Table]) -> float:
        """About how many rows of a run with these tables have to be copied."""
        sources = [label.name for label in SCHEMA.labels if label.name in self.names]
        sources += [rows.table for rel in SCHEMA.relationships if rel.type in self.names for rows in rel.rows]
        counts = {table.name: 0 if table.computed else row_count(tables, table.name)
                  for table in SCHEMA.record_tables("run") if table.name in sources}  # fmt: skip
        if self.place is not None and "Hop" in counts:
            return sum(counts.get(name, 0) for name in sources) - counts["Hop"] * (1 - 1 / _READ_FOR_COPIED)
        return sum(counts.get(name, 0) for name in sources)


def needs(cypher: str, params: Mapping[str, Any]) -> Needs:
    """The parts that a query with these parameters looks at.

    >>> hops = "MATCH (u:Use)<-[h:HOP]-(t:Transaction) WHERE u.resource = $at RETURN count(h) AS n"
    >>> needs(hops, {"at": "sip0.io"}).place
    'sip0.io'
    """
    place = params.get(_place(cypher))
    return Needs(needed(cypher), place if isinstance(place, str) else None)


@lru_cache(maxsize=128)
def needed(cypher: str) -> frozenset[str]:
    """Labels and types of a run that a query looks at; all, where it has a pattern that names none.

    >>> sorted(needed("MATCH (r:Run {id: $run})-[:LAUNCHED]->(l) RETURN count(l) AS n"))
    ['LAUNCHED', 'Launch', 'Run']
    >>> needed("MATCH (n) RETURN n") == needed("MATCH (:Run)-[x]->() RETURN x")
    True
    """
    found = [token for token in tokens(cypher) if token[1] != ";"]
    if not _all_named(found):
        return _OF_RUNS
    names = {text.strip("`") for kind, text, _ in found if kind in ("word", "quoted")} & _OF_RUNS
    ends = {
        end
        for rel in SCHEMA.relationships
        if rel.type in names
        for pair in rel.pairs
        for end in pair
        if end in _OF_RUNS
    }
    return frozenset(names | ends)


@lru_cache(maxsize=128)
def _place(cypher: str) -> str:
    """The parameter that names the only resource whose hops the query looks at; empty where there is none.

    Nothing but that condition may decide on it: hops occur once, and nothing in the text is an alternative.
    """
    found = [(kind, "''" if kind == "string" else text) for kind, text, _ in tokens(cypher)]
    words = [text.upper() for kind, text in found if kind in ("word", "quoted")]
    if words.count("HOP") != 1 or not {"OR", "XOR"}.isdisjoint(words) or needed(cypher) == _OF_RUNS:
        return ""
    match = _AT_ONE_PLACE.search(" ".join(text for _, text in found))
    return match[2] if match else ""


def _all_named(found: Sequence[tuple[str, str, int]]) -> bool:
    """Whether every relationship has a type, and every node a label or a relationship beside it."""
    text = [token[1] for token in found] + ["", "", ""]
    for at, (kind, mark, _) in enumerate(found):
        if kind != "mark":
            continue
        if mark == "[" and at and text[at - 1] == "-":
            end = text.index("]", at)
            if ":" not in text[at:end]:
                return False
        elif mark == "-" and text[at + 1] == "-":
            return False
        elif mark == "(":
            before = found[at - 1] if at else ("mark", ",", 0)
            if before[0] == "word" and before[1].upper() not in _CLAUSES:
                continue  # a function's
            if not {text[at + 1], text[at + 2]} & {")", "{"}:
                continue  # a node with a label, or an expression
            end = _closing(text, at)
            joined = before[1] in ("-", ">") or text[end + 1] in ("-", "<")
            if ":" not in text[at : at + 2] and not joined:
                return False
    return True


def _closing(text: Sequence[str], at: int) -> int:
    """The place of the bracket that closes the one at a place."""
    depth = 0
    for place in range(at, len(text)):
        depth += (text[place] == "(") - (text[place] == ")")
        if not depth:
            return place
    return len(text) - 2
