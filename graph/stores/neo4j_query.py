"""Asking Cypher of one graph in a Neo4j database, and of no other."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from graph.schema import SCHEMA
from graph.store import QueryError, Result
from graph.stores.neo4j_scope import KNOWN, Scope, confine
from graph.stores.neo4j_server import Server, Transaction, plain
from graph.stores.run_parts import HISTORY_LABELS, HISTORY_TYPES

_UNKNOWN = ("UnknownLabel", "UnknownRelationshipType", "UnknownPropertyKey")


def query(server: Server, text: str, bound: Mapping[str, Any], scope: Scope, timeout_s: float) -> Result:
    """Rows of a query that sees the graph ``scope`` only."""
    confined = confine(text, scope)
    if scope.number < 0:
        known = {label.name for label in SCHEMA.labels}
        strangers = sorted((confined.labels & known) - set(HISTORY_LABELS))
        if strangers:
            raise QueryError(
                f"the query asks for {strangers[0]}, but the graph over all runs has "
                f"{', '.join((*HISTORY_LABELS, *HISTORY_TYPES))}; name a run for the rest"
            )

    def work(tx: Transaction) -> tuple[Result, list[Any]]:
        answer = tx.run(confined.text, dict(bound))
        columns = list(answer.keys())
        rows = [tuple(plain(value) for value in record.values()) for record in answer]
        return Result(columns, rows), list(answer.consume().notifications or [])

    result, notifications = server.read(work, timeout_s)
    for entry in notifications:
        code, description = str(entry.get("code", "")), str(entry.get("description", ""))
        name = description.rpartition(": ")[2].rstrip(")")
        if any(part in code for part in _UNKNOWN) and name not in KNOWN and not name.startswith("In"):
            raise QueryError(f"the query is not valid here: nothing is called '{name}'; see the schema")
    return result
