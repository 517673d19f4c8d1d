"""Labels and types that a question of the library looks at, and where some relationships are enough."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import pyarrow as pa

from kernbench_graph.archive.record import row_count
from kernbench_graph.query.guard import tokens
from kernbench_graph.schema import SCHEMA
from kernbench_graph.stores.embedded.enough import Enough, enough_for, table_of

_OF_RUNS = (
    frozenset(
        [label.name for label in SCHEMA.labels if label.record == "run"]
        + [rel.type for rel in SCHEMA.relationships]
    )
    - SCHEMA.computed_names()
)
CLAUSES = frozenset(("MATCH", "WHERE", "AND", "OR", "NOT", "XOR", "RETURN", "WITH", "BY"))
"""Words after which a bracket opens a pattern or an expression rather than the arguments of a function."""
_READ_FOR_COPIED = 10
"""Relationships are read and looked through in about so many times less time than they are copied."""


class Needs(NamedTuple):
    """Parts of a run's graph that have to be there before a query is asked."""

    names: frozenset[str]
    """Labels and types."""
    enough: tuple[Enough, ...] = ()
    """Relationships that are enough, of types that are not needed whole."""

    def rows(self, tables: Mapping[str, pa.Table]) -> float:
        """About how many rows of a run with these tables have to be copied."""
        whole = self.names - {some.type for some in self.enough}
        sources = [label.name for label in SCHEMA.labels if label.name in whole]
        sources += [rows.table for rel in SCHEMA.relationships if rel.type in whole for rows in rel.rows]
        counts = {table.name: 0 if table.computed else row_count(tables, table.name)
                  for table in SCHEMA.record_tables("run") if table.name in sources}  # fmt: skip
        found = float(sum(counts.get(name, 0) for name in sources))
        for some in self.enough:
            found += some.count(tables) + row_count(tables, table_of(some.type)) / _READ_FOR_COPIED
        return found


def needs(cypher: str, params: Mapping[str, Any]) -> Needs:
    """The parts that a query with these parameters looks at."""
    names = needed(cypher)
    return Needs(names, () if names == _OF_RUNS else enough_for(cypher, params))


@lru_cache(maxsize=128)
def needed(cypher: str) -> frozenset[str]:
    """Labels and types of a run that a query looks at; all, where it has a pattern that names none.

    >>> sorted(needed("MATCH (r:Run {id: $run})-[:LAUNCHED]->(l) RETURN count(l) AS n"))
    ['LAUNCHED', 'Launch', 'Run']
    >>> needed("MATCH (n) RETURN n") == needed("MATCH (:Run)-[x]->() RETURN x")
    True
    """
    found = [token for token in tokens(cypher) if token[1] != ";"]
    if not all_named(found):
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


def all_named(found: Sequence[tuple[str, str, int]]) -> bool:
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
            if before[0] == "word" and before[1].upper() not in CLAUSES:
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
