"""ArcadeDB's errors as those of stores: in one line, without lists of every word that might have come.

Errors in plans are such errors too.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from kernbench_graph.errors import QueryError, ReadOnlyError, StoreError
from kernbench_graph.query.plans import PROFILE
from kernbench_graph.stores.arcade.process import ArcadeError

_UNEXPECTED = re.compile(r"Unexpected input (.+) at line (\d+), column (\d+)")
_SYNTAX = re.compile(r"Syntax error at line (\d+):(\d+) - \D*?('.+?')(?=,? expect|$)")
_RULE = re.compile(r"^[A-Z]\w+[a-z]: (?=\w)")
"""The name of the rule that a query breaks, such as ``UndefinedVariable``."""
_NO_PLAN = re.compile(r"^\s*Execution plan not available: ([^\n]+)", re.MULTILINE)


def refuse_profile(word: str) -> None:
    """``QueryError`` when ``word`` asks for counts: the engine has them, but does not return them."""
    if word == PROFILE:
        raise QueryError(
            "the engine 'arcadedb' does not say what each step of a query did; write EXPLAIN for its plan, "
            "or PROFILE with --engine ladybug or on a Neo4j server"
        )


def plan_of(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """The text in the answer to ``EXPLAIN``; ``QueryError`` where it says that there is no such plan."""
    answer: dict[str, Any] = dict(zip(columns, rows[0], strict=True)) if rows else {}
    text = str(answer.get("executionPlanAsString") or "")
    if failed := _NO_PLAN.search(text):
        raise QueryError(f"the query is not valid here: {failed[1]}")
    return text


def translate(error: ArcadeError) -> StoreError:
    """The error of a query."""
    names = " ".join(name for name, _ in error.chain)
    lines = str(error).strip().splitlines()
    line = lines[0] if lines else names
    if "NotIdempotent" in names:
        return ReadOnlyError("queries only read; leave out what changes the graph")
    if "OutOfMemory" in names:
        return QueryError("the query needs more memory than there is; make it narrower")
    if found := _UNEXPECTED.match(line):
        return _syntax(found[1], found[2], found[3])
    if found := _SYNTAX.match(line):
        return _syntax(found[3], found[1], found[2])
    return QueryError(f"the query is not valid here: {_RULE.sub('', line)}")


def _syntax(what: str, line: str, column: str) -> QueryError:
    """Columns are counted from 0 by the engine, and from 1 here."""
    place = f"line {line}, column {int(column) + 1}"
    return QueryError(f"the query is not valid here: {what} is not expected ({place})")
