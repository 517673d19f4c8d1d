"""Answers about rows of DRAM, from the raw table and nothing else."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from kernbench_graph.records import RunRecord, TopologyRecord

from tests.conformance.oracle_columns import Oracle, Rows, first

COUNTS = ("hits", "misses", "conflicts")
TIMES = ("row_ns", "refresh_ns")


def found(run: RunRecord) -> list[dict[str, Any]]:
    return run.tables["RowUse"].to_pylist() if "RowUse" in run.tables else []


def row_hits(run: RunRecord, topology: TopologyRecord, params: Mapping[str, Any]) -> Rows:
    rows: Rows = []
    for row in found(run):
        if row["txn"] < 0:
            bursts = sum(row[name] for name in COUNTS)
            counts = [row[name] for name in COUNTS]
            share = row["hits"] / bursts if bursts else 0.0
            rows.append((row["resource"], *counts, share, row["refreshes"], row["row_ns"], row["refresh_ns"]))
    return first(rows, lambda row: (-row[3], -row[2], row[0]), params)


def row_waits(run: RunRecord, topology: TopologyRecord, params: Mapping[str, Any]) -> Rows:
    ops = {row["number"]: row for row in run.tables["Op"].to_pylist()}
    sent = {row["number"]: row for row in run.tables["Transaction"].to_pylist()}
    at: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in found(run):
        if row["txn"] >= 0:
            op = ops.get(sent[row["txn"]]["op"], {})
            at[op.get("source") or ops.get(op.get("parent"), {}).get("source") or ""].append(row)
    rows: Rows = [
        (
            line,
            len({row["txn"] for row in of}),
            *(sum(row[name] for row in of) for name in COUNTS),
            *(sum(round(row[name] * 1e6) for row in of) / 1e6 for name in TIMES),
        )
        for line, of in at.items()
    ]
    return first(rows, lambda row: (-(row[5] + row[6]), row[0]), params)


ROWS: dict[str, Oracle] = {"memory/row-hits": row_hits, "memory/row-waits": row_waits}
