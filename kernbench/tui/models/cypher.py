"""Free Cypher: completion from the schema, and the answer as a table."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING

import kernbench as kb
from kernbench.draw.content import Column
from kernbench.tui.models.table import ShownTable

if TYPE_CHECKING:
    from kernbench.support.pgraph import GraphStore

EXAMPLE = """\
MATCH (r:Run {id: $run})-[:SENT]->(t:Transaction)
RETURN t.kind AS kind, count(t) AS transactions, max(t.wait_ns) AS worst_ns
ORDER BY worst_ns DESC"""
_WORDS = (
    "MATCH", "OPTIONAL MATCH", "WHERE", "RETURN", "WITH", "UNWIND", "ORDER BY", "LIMIT", "SKIP",
    "DISTINCT", "DESC", "AS", "AND", "OR", "NOT", "IN", "STARTS WITH", "CONTAINS", "IS NULL", "EXPLAIN",
    "count", "sum", "avg", "min", "max", "collect", "coalesce", "$run",
)  # fmt: skip
_NAME = re.compile(r"[\w$]*$")


def complete(text: str) -> tuple[int, list[str]]:
    """How many characters before the cursor belong to the word, and the words that it may become.

    ``text`` is everything before the cursor. After ``(:`` come labels, after ``[:`` relationship types, after
    a dot or in braces properties, elsewhere keywords and the variables that the text has.
    """
    found = _NAME.search(text)
    begun = found.group() if found else ""
    before = text[: len(text) - len(begun)]
    options = [word for word in _options(before) if word.lower().startswith(begun.lower()) and word != begun]
    return len(begun), options


def _options(before: str) -> Sequence[str]:
    labels, types, properties = _schema()
    if re.search(r"\[\s*\w*\s*:[\w|: ]*$", before):
        return types
    if re.search(r"\(\s*\w*\s*:[\w:|& ]*$", before):
        return labels
    if re.search(r"\w\.$", before) or re.search(r"\{[^}]*$", before):
        return properties
    own = re.findall(r"[(\[]\s*(\w+)", before) + re.findall(r"\bAS\s+(\w+)", before, re.IGNORECASE)
    return [*dict.fromkeys(own), *_WORDS]


@cache
def _schema() -> tuple[list[str], list[str], list[str]]:
    from kernbench.support.pgraph import SCHEMA

    labels, types = ([label.name for label in SCHEMA.labels], [rel.type for rel in SCHEMA.relationships])
    return sorted(labels), sorted(types), sorted(SCHEMA.properties())


def ask(store: GraphStore, text: str, run_id: str) -> tuple[ShownTable, list[str]]:
    """The rows of a query, and remarks; ``QueryError`` says where reading stopped. It may only read."""
    found = kb.ask_cypher(text, run_id or None, store)
    columns = [Column(name) for name in found.columns]
    return ShownTable.of_rows(found.rows, columns, "no rows"), list(found.notes)
