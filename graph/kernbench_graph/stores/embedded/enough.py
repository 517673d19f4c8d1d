"""Rows that are enough for a question: hops at one resource or between two, waits in a window.

Most rows of a run are hops and waits. Uploads before a launch may wait ten times as often as the kernel does
then: a question about the launch needs the launch's waits alone.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import pyarrow as pa

from kernbench_graph.query.guard import tokens
from kernbench_graph.schema import SCHEMA


class _Condition(NamedTuple):
    """Words of a query by which it looks at some relationships of a type alone."""

    type: str
    column: str
    """Of the type's table in the archive."""
    projected: str
    """The same column of the relationships; see :class:`kernbench_graph.projection.Part`."""
    text: str
    """Pattern of it in the query's words; its groups ``param`` and ``other`` are parameters."""


_CONDITIONS = (
    _Condition(
        "HOP",
        "resource",
        "to",
        r"\( (?P<use>\w+) : Use \) < - \[ (?:\w+ )?: HOP \] - \( [^()]* \) "
        r"WHERE (?P=use) \. resource = \$(?P<param>\w+) (?:AND|WITH|RETURN) ",
    ),
    _Condition(
        "HOP",
        "txn",
        "from",
        r"^MATCH \( : Run { id : \$run } \) - \[ : USED \] - > \( : Use { resource : \$(?P<param>\w+) } \) "
        r"< - \[ : FROM \] - \( (?P<txn>\w+) : Transaction \) "
        r"- \[ : TO \] - > \( : Use { resource : \$(?P<other>\w+) } \) "
        r"(?:WHERE (?:(?!WITH |MATCH ).)*)?WITH (?P=txn) (?:(?!WITH |MATCH |AS |, ).)*"
        r"MATCH \( (?P=txn) \) - \[ \w+ : HOP \] - > ",
    ),
    _Condition(
        "WAITED_FOR",
        "t_from",
        "t_from",
        r"UNWIND \$(?P<param>\w+) AS (?P<span>\w+) (?:(?!AS (?P=span) ).)*"
        r"- \[ (?P<wait>\w+) : WAITED_FOR \] - > \( [^()]* \) "
        r"WHERE (?P=wait) \. t_from > = (?P=span) \. begin "
        r"AND (?P=wait) \. t_from < (?P=span) \. until (?:AND|MATCH|WITH|RETURN) ",
    ),
)


class Between(NamedTuple):
    """The transactions from one component to another."""

    src: str
    dst: str


Which = str | Between | tuple[tuple[float, float], ...]


class Enough(NamedTuple):
    """Relationships of a type: those at a resource, of some transactions, or within stretches of time."""

    type: str
    column: str
    """Of the type's table in the archive."""
    projected: str
    """The same column of the relationships."""
    which: Which

    def count(self, tables: Mapping[str, pa.Table]) -> int:
        """How many a run with these tables has."""
        import pyarrow.compute as pc

        data = tables.get(table_of(self.type))
        return 0 if data is None else int(pc.sum(self._are(data[self.column], tables)).as_py() or 0)

    def among(self, projected: pa.Table, tables: Mapping[str, pa.Table]) -> Any:
        """Which of the relationships of the type, of a run with these tables, they are; booleans in Arrow."""
        return self._are(projected[self.projected], tables)

    def _are(self, values: pa.ChunkedArray, tables: Mapping[str, pa.Table]) -> Any:
        import pyarrow.compute as pc

        if isinstance(self.which, str):
            return pc.equal(values, pa.scalar(self.which, pa.string()))
        if isinstance(self.which, Between):
            sent = tables["Transaction"]
            ends = pc.and_(pc.equal(sent["src"], self.which.src), pc.equal(sent["dst"], self.which.dst))
            return pc.is_in(values, sent["number"].filter(ends).combine_chunks())
        found = pc.is_null(values)  # none is
        for begin, until in self.which:
            found = pc.or_(found, pc.and_(pc.greater_equal(values, begin), pc.less(values, until)))
        return found


def table_of(type_: str) -> str:
    """The table of the archive that the relationships of a type come from."""
    return next(rel for rel in SCHEMA.relationships if rel.type == type_).rows[0].table


def enough_for(cypher: str, params: Mapping[str, Any]) -> tuple[Enough, ...]:
    """Types of which some relationships are enough for a query with these parameters.

    >>> hops = "MATCH (u:Use)<-[h:HOP]-(t:Transaction) WHERE u.resource = $at RETURN count(h) AS n"
    >>> enough_for(hops, {"at": "sip0.io"})
    (Enough(type='HOP', column='resource', projected='to', which='sip0.io'),)
    """
    found: list[Enough] = []
    for condition, names in _met(cypher):
        which = _which(condition.type, [params.get(name) for name in names])
        if which is not None:
            found.append(Enough(condition.type, condition.column, condition.projected, which))
    return tuple(found)


@lru_cache(maxsize=128)
def _met(cypher: str) -> tuple[tuple[_Condition, tuple[str, ...]], ...]:
    """Conditions that a query has, each with the parameters that decide.

    Nothing but the condition may decide on it: the type occurs once, and nothing in the text is an
    alternative.
    """
    words, text = _read(cypher)
    if not {"OR", "XOR"}.isdisjoint(words):
        return ()
    met = [
        (condition, re.search(condition.text, text))
        for condition in _CONDITIONS
        if words.count(condition.type) == 1
    ]
    return tuple(
        (condition, tuple(match[name] for name in ("param", "other") if name in match.re.groupindex))
        for condition, match in met
        if match
    )


def _read(cypher: str) -> tuple[list[str], str]:
    """The words of a query in capitals, and its text with single spaces and without the strings' contents."""
    found = [(kind, "''" if kind == "string" else text) for kind, text, _ in tokens(cypher)]
    words = [text.strip("`").upper() for kind, text in found if kind in ("word", "quoted")]
    return words, " ".join(text for _, text in found)


def _which(type_: str, values: Sequence[Any]) -> Which | None:
    """The relationships that the values of parameters choose; None where they are of another form."""
    if type_ == "HOP":
        if not all(isinstance(value, str) for value in values):
            return None
        return values[0] if len(values) == 1 else Between(*values)
    try:
        return tuple((float(span["begin"]), float(span["until"])) for span in values[0])
    except (TypeError, KeyError, ValueError):
        return None
