"""Relationships that are enough for a question: hops of one resource, waits that began within a window.

Most rows of a run are hops and waits. Uploads before a launch may wait ten times as often as the kernel does
then: a question about the launch needs the launch's waits alone.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, NamedTuple

import pyarrow as pa

from kernbench_graph.query.guard import tokens
from kernbench_graph.schema import SCHEMA


class _Condition(NamedTuple):
    """Words of a query by which it looks at some relationships of a type alone."""

    column: str
    """Of the type's table in the archive."""
    projected: str
    """The same column of the relationships; see :class:`kernbench_graph.projection.Part`."""
    text: str
    """Pattern of it in the query's words; names the parameter that decides."""


_CONDITIONS = {
    "HOP": _Condition(
        "resource",
        "to",
        r"\( (?P<use>\w+) : Use \) < - \[ (?:\w+ )?: HOP \] - \( [^()]* \) "
        r"WHERE (?P=use) \. resource = \$(?P<param>\w+) (?:AND|WITH|RETURN) ",
    ),
    "WAITED_FOR": _Condition(
        "t_from",
        "t_from",
        r"UNWIND \$(?P<param>\w+) AS (?P<span>\w+) (?:(?!AS (?P=span) ).)*"
        r"- \[ (?P<wait>\w+) : WAITED_FOR \] - > \( [^()]* \) "
        r"WHERE (?P=wait) \. t_from > = (?P=span) \. begin "
        r"AND (?P=wait) \. t_from < (?P=span) \. until (?:AND|MATCH|WITH|RETURN) ",
    ),
}


class Enough(NamedTuple):
    """Relationships of a type: those of a resource, or those that began within stretches of time."""

    type: str
    which: str | tuple[tuple[float, float], ...]

    def count(self, tables: Mapping[str, pa.Table]) -> int:
        """How many a run with these tables has."""
        import pyarrow.compute as pc

        data = tables.get(table_of(self.type))
        if data is None:
            return 0
        return int(pc.sum(self._are(data[_CONDITIONS[self.type].column])).as_py() or 0)

    def among(self, projected: pa.Table) -> Any:
        """Which of the relationships of the type these are; an Arrow array of booleans."""
        return self._are(projected[_CONDITIONS[self.type].projected])

    def _are(self, values: pa.ChunkedArray) -> Any:
        import pyarrow.compute as pc

        if isinstance(self.which, str):
            return pc.equal(values, pa.scalar(self.which, pa.string()))
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
    (Enough(type='HOP', which='sip0.io'),)
    """
    found = [(type_, _which(type_, params.get(param))) for type_, param in _conditions(cypher)]
    return tuple(Enough(type_, which) for type_, which in found if which is not None)


@lru_cache(maxsize=128)
def _conditions(cypher: str) -> tuple[tuple[str, str], ...]:
    """Types of which a query looks at some relationships alone, each with the parameter that says at which.

    Nothing but the condition may decide on it: the type occurs once, and nothing in the text is an
    alternative.
    """
    found = [(kind, "''" if kind == "string" else text) for kind, text, _ in tokens(cypher)]
    words = [text.strip("`").upper() for kind, text in found if kind in ("word", "quoted")]
    if not {"OR", "XOR"}.isdisjoint(words):
        return ()
    text = " ".join(text for _, text in found)
    met = [
        (type_, re.search(condition.text, text))
        for type_, condition in _CONDITIONS.items()
        if words.count(type_) == 1
    ]
    return tuple((type_, match["param"]) for type_, match in met if match)


def _which(type_: str, value: Any) -> str | tuple[tuple[float, float], ...] | None:
    """The relationships that a parameter's value chooses; None where it is of another form."""
    if type_ == "HOP":
        return value if isinstance(value, str) else None
    try:
        return tuple((float(span["begin"]), float(span["until"])) for span in value)
    except (TypeError, KeyError, ValueError):
        return None
