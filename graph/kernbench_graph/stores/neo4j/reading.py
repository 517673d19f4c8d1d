"""Queries that only read, as the server's own plan of them says.

A query is planned before it is run (``EXPLAIN``): the server must call it a reading one, and every operator
of the plan must be known to read. Then it is run in a session that cannot write. A plan that was asked for,
with ``EXPLAIN`` or ``PROFILE`` before the query, comes back as rows.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from kernbench_graph.errors import ReadOnlyError, UnknownNameError
from kernbench_graph.query.guard import check_read_only, words
from kernbench_graph.query.names import closest
from kernbench_graph.query.plans import EXPLAIN, asked_for_plan
from kernbench_graph.result import Result
from kernbench_graph.schema import SCHEMA
from kernbench_graph.stores.neo4j.entities import convert
from kernbench_graph.stores.neo4j.server import Neo4jServer, Transaction

_READS = re.compile(
    r"""\w*Scan | \w*Seek(ByRange)? | (Optional|VarLength|Pruning)*Expand | (Bidirectional)?Repeat
      | (Stateful)?ShortestPaths? | \w*HashJoin
      | (Let|Select|Or|Anti|Semi)*Apply | RollUpApply | Argument(Tracker)? | CartesianProduct | Filter | Anti
      | CacheProperties | Projection | Unwind | (Ordered)?Union | (Ordered)?Distinct | Eager
      | (Eager|Ordered)?Aggregation | (Exhaustive)?Limit | Skip | (Partial)?(Sort|Top) | Optional
      | ProduceResults? | EmptyRow | EmptyResult | \w+FromCountStore | Triadic\w+
      | AssertSame(Node|Relationship) | RemoteBatchProperties(WithFilter)? | PathPropagatingBFS
    """,
    re.VERBOSE,
)
"""Operators that read, without what follows in brackets. Others, also those of later servers, are refused."""
_TOUCHES = re.compile(r"Scan|Seek|FromCountStore")
_ANYTHING = re.compile(r"\(\w*\)<?-(\[\w*(\*[\d.]*)?\])?->?\(")
"""An expansion, in the details of a plan, along relationships of any type."""
_UNKNOWN = ("UnknownLabel", "UnknownRelationshipType", "UnknownPropertyKey")
_KNOWN = frozenset((*SCHEMA.names, *SCHEMA.properties()))
"""Names of the schema: a database that has none of them yet is not an error."""


@dataclass(frozen=True, slots=True)
class Planned:
    """A query that only reads."""

    text: str
    """Without ``EXPLAIN`` or ``PROFILE``."""
    plan: Mapping[str, Any]
    shown: str = ""
    """``EXPLAIN`` or ``PROFILE`` where the plan is what was asked for."""
    names: frozenset[str] = field(default_factory=frozenset)
    """All names and keywords in it."""
    proved: bool = False
    """Whether it is a shipped text, whose names are right also where no part of the machine has them."""

    @property
    def reads_graph(self) -> bool:
        """Whether it looks for nodes or relationships at all."""
        return any(_TOUCHES.search(name) for name, _ in _operators(self.plan))

    @property
    def follows_anything(self) -> bool:
        """Whether it follows relationships without saying which.

        What is returned has relationships without their types, also where they were followed by type.
        """
        return any(
            _ANYTHING.search(str(of.get("args", {}).get("Details", "")))
            for name, of in _operators(self.plan)
            if not name.startswith(("Projection", "ProduceResults"))
        )


def split(cypher: str) -> tuple[str, str]:
    """The word that asks for a plan, empty when none does, and the query, which the lexer finds to read only.

    >>> split("explain MATCH (r:Run) RETURN r.id AS id;")
    ('EXPLAIN', 'MATCH (r:Run) RETURN r.id AS id')
    """
    word, text = asked_for_plan(cypher)
    return word, check_read_only(text)


def plan_query(
    server: Neo4jServer, shown: str, text: str, values: Mapping[str, Any], timeout_s: float, proved: bool
) -> Planned:
    """The query with its plan; ``ReadOnlyError`` when the plan does more than read."""

    def work(tx: Transaction) -> Any:
        return tx.run(f"EXPLAIN {text}", dict(values)).consume()

    summary = server.read(work, timeout_s)
    kind, plan = summary.query_type, summary.plan or {}
    doing = sorted({name for name, _ in _operators(plan) if not _READS.fullmatch(name)})
    if kind != "r" or doing or not plan:
        does = f"has {', '.join(doing)} in its plan" if doing else "writes"
        raise ReadOnlyError(
            f"queries only read, but this one {does}; ask for nodes, relationships and values only"
        )
    if not proved:
        _check_names(summary.notifications)
    return Planned(text, plan, shown, frozenset(words(text)), proved)


def rows(server: Neo4jServer, query: Planned, values: Mapping[str, Any], timeout_s: float) -> Result:
    """The answer to a planned query, or its plan."""
    if query.shown == EXPLAIN:
        return _plan_rows(query.plan, profiled=False)

    def work(tx: Transaction) -> tuple[Result, Any]:
        answer = tx.run(f"{query.shown} {query.text}".lstrip(), dict(values))
        columns = list(answer.keys())
        found = [record.values() for record in answer]
        summary = answer.consume()
        if summary.profile:
            return _plan_rows(summary.profile, profiled=True), summary.notifications
        return Result(columns, convert(found, tx)), summary.notifications

    result, notifications = server.read(work, timeout_s)
    if not query.proved:
        _check_names(notifications)
    return result


def _check_names(notifications: Any) -> None:
    """``UnknownNameError`` where the server says that the database has nothing of some name."""
    for entry in notifications or ():
        code, description = str(entry.get("code", "")), str(entry.get("description", ""))
        name = description.rpartition(": ")[2].rstrip(")")
        if any(part in code for part in _UNKNOWN) and name not in _KNOWN:
            found = closest(name, _KNOWN)
            meant = f"did you mean '{found}'?" if found else "see the schema"
            raise UnknownNameError(f"the query is not valid here: nothing is called '{name}'; {meant}")


def _operators(plan: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Every operator of a plan by its plain name, the one that is carried out last first."""
    if plan:
        yield re.split(r"[@(]", str(plan.get("operatorType", "")))[0].strip(), plan
        for child in plan.get("children") or ():
            yield from _operators(child)


def _plan_rows(plan: Mapping[str, Any], profiled: bool) -> Result:
    """A plan as rows, an operator each, the last one first; each takes its rows from those one deeper."""
    columns = ["depth", "operator", "details", "estimated_rows", *(["rows", "db_hits"] if profiled else [])]
    found: list[tuple[Any, ...]] = []

    def add(of: Mapping[str, Any], depth: int) -> None:
        args = of.get("args", {})
        more = (args.get("Rows"), args.get("DbHits")) if profiled else ()
        name = str(of.get("operatorType", "")).partition("@")[0]
        found.append((depth, name, args.get("Details", ""), args.get("EstimatedRows"), *more))
        for child in of.get("children") or ():
            add(child, depth + 1)

    add(plan, 0)
    return Result(columns, found)
