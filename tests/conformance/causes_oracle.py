"""Answers to questions about everything behind an operation or a transaction, by walking the raw columns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kernbench_graph.records import RunRecord, TopologyRecord

from tests.conformance.oracle_columns import Oracle, Rows, first

Event = tuple[str, int]
"""``operation`` or ``transaction``, and its number."""
MOST_STEPS = 30


def behind_operation(run: RunRecord, topology: TopologyRecord, params: Mapping[str, Any]) -> Rows:
    return _behind(run, ("operation", params["op"]), params)


def behind_transaction(run: RunRecord, topology: TopologyRecord, params: Mapping[str, Any]) -> Rows:
    return _behind(run, ("transaction", params["transaction"]), params)


def common_cause(run: RunRecord, topology: TopologyRecord, params: Mapping[str, Any]) -> Rows:
    events = _events(run)
    late = [("operation", params[name]) for name in ("op", "other")]
    if not all(event in events for event in late):
        return []
    near, far = (_steps(run, event, params["steps"]) for event in late)
    rows: Rows = [
        (near[event], far[event], near[event] + far[event], *event, *events[event])
        for event in near.keys() & far.keys()
    ]
    return first(rows, lambda row: (row[2], row[0], *row[3:5]), params)


def _behind(run: RunRecord, late: Event, params: Mapping[str, Any]) -> Rows:
    events = _events(run)
    if late not in events:
        return []
    steps = _steps(run, late, params["steps"])
    rows: Rows = [(step, *event, *events[event]) for event, step in steps.items()]
    return first(rows, lambda row: row[:3], params)


def _events(run: RunRecord) -> dict[Event, tuple[Any, ...]]:
    """Kind, location, begin, end and source of each operation and transaction."""
    events: dict[Event, tuple[Any, ...]] = {}
    for row in run.tables["Op"].to_pylist():
        values = (row["kind"], row["component"], row["t_start"], row["t_end"], row.get("source", ""))
        events["operation", row["number"]] = values
    for row in run.tables["Transaction"].to_pylist():
        values = (row["kind"], row["src"], row["t_submit"], row["t_done"], "")
        events["transaction", row["number"]] = values
    return events


def _steps(run: RunRecord, late: Event, most: int) -> dict[Event, int]:
    """Fewest steps to each event behind ``late``, by going outwards one step at a time."""
    sent = run.tables["Transaction"].to_pylist()
    edges: dict[Event, set[Event]] = {}
    for table, effect, what, cause, whose in (
        ("DependsOn", "op", "operation", "on", "operation"),
        ("Awaited", "op", "operation", "txn", "transaction"),
        ("WaitedFor", "txn", "transaction", "holder", "transaction"),
    ):
        for row in run.tables[table].to_pylist():
            edges.setdefault((what, row[effect]), set()).add((whose, row[cause]))
    for row in sent:
        for column, whose in (("caused_by", "transaction"), ("op", "operation")):
            if row[column] >= 0:
                edges.setdefault(("transaction", row["number"]), set()).add((whose, row[column]))
    step, here = {late: 0}, {late}
    for number in range(1, min(most, MOST_STEPS) + 1):
        here = {cause for event in here for cause in edges.get(event, ())} - step.keys()
        step |= dict.fromkeys(here, number)
    del step[late]
    return step


CAUSES: dict[str, Oracle] = {
    "causes/behind-operation": behind_operation,
    "causes/behind-transaction": behind_transaction,
    "causes/common-cause": common_cause,
}
